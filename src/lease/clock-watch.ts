import { type Clock, disagreementMs, type Moment, type Timer } from '../kit/clock.ts'

/** The interval between two checks, in milliseconds. */
const CHECK_MS = 250

/**
 * The two clocks disagree if they drift apart by more than this between two checks, in
 * milliseconds.
 */
export const DISAGREEMENT_MS = 250

/** Compares both clocks at intervals, and finds stalls of the event loop. */
export class ClockWatch {
  readonly #clock: Clock
  readonly #check: (now: Moment, disagree: boolean) => void
  #checks: Timer | undefined
  #lastSeen: Moment = { monotonic: 0, wall: 0 }
  /**
   * The last stall of the event loop, as a time on the monotonic clock. It lies between two checks
   * that were too far apart.
   */
  #stall = { from: 0, until: 0 }

  /**
   * @param check called at each check; `disagree` is true if the clocks have diverged since the
   *   last check
   */
  constructor(clock: Clock, check: (now: Moment, disagree: boolean) => void) {
    this.#clock = clock
    this.#check = check
  }

  /** @returns false if the checks have already started */
  start(): boolean {
    if (this.#checks !== undefined) return false
    this.#lastSeen = this.#clock.now()
    this.#checks = this.#clock.every(CHECK_MS, () => this.#look()).unref()
    return true
  }

  stop(): void {
    this.#clock.clear(this.#checks)
    this.#checks = undefined
  }

  /**
   * @param at a past moment on the monotonic clock
   * @returns how long the event loop was blocked at that moment, in milliseconds; 0 if it was not
   *   blocked
   */
  stalledMs(at: number): number {
    const from = this.#lastSeen.monotonic
    const { from: begin, until: end } =
      at < from ? this.#stall : { from, until: this.#clock.monotonic() }
    return at >= begin && at <= end ? Math.max(0, end - begin - CHECK_MS) : 0
  }

  #look(): void {
    const before = this.#lastSeen
    const now = this.#clock.now()
    this.#lastSeen = now
    if (now.monotonic - before.monotonic > 2 * CHECK_MS) {
      this.#stall = { from: before.monotonic, until: now.monotonic }
    }
    this.#check(now, disagreementMs(before, now) > DISAGREEMENT_MS)
  }
}
