import type { Clock, Timer } from '../kit/clock.ts'
import { type Dated, Deadlines } from '../kit/deadlines.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'

/** The alarm handles at most this many holds in one turn of the event loop. */
const MOST_HOLDS = 1_000

interface ExpiringHold extends Dated {
  remainingMonotonicMs(): number
  loseIfExpired(): void
}

/** Ends each hold whose lease was not renewed in time. One timer serves all holds of a watchdog. */
export class Alarm {
  readonly #clock: Clock
  /**
   * The holds, ordered by the time at which each may expire. A renewal does not change this time,
   * so the alarm reads the real expiry when the time comes.
   */
  readonly #deadlines = new Deadlines<ExpiringHold>()
  #timer: Timer | undefined
  /**
   * The time for which the timer is set, in milliseconds on the monotonic clock; Infinity if no
   * timer runs. No hold expires earlier by the monotonic clock.
   */
  #at = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  track(hold: ExpiringHold): void {
    const dueAt = this.#clock.now().monotonic + hold.remainingMonotonicMs()
    this.#deadlines.set(hold, dueAt)
    this.#set(dueAt)
  }

  untrack(hold: ExpiringHold): void {
    this.#deadlines.remove(hold)
  }

  stop(): void {
    this.#clock.clear(this.#timer)
    this.#at = Infinity
  }

  // Sets the timer to `at`, unless the timer fires earlier anyway. A renewal or a release does not
  // move the timer. If the timer fires too early, the alarm sets the timer for the next hold.
  #set(at: number): void {
    if (at >= this.#at) return
    this.#clock.clear(this.#timer)
    this.#at = at
    const ms = Math.min(Math.max(at - this.#clock.now().monotonic, 1), LONGEST_TIMER_MS)
    this.#timer = outsideContexts(() => this.#clock.after(ms, () => this.#endOverdue())).unref()
  }

  #endOverdue(): void {
    this.#at = Infinity
    const now = this.#clock.monotonic()
    let handled = 0
    for (let hold = this.#deadlines.first; hold; hold = this.#deadlines.first) {
      if (hold.dueAt > now) {
        this.#set(hold.dueAt)
        return
      }
      if (handled === MOST_HOLDS) {
        this.#clock.nextTurn(() => this.#endOverdue())
        return
      }
      handled += 1
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
