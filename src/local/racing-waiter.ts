import type { AcquirePath } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import type { AcquireAnswer } from '../servers/answers.ts'
import type { Confirm } from '../servers/durability.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { type Asked, Asking, abandonName, callMsFor, nameOf } from './ask.ts'
import { whenConfirmed } from './confirm.ts'
import { RESERVE } from './hand-over-budget.ts'
import { kindOf, renewalOf } from './kind-verbs.ts'
import { newLease } from './local-lease.ts'
import type { LocalLock } from './local-lock.ts'
import type { LockKind } from './lock-kind.ts'
import { reenter } from './reenter.ts'
import { release } from './release.ts'

/**
 * After split votes, a waiter with `asksOnce` sends its request again at most this many times,
 * because the lock may be free.
 */
const MOST_SPLITS = 3

export abstract class LocalWaiter extends Waiter {
  readonly lock: LocalLock
  /** The stack trace of the user's call; undefined if no warning needs it. */
  declare calledFrom?: Error

  constructor(lock: LocalLock, request: AcquireRequest) {
    super(request, lock.newSharedBudget(request), lock)
    this.lock = lock
    const { heldWatch } = lock.services
    if (heldWatch !== undefined) this.calledFrom = request.calledFrom ?? heldWatch.trace()
  }

  granted(hold: Hold, path?: AcquirePath): void {
    const { lock, request } = this
    const { holds, waiters } = lock
    holds.begin(hold)
    lock.handOverBudget.acquired()
    if (this.settled) {
      lock.tasks.run(release(lock, hold, 0))
      return
    }
    holds.watch(hold, request)
    // The waiter is resolved before the events are emitted. A listener may abort the call, but the
    // caller already holds the lock then.
    this.resolve(hold, path)
    holds.tell(hold, this.waitedMs, request.fact)
    // A listener may have released the hold.
    if (!hold.live) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queued?.wake(request.owner)
    const { isShared, isCounted, waitsAside } = request.kind
    if (isShared && !isCounted && !waitsAside) {
      for (const other of waiters.sharedAtFront()) {
        if (other.contending) other.wakeEvent.set()
        else other.contend()
      }
    }
    for (const other of waiters.queuedWith(this)) {
      if (other.contending) other.wakeEvent.set()
      else if (lock.holds.of(request.owner, other.request.kind) === hold) reenter(lock, hold, other)
    }
  }

  /** Confirms a grant on replicas; undefined if grants need no confirmation. */
  get confirm(): Confirm | undefined {
    return renewalOf(this.request, this.lock.services.server).confirm
  }

  newLease(hold: Hold): { readonly handle: Lease } {
    return newLease(this.lock, hold, this.request, this.calledFrom)
  }
}

/** Waits in the queue of its client. The first waiter sends requests to the server. */
export class RacingWaiter extends LocalWaiter {
  #splits = 0
  /** The time when the last refusal arrived, on the monotonic clock. */
  protected refusedAt = -Infinity

  start(): void {
    const { lock } = this
    if (this.asksOnce) {
      this.contend()
      return
    }
    const isBeside = lock.holds.beside(this.request) !== undefined
    const { first, firstBeside } = lock.waiters
    const isBehind = (isBeside ? firstBeside : first) !== undefined
    if (isBehind || lock.keepsOut(this.request)) lock.announce(this)
    // A listener may have aborted the call.
    if (this.settled) return
    if (isBeside) lock.waiters.queueBeside(this)
    else lock.waiters.queue(this)
    lock.advance()
  }

  contend(): void {
    this.contending = true
    this.lock.tasks.begin()
    this.woken()
  }

  /**
   * Takes the next step: sends a request, or waits until the waiter may send one. It is called
   * again after each step, until the waiter holds the lock or is settled.
   */
  woken(): void {
    this.#safely(() => this.#goOn())
  }

