import type { Clock, Timer } from '../kit/clock.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'

/** Calls `onEnd` when a wait has lasted for `waitMs`, even if `waitMs` is longer than the longest timer of Node.js. */
export class WaitTimer {
  readonly startedAt: number
  readonly #clock: Clock
  readonly #waitMs: number
  readonly #onEnd: () => void
  #timer: Timer | undefined

  /** @param waitMs the longest wait in milliseconds; Infinity for no limit */
  constructor(clock: Clock, waitMs: number, onEnd: () => void) {
    this.#clock = clock
    this.#waitMs = waitMs
    this.#onEnd = onEnd
    this.startedAt = clock.monotonic()
    if (waitMs !== Infinity) this.#arm()
  }

  stop(): void {
    this.#clock.clear(this.#timer)
  }

  get #leftMs(): number {
    return this.#waitMs - (this.#clock.monotonic() - this.startedAt)
  }

  #arm(): void {
    const ms = Math.min(Math.max(this.#leftMs, 1), LONGEST_TIMER_MS)
    this.#timer = this.#clock.after(ms, () => {
      if (this.#leftMs > 1) this.#arm()
      else this.#onEnd()
    })
  }
}
