import type { Clock, Timer } from '../kit/clock.ts'
import { type Dated, Deadlines } from '../kit/deadlines.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'

/** What is ended: a hold. */
interface Hold extends Dated {
  remainingMonotonicMs(): number
  loseIfExpired(): void
}

/** One timer that ends those holds whose time is up with no renewal confirmed. */
export class Alarm {
  readonly #clock: Clock
  /** When the time of each is up at the earliest: renewals that move it are seen when that has come. */
  readonly #deadlines = new Deadlines<Hold>()
  #timer: Timer | undefined
  /** When it goes off, on the monotonic clock; not after the time of any hold is up. */
  #at = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  track(hold: Hold): void {
    const dueAt = this.#clock.now().monotonic + hold.remainingMonotonicMs()
    this.#deadlines.set(hold, dueAt)
    this.#set(dueAt)
  }

  untrack(hold: Hold): void {
    this.#deadlines.remove(hold)
  }

  stop(): void {
    this.#clock.clear(this.#timer)
    this.#at = Infinity
  }

  // Renewals and releases leave it as it is: it looks for the next one when it goes off.
  #set(at: number): void {
    if (at >= this.#at) return
    this.#clock.clear(this.#timer)
    this.#at = at
    const ms = Math.min(Math.max(at - this.#clock.now().monotonic, 1), LONGEST_TIMER_MS)
    this.#timer = outsideContexts(() => this.#clock.after(ms, () => this.#endOverdue())).unref()
  }

  #endOverdue(): void {
    this.#at = Infinity
    const now = this.#clock.now().monotonic
    for (let hold = this.#deadlines.first; hold; hold = this.#deadlines.first) {
      if (hold.dueAt > now) {
        this.#set(hold.dueAt)
        return
      }
      const leftMs = hold.remainingMonotonicMs()
      if (leftMs > 0) {
        this.#deadlines.set(hold, now + leftMs)
      } else {
        this.#deadlines.remove(hold)
        hold.loseIfExpired()
      }
    }
  }
}
