import {
  LeaseLostError,
  RedisRefusedError,
  RedisUnavailableError,
  refusalPasses,
} from '../../errors.ts'
import { WakeEvent } from '../../kit/wake-event.ts'
import { leaseBehind } from '../../lease/base-lease.ts'
import type { HeldLease, Lease } from '../../lease/lease.ts'
import { isOfLoss } from '../../lease/work-and-release.ts'
import { NotDurableError } from '../../options/durability.ts'
import type { Owner } from '../../owner/owner.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import type { ElectionLock } from './election-lock.ts'
import type { Leading } from './leader-options.ts'
import { ResignedError } from './resigned-error.ts'
import { HeldTerm, type Term } from './term.ts'

/** The pause before it becomes a candidate again after an outage, in milliseconds. */
const PAUSE_MS = { least: 100, spread: 150 }

/** One candidate: from its place in the queue to the end of its term. */
export class Campaign {
  readonly owner: Owner
  readonly #lock: ElectionLock
  readonly #signal: AbortSignal | undefined
  readonly #maxDrainMs: number
  readonly #closing: AbortSignal
  readonly #resignsOnRequest: boolean
  #term: HeldTerm | undefined
  #lease: Lease | undefined
  #over: Promise<void> | undefined
  #hasResigned = false
  #isEnding = false
  #resigned: Promise<boolean> | undefined

  /**
   * @param lock the lock of the election, for that owner
   * @param closing aborts when this client must no longer lead
   */
  constructor(
    owner: Owner,
    lock: ElectionLock,
    { signal, maxDrainMs, resignOnRequest }: Leading,
    closing: AbortSignal,
  ) {
    this.owner = owner
    this.#lock = lock
    this.#closing = closing
    this.#signal = signal
    this.#maxDrainMs = maxDrainMs
    this.#resignsOnRequest = resignOnRequest
  }

  get leads(): boolean {
    return this.#term?.valid === true
  }

  get term(): HeldTerm | undefined {
    return this.#term
  }

  /** @param began called when it begins to lead */
  run<T>(fn: (term: Term) => Promise<T> | T, began: (term: Term) => void): Promise<T> {
    const signal = this.#signal
    const led = this.#lock.using(
      (lease) => this.#lead(lease, fn, began),
      // Candidates wait and lead without a limit, whatever `waitMs` and `maxHoldMs` the client has.
      { waitMs: Infinity, maxHoldMs: Infinity, ...(signal && { signal }) },
    )
    const over = () => {}
    this.#over = led.then(over, over)
    return led
  }

  /**
   * Ends the term, and hands over when its function has ended. After a loss of the lease it does
   * not wait for the function.
   */
  resign(): Promise<boolean> {
    const lease = this.#lease
    if (lease === undefined) return Promise.resolve(false)
    this.#hasResigned = true
    this.#end(lease, new ResignedError(this.#lock.name, lease.token))
    this.#resigned ??= Promise.race([this.#over, lossOf(lease)]).then(() => lease.release())
    return this.#resigned
  }

  /** True if it becomes a candidate again after this error. After an outage it pauses first. */
  async standsAgain(error: unknown): Promise<boolean> {
    if (this.#signal?.aborted || this.#closing.aborted || this.#hasResigned) return false
    if (error instanceof LeaseLostError) {
      // The loss of the term counts, even if it was found after the function ended. The loss of
      // another lock, which the function reported, does not count.
      return this.#lease === undefined || saysNoMore(error, leaseBehind(this.#lease).over())
    }
    if (this.#term !== undefined) return false
    const passes =
      error instanceof RedisUnavailableError ||
      error instanceof NotDurableError ||
      (error instanceof RedisRefusedError && refusalPasses(error))
    if (!passes) return false
    this.#lock.registry.emit('error', error)
    const ms = PAUSE_MS.least + Math.random() * PAUSE_MS.spread
    const signal = this.#signal
    const wakeEvent = new WakeEvent(this.#lock.registry.clock)
    const watch = signal && new AbortWatch(signal, { reject: () => wakeEvent.set() })
    await wakeEvent.wait(ms)
    watch?.stop()
    return true
  }

  /**
   * Asks the function of the term to end. The lease is renewed until it has ended, for at most
   * `maxDrainMs`.
   */
  #end(lease: Lease, reason: unknown): void {
    if (!this.#isEnding)
      this.#lock.registry.limitDrain((leaseBehind(lease) as HeldLease).hold, this.#maxDrainMs)
    this.#isEnding = true
    this.#term?.end(reason)
  }

  async #lead<T>(
    lease: Lease,
    fn: (term: Term) => Promise<T> | T,
    began: (term: Term) => void,
  ): Promise<T> {
    const signals = [this.#signal ?? [], this.#closing].flat()
    // A signal may have aborted at the moment of the grant.
    for (const one of signals) one.throwIfAborted()
    lease.assertValid()
    const term = new HeldTerm(lease)
    this.#term = term
    this.#lease = lease
    const ending = { reject: (reason: unknown) => this.#end(lease, reason) }
    const watches = signals.map((one) => new AbortWatch(one, ending))
    if (this.#resignsOnRequest) {
      // `lead()` reports a failure of the hand-over.
      const resigning = { reject: () => void this.resign().catch(() => {}) }
      watches.push(new AbortWatch(lease.releaseRequested, resigning))
    }
    try {
      began(term)
      term.assertValid()
      return await fn(term.handle)
    } finally {
      for (const watch of watches) watch.stop()
      term.end()
    }
  }
}

/** Resolves when the lease is lost. */
function lossOf({ signal }: Lease): Promise<unknown> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/** True if the error only reports the loss of the term, and no mistake in the function. */
function saysNoMore(error: LeaseLostError, loss: Error): boolean {
  if (error === loss) return true
  const { cause } = error as { cause?: { name?: unknown } | null }
  return isOfLoss(error, loss) && cause?.name === 'AbortError'
}