  /**
   * Runs a step. An unexpected error rejects the waiter, because otherwise the waiter and `close()`
   * would wait forever.
   */
  #safely(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.reject(error)
      this.lock.taskFailed(error as Error)
      this.lock.tasks.end()
    }
  }

  #goOn(): void {
    const { lock, request, wakeEvent } = this
    const { handOverBudget } = lock
    wakeEvent.reset()
    this.waitsHere = false
    const own = this.settled ? undefined : lock.holds.of(request.owner, request.kind)
    if (this.settled) {
      this.#end()
    } else if (own !== undefined) {
      reenter(lock, own, this)
      lock.tasks.end()
    } else if (this.asksOnce) {
      this.#ask()
    } else if (this.keptOutMs > 0) {
      this.#sleepHere(this.keptOutMs)
    } else if (handOverBudget.awayMs > 0) {
      wakeEvent.wake(this, handOverBudget.awayMs)
    } else if (handOverBudget.isPolite) {
      void handOverBudget.stepBack().then(() => {
        const own = lock.holds.of(request.owner, request.kind)
        if (this.settled || own !== undefined || lock.keepsOut(request)) this.woken()
        else this.#safely(() => this.#ask())
      })
    } else {
      this.#ask()
    }
  }

  /** How long the next request must wait because of holds of this client, in milliseconds. */
  protected get keptOutMs(): number {
    return this.lock.keepsOut(this.request) ? Infinity : 0
  }

  #ask(): void {
    const { lock, request, retryBudget } = this
    if (retryBudget.isUsedUp) {
      this.reject(retryBudget.error('not acquired'))
      this.#end()
      return
    }
    const callMs = callMsFor(this)
    const waits = !this.asksOnce
    const attempt = {
      owner: nameOf(this),
      leaseMs: request.leaseMs,
      reserve: lock.waiters.isShared ? RESERVE : 0,
      callMs,
      beside: lock.holds.beside(request)?.id.wireOwner,
      waits,
      leftMs: this.leftMs,
      isLast: lock.waiters.isLastOfKind(this),
    }
    this.queued ||= waits && kindOf(request).announcesWaits === true
    const { together = lock.remoteOf(request) } = request
    const heard = (asked: Asked<AcquireAnswer>) => this.#safely(() => this.#heard(asked))
    const then = whenConfirmed(lock, this, this.confirm, heard)
    together.acquire(attempt, new Asking(lock, this, callMs, then))
  }

  #heard({ grant, sentAt, pauseMs }: Asked<AcquireAnswer>): void {
    const { lock, wakeEvent, request } = this
    if (grant?.kind === 'granted') {
      const hold = lock.holds.granted(this, grant, sentAt)
      if (hold === null) this.woken()
      else {
        this.granted(hold)
        lock.tasks.end()
      }
      return
    }
    if (grant !== null) {
      this.saw(grant)
      lock.sight = this.sight
      this.refusedAt = lock.services.clock.monotonic()
    }
    const splitMs = grant?.split?.pauseMs
    if (grant?.kind === 'held' && grant.never !== undefined) this.reject(grant.never)
    if (this.settled) {
      this.#end()
    } else if (grant === null) {
      wakeEvent.wake(this, pauseMs)
    } else if (!this.asksOnce) {
      lock.announce(this)
      const listenMs = lock.releases.listen(lock.remoteOf(request), grant.ttlMs)
      // If several waiters may hold the lock together, only the first of them sends further
      // requests.
      if (this.list?.first !== this) this.#sleepHere()
      // After split votes, the waiter asks again without waiting for a message. A client with a
      // majority may not know of this waiter and hand the lock over without a message.
      else if (splitMs === undefined) wakeEvent.wake(this, listenMs)
      else lock.services.clock.after(splitMs, () => this.woken())
    } else if (splitMs !== undefined && this.#splits < MOST_SPLITS) {
      this.#splits += 1
      lock.services.clock.after(splitMs, () => this.woken())
    } else {
      // If the owner has acquired the lock meanwhile, the waiter re-enters instead of giving up.
      if (lock.holds.of(request.owner, request.kind) === undefined) this.resolve(null)
      this.woken()
    }
  }

  #sleepHere(ms?: number): void {
    this.waitsHere = true
    this.wakeEvent.wake(this, ms)
  }

  #end(): void {
    const { lock, request } = this
    // If the waiter never sent a request, the client's place in the server's queue may have no
    // waiter left.
    if (this.wireOwner === undefined) lock.remoteOf(request).leave?.()
    // While a hand-over to this waiter is in flight, its request still uses the owner id, so the id
    // is not abandoned yet.
    else if (!this.asking) abandonName(lock, this)
    lock.tasks.end()
  }
}

export const plainKind: LockKind = {
  name: 'lock',
  isShared: false,
  waitsInTurn: false,
  newWaiter: (lock, request) => new RacingWaiter(lock, request),
}
