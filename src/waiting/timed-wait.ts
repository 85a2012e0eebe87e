import type { Timer } from '../kit/clock.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { AbortWatch } from './abort-watch.ts'
import type { RetryBudget } from './retry-budget.ts'

/** How long one call waits at most, and what ends it before. */
export interface WaitLimits {
  /** In milliseconds; Infinity for a wait without a limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * One call that waits until something is seen and acquires nothing. It is settled once: with a result, with null at
 * the end of its time, by an abort or by a failure.
 */
export abstract class TimedWait<T> {
  readonly promise: Promise<T | null>
  readonly retryBudget: RetryBudget
  readonly #waitMs: number
  readonly #startedAt: number
  readonly #settled: () => void
  readonly #abort: AbortWatch | undefined
  #isSettled = false
  #deadline: Timer | undefined
  #resolve!: (result: T | null) => void
  #reject!: (reason: unknown) => void

  /** @param settled is called when the wait is settled */
  constructor({ waitMs, signal }: WaitLimits, retryBudget: RetryBudget, settled: () => void) {
    this.retryBudget = retryBudget
    this.#waitMs = waitMs
    this.#startedAt = retryBudget.clock.monotonic()
    this.#settled = settled
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#abort = signal && new AbortWatch(signal, this)
    if (waitMs !== Infinity) this.#armDeadline()
  }

  /** Whether any look has been answered. */
  protected abstract get isKnown(): boolean

  /** What did not come about, for the error of an outage. */
  protected abstract get notSeen(): string

  resolve(result: T | null): void {
    this.#settle(() => this.#resolve(result))
  }

  reject(reason: unknown): void {
    this.#settle(() => this.#reject(reason))
  }

  #settle(end: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.retryBudget.clock.clear(this.#deadline)
    this.#abort?.stop()
    this.#settled()
    end()
  }

  get #leftMs(): number {
    return this.#waitMs - (this.retryBudget.clock.monotonic() - this.#startedAt)
  }

  #armDeadline(): void {
    const { clock } = this.retryBudget
    this.#deadline = clock.after(Math.min(Math.max(this.#leftMs, 1), LONGEST_TIMER_MS), () => {
      if (this.#leftMs > 1) this.#armDeadline()
      // After a blocked event loop the answer may have arrived and not been read yet.
      else clock.nextTurn(() => this.#timeIsUp())
    })
  }

  /** Null says that it was not seen in time. During an outage nobody can say that. */
  #timeIsUp(): void {
    if (this.retryBudget.isOutage(this.isKnown)) {
      this.reject(this.retryBudget.error(`${this.notSeen} within ${Math.round(this.#waitMs)} ms`))
    } else {
      this.resolve(null)
    }
  }
}
