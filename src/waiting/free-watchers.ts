import { ClosedError } from '../errors.ts'
import { callListeners } from '../kit/call-listeners.ts'
import type { RetryBudget } from './retry-budget.ts'
import { TimedWait, type WaitLimits } from './timed-wait.ts'

/** What one look says to one watcher. */
export interface Seen {
  readonly isFree: boolean
  /** When it is free at the latest if nobody renews, in milliseconds; -1 if that is not known. */
  readonly ttlMs: number
}

/** What "free" means for one watcher. */
export interface Reading<S> {
  readFree(state: S): Seen
  /** Whether a message says that the lock was free for this watcher for a moment. */
  isRelease(message: string): boolean
}

/** One who wants to know when a lock is free. */
export interface FreeWatcher<S> {
  readonly retryBudget: RetryBudget
  /** Whether the process stays alive for it. */
  readonly keepsAlive: boolean
  /** @param messages that came since the last look */
  saw(state: S, messages: ReadonlySet<string>): Seen
  reject(reason: unknown): void
}

/** One call of `whenFree()`. Its result tells whether it had to wait. */
export class FreeWait<S> extends TimedWait<{ readonly waited: boolean }> implements FreeWatcher<S> {
  readonly keepsAlive = true
  protected readonly notSeen = 'not seen to be free'
  readonly #reading: Reading<S>
  #looks = 0

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
    return this.#looks > 0
  }

  saw(state: S): Seen {
    const seen = this.#reading.readFree(state)
    if (seen.isFree) this.resolve({ waited: this.#looks > 0 })
    this.#looks += 1
    return seen
  }
}

/** One listener of `onFree()`. It is called for each change, and not for a lock that is free at first. */
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
   * @param newBudget makes the budget for failures in a row
   * @param failed is called once for failures in a row; without an error when the client was closed
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

  saw(state: S, messages: ReadonlySet<string>): Seen {
    this.#isFailing = false
    const seen = this.#reading.readFree(state)
    const isRelease = (message: string) => this.#reading.isRelease(message)
    const isNews = this.#wasFree === false || (this.#wasFree && [...messages].some(isRelease))
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
