import type { Clock, Timer } from './clock.ts'
import { LONGEST_TIMER_MS, NOW } from './timers.ts'

/** Who waits for a wake-up. */
interface Woken {
  woken(): void
}

/**
 * Something to wait for, once at a time. A wake-up while nobody waits is kept for the next wait, so
 * none is lost between a look and a wait.
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

  /** Whether somebody waits right now. */
  get isAwaited(): boolean {
    return this.#awaitedBy !== undefined
  }

  /** Forgets the wake-ups so far: what they told of is about to be looked at. */
  reset(): void {
    this.#isSet = false
  }

  /** Calls `woken` once: after the next wake-up, or after `ms` milliseconds at the latest, and never at once. */
  wake(one: Woken, ms = LONGEST_TIMER_MS): void {
    if (this.#isSet) {
      void NOW.then(() => one.woken())
      return
    }
    this.#awaitedBy = one
    this.#timer = this.#clock.after(Math.min(ms, LONGEST_TIMER_MS), () => this.#wake())
  }

  /** Resolves at the next wake-up, or after `ms` milliseconds at the latest. */
  wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      this.wake({ woken: resolve }, ms)
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
