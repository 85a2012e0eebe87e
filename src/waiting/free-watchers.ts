import { ClosedError } from '../errors.ts'
import { callListeners } from '../kit/call-listeners.ts'
import type { ReleaseHint } from '../servers/hint.ts'
import type { RetryBudget } from './retry-budget.ts'
import { TimedWait, type WaitLimits } from './timed-wait.ts'

export interface FreeCheck {
  readonly isFree: boolean
  /**
   * The time until the lock is free if its lease is not renewed, in milliseconds; Infinity if
   * unknown.
   */
  readonly ttlMs: number
}

/** Reads the state of a lock, and the hints about the lock, for one watcher. */
export interface Reading<S> {
  /** Returns whether the lock is free for this watcher, and when its lease ends. */
  readFree(state: S): FreeCheck
  /** True if the lock was free for this watcher after the release, at least for a moment. */
  isRelease(release: ReleaseHint): boolean
}

/** A call of `whenFree()` or a listener of `onFree()`. */
export interface FreeWatcher<S> {
  readonly retryBudget: RetryBudget
  readonly keepsAlive: boolean
  /**
   * Called with the state that a check found. Returns whether the lock is free for this watcher, and
   * when its lease ends.
   *
   * @param releases the hints of releases that arrived since the last check with an answer was sent
   */
  saw(state: S, releases: ReadonlySet<ReleaseHint>): FreeCheck
  reject(reason: unknown): void
}

/**
 * One call of `whenFree()`. In its result, `waited` is false if the first check found a free lock.
 */
export class FreeWait<S> extends TimedWait<{ readonly waited: boolean }> implements FreeWatcher<S> {
  readonly keepsAlive = true
  protected readonly notSeen = 'not seen to be free'
  readonly #reading: Reading<S>
  #checks = 0

  constructor(
    reading: Reading<S>,
    limits: WaitLimits,
    retryBudget: RetryBudget,
    settled: () => void,
  ) {
    super(limits, retryBudget, settled)
    this.#reading = reading
  }

  protected get isKnown(): boolean {
    return this.#checks > 0
  }

  saw(state: S): FreeCheck {
    const seen = this.#reading.readFree(state)
    if (seen.isFree) this.resolve({ waited: this.#checks > 0 })
    this.#checks += 1
    return seen
  }
}

/**
 * One listener of `onFree()`. The watch calls the listener when a check finds that the lock has
 * become free. If the first check finds a free lock, the watch does not call the listener.
 */
export class FreeListener<S> implements FreeWatcher<S> {
  readonly keepsAlive = false
  retryBudget: RetryBudget
  readonly #reading: Reading<S>
  readonly #listener: () => void
  readonly #newBudget: () => RetryBudget
  readonly #failed: (error: Error | undefined) => void
  #wasFree: boolean | undefined
  #isFailing = false

  /**
   * @param newBudget makes the retry budget for the next series of failures
   * @param failed called with the first error of each series of failures. Called with undefined if
   * the client was closed
   */
  constructor(
    reading: Reading<S>,
    listener: () => void,
    newBudget: () => RetryBudget,
    failed: (error: Error | undefined) => void,
  ) {
    this.#reading = reading
    this.#listener = listener
    this.#newBudget = newBudget
    this.retryBudget = newBudget()
    this.#failed = failed
  }

  saw(state: S, releases: ReadonlySet<ReleaseHint>): FreeCheck {
    this.#isFailing = false
    const seen = this.#reading.readFree(state)
    const isRelease = (release: ReleaseHint) => this.#reading.isRelease(release)
    const isNews = this.#wasFree === false || (this.#wasFree && [...releases].some(isRelease))
    this.#wasFree = seen.isFree
    if (seen.isFree && isNews) callListeners(this.#listener)
    return seen
  }

  reject(reason: unknown): void {
    if (reason instanceof ClosedError) {
      this.#failed(undefined)
      return
    }
    this.retryBudget = this.#newBudget()
    if (!this.#isFailing) this.#failed(reason as Error)
    this.#isFailing = true
  }
}
