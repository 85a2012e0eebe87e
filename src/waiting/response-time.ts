/** A silence is unusual if it is more than this many times as long as the mean response time. */
const TIMES = 4

/** A silence of at most this many milliseconds is usual, even if no answer has ever arrived. */
const SHORT_MS = 50

/** The weight of the newest response time in the mean. */
const WEIGHT = 1 / 8

/**
 * The shortest response time is unknown before this many answers, because a few answers may all be
 * late for the same reason. Answers to requests that were in flight together count as one answer.
 */
const ENOUGH = 10

/** The response times of one server or quorum, as one client measures them. */
export class ResponseTime {
  #meanMs: number | undefined
  #quickestMs = Infinity
  #rounds = 0
  #roundEndedAt = 0
  #isDue = false

  /**
   * Records an answer.
   *
   * @param sentAt when the request was sent, on the monotonic clock
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
   * Called when the client sends another request because an answer is late. Every silence is then
   * unusual until the next answer.
   */
  missed(): void {
    this.#isDue = true
  }

  get hasAnswer(): boolean {
    return this.#meanMs !== undefined
  }

  /**
   * The shortest response time in milliseconds; 0 while there are too few answers. Unlike the mean,
   * this value does not grow when the process is busy.
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
