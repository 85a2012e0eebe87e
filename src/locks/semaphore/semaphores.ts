import type { AcquirePath } from '../../diagnostics.ts'
import {
  ClosedError,
  RedisRefusedError,
  RedisUnavailableError,
  refusalPasses,
} from '../../errors.ts'
import { within } from '../../kit/within.ts'
import type { Hold } from '../../lease/hold.ts'
import { closedError, closingError } from '../../local/closed-errors.ts'
import type { HeldEntry } from '../../local/holdings.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { RacingWaiter } from '../../local/racing-waiter.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import type { Addition, RemoteSemaphore, SemaphoreServer } from '../../servers/semaphore-server.ts'
import type { AcquireRequest } from '../../waiting/waiter.ts'
import { PermitKinds } from './permit-kinds.ts'
import { OF_SEMAPHORE, outcomeWords, permitsWere } from './semaphore-words.ts'

interface NamedSemaphore {
  readonly name: string
  readonly rawName: string
  readonly remote: RemoteSemaphore
}

/** All semaphores of one client whose permits have no leases. */
export class Semaphores {
  readonly locks: LocalLocks
  readonly server: SemaphoreServer
  readonly kinds: PermitKinds<true, AcquireRequest>
  readonly #inUse = new Set<() => Promise<unknown>>()
  /** The permits of work in `using()`, until they are released. */
  readonly #held = new Set<{ name: string; permits: number; beganAt: number }>()
  readonly #adding = new Set<Promise<unknown>>()
  #isDraining = false
  /** Resolves the promise of `drain()`. Undefined until a `drain()` waits. */
  #unused: (() => void) | undefined
  #closed = false

  constructor(locks: LocalLocks, server: SemaphoreServer) {
    this.locks = locks
    this.server = server
    this.kinds = new PermitKinds(locks, {
      name: 'semaphore',
      setBy: 'trySetPermits(n) or addPermits(n) gives it permits.',
      pool: (rawName) => server.semaphore(rawName),
      ownerId: (id, permits) => server.ownerId(id, permits),
      newWaiter: (lock, request) => new PlainPermitWaiter(lock, request),
    })
  }

  /**
   * Releases permits, no matter which client acquired these permits. Rejects if Redis does not confirm the release. The
   * client then retries in the background, but not after a permanent refusal or after `close()`.
   */
  add(semaphore: NamedSemaphore, permits: number, ifExists: boolean): Promise<boolean> {
    const adding = this.#add(semaphore, this.#additionOf(permits, ifExists))
    this.#adding.add(adding)
    const forget = () => this.#adding.delete(adding)
    adding.then(forget, forget)
    return adding
  }

  /**
   * Registers the permits of running work in `using()`.
   *
   * @returns a function to call when the work has ended or the client is closed. The function adds the permits once, if
   * the semaphore still exists. The event `error` reports a failure
   * @throws if the client was closed or began to drain after the permits were acquired. The permits are then released
   */
  startUse(semaphore: NamedSemaphore, permits: number): () => Promise<unknown> {
    if (this.#closed || this.#isDraining) {
      if (permits > 0) semaphore.remote.addLater(this.#additionOf(permits, true))
      throw this.#closed ? closedError(semaphore.name) : closingError(semaphore.name)
    }
    let added: Promise<unknown> | undefined
    const held = { name: semaphore.name, permits, beganAt: this.locks.clock.monotonic() }
    const giveBack = () => {
      this.#inUse.delete(giveBack)
      if (this.#inUse.size === 0) this.#unused?.()
      if (permits === 0) return Promise.resolve()
      added ??= this.add(semaphore, permits, true)
        .catch((error: Error) => this.locks.emit('error', error))
        .finally(() => this.#held.delete(held))
      return added
    }
    this.#inUse.add(giveBack)
    if (permits > 0) this.#held.add(held)
    return giveBack
  }

  /** The permits of work in `using()`. Permits from `acquire()` have no holder. */
  get held(): HeldEntry[] {
    const now = this.locks.clock.monotonic()
    return [...this.#held].map(({ name, permits, beganAt }) => ({
      name,
      kind: 'semaphore',
      permits,
      owner: null,
      token: null,
      holdCount: 1,
      heldMs: Math.round(now - beganAt),
      remainingMs: null,
    }))
  }

  /**
   * Refuses new work in `using()`.
   *
   * @returns resolves when no work has permits
   */
  async drain(): Promise<void> {
    this.#isDraining = true
    if (this.#inUse.size === 0) return
    await new Promise<void>((resolve) => {
      this.#unused = resolve
    })
  }

  /**
   * Releases the permits of running work. If releases are in flight then, waits for them and for the
   * releases in the background, for at most twice `commandTimeoutMs` plus 50 ms. Permits without
   * leases never expire, so a short outage must not keep them acquired.
   */
  async shutDown(): Promise<void> {
    this.#closed = true
    const givenBack = [...this.#inUse].map((giveBack) => giveBack())
    if (this.#adding.size === 0) return
    const all = Promise.all([...givenBack, Promise.allSettled(this.#adding)])
    const { limits, server } = this.locks
    await within(
      2 * limits.commandTimeoutMs + 50,
      all.then(() => server.quiet()),
    )
  }

  #additionOf(permits: number, ifExists: boolean): Addition {
    return { id: this.locks.newOwner().newOwnerId(), permits, ifExists }
  }

  async #add(semaphore: NamedSemaphore, change: Addition): Promise<boolean> {
    const { locks } = this
    const { name, remote } = semaphore
    locks.assertOpen(name)
    const words = outcomeWords(permitsWere(change.permits), 'released', locks.limits.words)
    let said = `${permitsWere(change.permits)} not released`
    const failed = (failure: CallFailure) => {
      said = words(failure)
      // The client does not repeat a request that the server refuses permanently.
      if (failure.permanent) return said
      return `${said}; the client retries in the background (the release counts once), so do not release again`
    }
    try {
      const send = (callMs: number) => this.#send(semaphore, change, callMs)
      return await locks.request(name, failed, send, OF_SEMAPHORE)
    } catch (error) {
      if (error instanceof ClosedError) {
        throw new ClosedError(`Semaphore "${name}": ${said}: the client was closed.`, name)
      }
      if (maySucceed(error)) remote.addLater(change)
      throw error
    }
  }

  /** Adds the permits. If a call of this client is next, also acquires its permits in the same request. */
  #send({ rawName, remote }: NamedSemaphore, change: Addition, callMs: number): Promise<boolean> {
    const lock = this.#closed ? undefined : this.locks.find(rawName)
    const both =
      lock &&
      this.kinds.handOver(lock, callMs, (attempt, acquired) =>
        remote.addAndAcquire(change, attempt, acquired),
      )
    return both ?? remote.add(change, callMs)
  }
}

/** True if the change may have happened, or may succeed when the client sends it again. */
function maySucceed(error: unknown): boolean {
  if (error instanceof RedisRefusedError) return refusalPasses(error)
  return error instanceof RedisUnavailableError
}

/** A waiter for permits without a lease. The client keeps no hold of these permits, so the result is only true. */
class PlainPermitWaiter extends RacingWaiter<true, AcquireRequest> {
  override accept(hold: Hold, path?: AcquirePath): void {
    hold.finish()
    if (this.settled) this.lock.abandonHold(hold)
    else this.resolve(hold, path)
  }

  /**
   * Undefined, because grants of plain permits need no confirmation by replicas. A failover may lose these permits,
   * just as a crash of their process may.
   */
  override get confirm(): undefined {
    return undefined
  }

  resultOf(): true {
    return true
  }
}
