/** A silence is unusual if it is this many times longer than the mean response time. */
const TIMES = 4

/** A shorter silence is always usual, in milliseconds, because there may be no mean yet. */
const SHORT_MS = 50

/** The weight of the newest answer in the mean. */
const WEIGHT = 1 / 8

/**
 * The shortest time counts after this many answers, each to a request that was sent after the
 * answer before. Fewer answers may all be late for one reason.
 */
const ENOUGH = 10

/** The response time of one client's server. */
export class ResponseTime {
  #meanMs: number | undefined
  #quickestMs = Infinity
  #rounds = 0
  #roundEndedAt = 0
  #isDue = false

  /** Records an answer. Both moments are on the monotonic clock. */
  took(sentAt: number, answeredAt: number): void {
    const ms = answeredAt - sentAt
    this.#isDue = false
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT
    if (ms < this.#quickestMs) this.#quickestMs = ms
    if (sentAt < this.#roundEndedAt) return
    this.#roundEndedAt = answeredAt
    this.#rounds++
  }

  /** Called when a caller gives up an answer and then sends another request. */
  missed(): void {
    this.#isDue = true
  }

  get hasAnswer(): boolean {
    return this.#meanMs !== undefined
  }

  /**
   * The shortest response time in milliseconds; 0 after few answers. A busy process does not raise
   * it.
   */
  get quickestMs(): number {
    return this.#rounds < ENOUGH ? 0 : this.#quickestMs
  }

  /** The longest silence that is usual, in milliseconds. */
  get usualMs(): number {
    if (this.#isDue) return 0
    return Math.max(SHORT_MS, TIMES * (this.#meanMs ?? 0))
  }
}
