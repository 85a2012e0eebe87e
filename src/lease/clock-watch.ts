import { type Clock, disagreementMs, type Moment, type Timer } from '../kit/clock.ts'

/** The clocks are looked at this often, in milliseconds. */
const CHECK_MS = 250

/** Clocks that came apart by more than this are told of, in milliseconds. */
export const DISAGREEMENT_MS = 250

/** Looks at both clocks now and then: whether they agree, and whether the event loop has stood still. */
export class ClockWatch {
  readonly #clock: Clock
  readonly #check: (now: Moment, disagree: boolean) => void
  #checks: Timer | undefined
  #lastSeen: Moment = { monotonic: 0, wall: 0 }
  /** The last time between two looks that was far too long, on the monotonic clock. */
  #stall = { from: 0, until: 0 }

  /** @param check called at each look; `disagree` where the clocks came apart since the last one */
  constructor(clock: Clock, check: (now: Moment, disagree: boolean) => void) {
    this.#clock = clock
    this.#check = check
  }

  /** @returns whether it has not run before */
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
   * @param at a moment on the monotonic clock that has passed
   * @returns for how long the event loop stood still at that time, in milliseconds; 0 where it did not
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
