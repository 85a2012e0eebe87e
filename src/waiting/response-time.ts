/** A silence is unusual if it is this many times longer than the mean response time. */
const TIMES = 4

/** A silence of at most this many milliseconds is usual, even if no answer has arrived yet. */
const SHORT_MS = 50

/** The weight of the newest answer in the mean. */
const WEIGHT = 1 / 8

/**
 * The shortest response time is used only after this many answers, because fewer answers may all be
 * late for the same reason. An answer counts if its request was sent after the arrival of the last
 * counted answer.
 */
const ENOUGH = 10

/** The response times of one client's server. */
export class ResponseTime {
  #meanMs: number | undefined
  #quickestMs = Infinity
  #rounds = 0
  #roundEndedAt = 0
  #isDue = false

  /**
   * Records an answer.
   *
   * @param sentAt when its request was sent, on the monotonic clock
   * @param answeredAt when the answer arrived, on the monotonic clock
   */
  took(sentAt: number, answeredAt: number): void {
    const ms = answeredAt - sentAt
    this.#isDue = false
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT
    if (ms < this.#quickestMs) this.#quickestMs = ms
    if (sentAt < this.#roundEndedAt) return
    this.#roundEndedAt = answeredAt
    this.#rounds++
  }

  /**
   * Called when an answer is late and its caller sends another request. Until the next answer,
   * every silence counts as unusual.
   */
  missed(): void {
    this.#isDue = true
  }

  get hasAnswer(): boolean {
    return this.#meanMs !== undefined
  }

  /**
   * The shortest response time in milliseconds; 0 while there are too few answers. A busy process
   * does not raise this value.
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
