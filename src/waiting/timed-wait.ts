import { AbortWatch } from './abort-watch.ts'
import type { RetryBudget } from './retry-budget.ts'
import { WaitTimer } from './wait-timer.ts'

export interface WaitLimits {
  /** The longest wait in milliseconds; Infinity for no limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * A call that waits for a state, such as a free lock, and acquires nothing. The call settles once:
 * with a result, with null after `waitMs`, by an abort or by a failure.
 */
export abstract class TimedWait<T> {
  readonly promise: Promise<T | null>
  readonly retryBudget: RetryBudget
  readonly #waitMs: number
  readonly #settled: () => void
  readonly #abort: AbortWatch | undefined
  readonly #timer: WaitTimer
  #isSettled = false
  #resolve!: (result: T | null) => void
  #reject!: (reason: unknown) => void

  constructor({ waitMs, signal }: WaitLimits, retryBudget: RetryBudget, settled: () => void) {
    this.retryBudget = retryBudget
    this.#waitMs = waitMs
    this.#settled = settled
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#abort = signal && new AbortWatch(signal, this)
    const { clock } = retryBudget
    // If the event loop was blocked, an answer may have arrived unread. The client reads this
    // answer before the next turn.
    this.#timer = new WaitTimer(clock, waitMs, () => clock.nextTurn(() => this.#timeIsUp()))
  }

  /** True if the server has answered at least one check. */
  protected abstract get isKnown(): boolean

  /** The failed step, as words for the error of an outage. */
  protected abstract get notSeen(): string

  resolve(result: T | null): void {
    this.#finish(() => this.#resolve(result))
  }

  reject(reason: unknown): void {
    this.#finish(() => this.#reject(reason))
  }

  #finish(deliver: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#timer.stop()
    this.#abort?.stop()
    this.#settled()
    deliver()
  }

  /**
   * Resolves with null. Rejects during an outage, because the state of the lock is then unknown.
   */
  #timeIsUp(): void {
    if (this.retryBudget.isOutage(this.isKnown)) {
      this.reject(this.retryBudget.error(`${this.notSeen} within ${Math.round(this.#waitMs)} ms`))
    } else {
      this.resolve(null)
    }
  }
}
