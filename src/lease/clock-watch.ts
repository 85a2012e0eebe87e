import { type Clock, disagreementMs, type Moment, type Timer } from '../kit/clock.ts'

const CHECK_MS = 250

/**
 * The clocks disagree if the times that they measured between two checks differ by more than this
 * many milliseconds.
 */
export const DISAGREEMENT_MS = 250

/**
 * Compares the monotonic clock and the wall clock every `CHECK_MS` milliseconds, and finds stalls
 * of the event loop.
 */
export class ClockWatch {
  readonly #clock: Clock
  readonly #check: (now: Moment, disagree: boolean) => void
  #checks: Timer | undefined
  #lastSeen: Moment = { monotonic: 0, wall: 0 }
  /**
   * The last stall of the event loop, on the monotonic clock. `from` is the last check before the
   * stall, and `until` is the first check after the stall.
   */
  #stall = { from: 0, until: 0 }

  /**
   * @param check called at each check. `disagree` is true if the clocks disagreed between the last
   * check and this check
   */
  constructor(clock: Clock, check: (now: Moment, disagree: boolean) => void) {
    this.#clock = clock
    this.#check = check
  }

  /** Starts the checks. Returns false if the checks were already running. */
  start(): boolean {
    if (this.#checks !== undefined) return false
    this.#lastSeen = this.#clock.now()
    this.#checks = this.#clock.every(CHECK_MS, () => this.#measure()).unref()
    return true
  }

  stop(): void {
    this.#clock.clear(this.#checks)
    this.#checks = undefined
  }

  /**
   * Returns how long the event loop was blocked around the moment `at`, in milliseconds. Returns 0
   * if the event loop was not blocked at this moment, or if another stall followed.
   *
   * @param at a past moment, on the monotonic clock
   */
  stalledMs(at: number): number {
    const from = this.#lastSeen.monotonic
    const { from: stallFrom, until: stallUntil } =
      at < from ? this.#stall : { from, until: this.#clock.monotonic() }
    return at >= stallFrom && at <= stallUntil ? Math.max(0, stallUntil - stallFrom - CHECK_MS) : 0
  }

  #measure(): void {
    const before = this.#lastSeen
    const now = this.#clock.now()
    this.#lastSeen = now
    if (now.monotonic - before.monotonic > 2 * CHECK_MS) {
      this.#stall = { from: before.monotonic, until: now.monotonic }
    }
    this.#check(now, disagreementMs(before, now) > DISAGREEMENT_MS)
  }
}
