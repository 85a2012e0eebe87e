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

/**
 * After an outage, a temporary refusal or a `NotDurableError`, a candidate pauses before it waits
 * to lead again. The pause is `least` plus a random part of `spread`, in milliseconds.
 */
const PAUSE_MS = { least: 100, spread: 150 }

/** One attempt of a candidate to lead: from the wait in the queue to the end of the term. */
export class Campaign {
  readonly owner: Owner
  readonly #lock: ElectionLock
  readonly #signal: AbortSignal | undefined
  readonly #maxDrainMs: number
  readonly #closing: AbortSignal
  readonly #resignsOnRequest: boolean
  #term: HeldTerm | undefined
  #lease: Lease | undefined
  #finished: Promise<void> | undefined
  #hasResigned = false
  #isEnding = false
  #resigned: Promise<boolean> | undefined

  /**
   * @param lock the lock object of the election, made for this owner
   * @param closing aborts when the client drains or closes
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

  /**
   * Waits to lead, then runs `fn` while the candidate leads.
   *
   * @param began called with the new term, before `fn`
   */
  run<T>(fn: (term: Term) => Promise<T> | T, began: (term: Term) => void): Promise<T> {
    const signal = this.#signal
    const led = this.#lock.using(
      (lease) => this.#lead(lease, fn, began),
      // Candidates wait and lead without a limit, even if the client has a default `waitMs` or
      // `maxHoldMs`.
      { waitMs: Infinity, maxHoldMs: Infinity, ...(signal && { signal }) },
    )
    const ignore = () => {}
    this.#finished = led.then(ignore, ignore)
    return led
  }

  /**
   * Ends the term. Releases the lock for the next candidate when the function of `lead` has ended
   * or the lease is lost.
   *
   * @returns true when the lock is released; false if the candidate did not lead, or has lost the
   * term
   */
  resign(): Promise<boolean> {
    const lease = this.#lease
    if (lease === undefined) return Promise.resolve(false)
    this.#hasResigned = true
    this.#endTerm(lease, new ResignedError(this.#lock.name, lease.token))
    this.#resigned ??= Promise.race([this.#finished, whenLost(lease)]).then(() => lease.release())
    return this.#resigned
  }

  /**
   * True if the candidate should wait to lead again after this error. After an outage, a temporary
   * refusal or a `NotDurableError`, the client emits the error. The promise then resolves after a
   * pause, or at an abort.
   */
  async standsAgain(error: unknown): Promise<boolean> {
    if (this.#signal?.aborted || this.#closing.aborted || this.#hasResigned) return false
    if (error instanceof LeaseLostError) {
      // The candidate waits again if its own term was lost. The client may find this loss after the
      // function has ended. If another lock was lost, `lead` rejects.
      return this.#lease === undefined || saysNoMore(error, leaseBehind(this.#lease).whyEnded())
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
   * Aborts the signal of the term. From now on, the watchdog renews the lease for at most
   * `maxDrainMs`.
   */
  #endTerm(lease: Lease, reason: unknown): void {
    if (!this.#isEnding)
      this.#lock.registry.limitDrain((leaseBehind(lease) as HeldLease).hold, this.#maxDrainMs)
    this.#isEnding = true
    this.#term?.finish(reason)
  }

  async #lead<T>(
    lease: Lease,
    fn: (term: Term) => Promise<T> | T,
    began: (term: Term) => void,
  ): Promise<T> {
    const signals = [this.#signal ?? [], this.#closing].flat()
    // A signal may have aborted before the answer with the grant arrived.
    for (const one of signals) one.throwIfAborted()
    lease.assertValid()
    const term = new HeldTerm(lease)
    this.#term = term
    this.#lease = lease
    const ending = { reject: (reason: unknown) => this.#endTerm(lease, reason) }
    const watches = signals.map((one) => new AbortWatch(one, ending))
    if (this.#resignsOnRequest) {
      // The error is ignored here. If the release fails, `lead()` reports the failure with the
      // client's `error` event.
      const resigning = { reject: () => void this.resign().catch(() => {}) }
      watches.push(new AbortWatch(lease.releaseRequested, resigning))
    }
    try {
      began(term)
      term.assertValid()
      return await fn(term.handle)
    } finally {
      for (const watch of watches) watch.stop()
      term.finish()
    }
  }
}

/** Resolves when the signal of the lease aborts, because the lease is lost or no longer safe. */
function whenLost({ signal }: Lease): Promise<unknown> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/**
 * True if the error reports only the loss of the term. False if the function also failed for
 * another reason.
 */
function saysNoMore(error: LeaseLostError, loss: Error): boolean {
  if (error === loss) return true
  const { cause } = error as { cause?: { name?: unknown } | null }
  return isOfLoss(error, loss) && cause?.name === 'AbortError'
}
