/** Two readings of one clock over a network differ by at most about this, in milliseconds. */
const SLACK_MS = 50

/**
 * The longest time until a deadline, in milliseconds. A request that takes longer is sent again.
 */
const LONGEST_WAY_MS = 90_000

/** A deadline that every server refuses as late. */
const LONG_PAST_US = 1

/**
 * Two clocks drift apart by less than this share of the time. NTP adds at most half of it, and
 * quartz a tenth.
 */
const DRIFT = 0.001

/**
 * A bound of the difference between the server's clock and `performance.now()`, from one answer.
 */
interface Bound {
  readonly offsetMs: number
  /** When that answer came, on `performance.now()`. */
  readonly at: number
}

const UNKNOWN: Bound = { offsetMs: Number.NaN, at: 0 }

/**
 * An estimate of the server's clock, for two purposes. It gives requests a deadline in server time,
 * and it shows if a call was made before a round of a latch began. It decides nothing else.
 */
export class ServerClock {
  #offsetMs = Number.NaN
  #doubtMs = 0
  /** The best known bounds of the offset. */
  #least = UNKNOWN
  #most = UNKNOWN

  /**
   * @param offsetMs the largest possible value of the server's clock minus `performance.now()`
   * @param doubtMs how much smaller the value can be
   */
  set(offsetMs: number, doubtMs: number): void {
    this.#offsetMs = offsetMs
    this.#doubtMs = doubtMs
    const at = performance.now()
    this.#least = { offsetMs: offsetMs - doubtMs, at }
    this.#most = { offsetMs, at }
  }

  /**
   * Called when the server has reported its time, in the answer to a request that was sent at
   * `sentAt` on `performance.now()`. If the time contradicts the estimate, the clock was set
   * forward or back.
   */
  heard(serverUs: number, sentAt: number): void {
    const wayMs = performance.now() - sentAt
    const offsetMs = serverUs / 1_000 - sentAt
    const isKnown = offsetMs >= this.#offsetMs - this.#doubtMs && offsetMs - wayMs <= this.#offsetMs
    if (!isKnown) this.set(offsetMs, wayMs)
    else this.#refine(offsetMs, wayMs)
  }

  /** How long after its deadline a request may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return this.#doubtMs + 2 * SLACK_MS
  }

  /**
   * The server's time in µs, `ms` from now. If the clock is unknown, it is a time in the past. Then
   * the server refuses the request and reports its time.
   *
   * The last three digits limit how far this time may be ahead of the server's clock, in tenths of
   * a second. If it is further ahead, the server's clock was set back, and the server refuses the
   * request. Otherwise the request could run long after its deadline.
   */
  inUs(ms: number): number {
    if (Number.isNaN(this.#offsetMs)) return LONG_PAST_US
    const wayMs = Math.min(ms, LONGEST_WAY_MS) + SLACK_MS
    const atMs = Math.ceil(this.#offsetMs + performance.now() + wayMs)
    const tenths = Math.ceil((wayMs + this.#doubtMs + SLACK_MS) / 100)
    return atMs * 1_000 + Math.min(tenths, 999)
  }

  /** The latest possible server time in µs at that moment on `performance.now()`; 0 if unknown. */
  latestUs(at: number): number {
    return Number.isNaN(this.#offsetMs) ? 0 : Math.ceil(this.#offsetMs + at + SLACK_MS) * 1_000
  }

  /** The estimated server time in µs at that moment on `performance.now()`; 0 if unknown. */
  timeUs(at: number): number {
    const offsetMs = (this.#least.offsetMs + this.#most.offsetMs) / 2
    return Number.isNaN(offsetMs) ? 0 : Math.ceil((offsetMs + at) * 1_000)
  }

  /**
   * The earliest moment on `performance.now()` at which the server's clock can have shown this
   * time.
   */
  earliestAt(us: number): number {
    const at = us / 1_000 - this.#most.offsetMs
    return at - driftMs(this.#most, at)
  }

  /**
   * Keeps the better bounds. If the new bounds contradict the old ones, the clock was set, and only
   * the new bounds count.
   */
  #refine(offsetMs: number, wayMs: number): void {
    const at = performance.now()
    const [least, most] = [
      { offsetMs: offsetMs - wayMs, at },
      { offsetMs, at },
    ]
    const leastMs = this.#least.offsetMs - driftMs(this.#least, at)
    const mostMs = this.#most.offsetMs + driftMs(this.#most, at)
    const isSet = least.offsetMs > mostMs || most.offsetMs < leastMs
    if (isSet || least.offsetMs > leastMs) this.#least = least
    if (isSet || most.offsetMs < mostMs) this.#most = most
  }
}

/**
 * How far the clocks can have drifted apart between that answer and that moment, in milliseconds.
 */
function driftMs(bound: Bound, at: number): number {
  return Math.abs(at - bound.at) * DRIFT
}
