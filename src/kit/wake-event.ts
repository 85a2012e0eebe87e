import type { Clock, Timer } from './clock.ts'
import { LONGEST_TIMER_MS, NOW } from './timers.ts'

interface Woken {
  woken(): void
}

/**
 * An event on which at most one caller waits at a time. After `set()`, every wait ends at once
 * until `reset()` is called. So a wake-up between the check of a caller and its wait is not lost.
 */
export class WakeEvent {
  #isSet = false
  #awaitedBy: Woken | undefined
  #timer: Timer | undefined
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  set(): void {
    this.#isSet = true
    this.#wake()
  }

  get isAwaited(): boolean {
    return this.#awaitedBy !== undefined
  }

  /**
   * Forgets earlier wake-ups. Callers need none of them, because they check the state after this
   * call.
   */
  reset(): void {
    this.#isSet = false
  }

  /**
   * Calls `woken` once: at the next wake-up, or after `ms` milliseconds. This method returns before
   * `woken` is called.
   */
  onWakeUp(one: Woken, ms = LONGEST_TIMER_MS): void {
    if (this.#isSet) {
      void NOW.then(() => one.woken())
      return
    }
    this.#awaitedBy = one
    this.#timer = this.#clock.after(Math.min(ms, LONGEST_TIMER_MS), () => this.#wake())
  }

  /** Ends the wait without a call of `woken`. */
  cancel(): void {
    this.#clock.clear(this.#timer)
    this.#awaitedBy = undefined
  }

  /** Resolves at the next wake-up, or after `ms` milliseconds. After `set()`, resolves at once. */
  wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      this.onWakeUp({ woken: resolve }, ms)
    })
  }

  #wake(): void {
    const one = this.#awaitedBy
    if (one === undefined) return
    this.#clock.clear(this.#timer)
    this.#awaitedBy = undefined
    void NOW.then(() => one.woken())
  }
}
