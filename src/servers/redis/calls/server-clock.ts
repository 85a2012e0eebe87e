/** Two readings of one clock over a network differ by at most about this time, in milliseconds. */
const SLACK_MS = 50

/**
 * The deadline of a request is at most this far ahead, in milliseconds. If a request takes longer,
 * the server refuses it as late, and the client sends it again.
 */
const LONGEST_WAY_MS = 90_000

/** A deadline that every server refuses as late. */
const LONG_PAST_US = 1

/**
 * Two clocks drift apart by less than this share of the passed time. NTP changes a clock by at most
 * half of this share, and the drift of quartz is at most a tenth.
 */
const DRIFT = 0.001

/**
 * A bound of the difference between the server's clock and `performance.now()`, computed from one
 * answer.
 */
interface Bound {
  readonly offsetMs: number
  /** When the answer came, on `performance.now()`. */
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
  /** The greatest known lower bound of the difference. */
  #least = UNKNOWN
  /** The smallest known upper bound of the difference. */
  #most = UNKNOWN

  /**
   * @param offsetMs the largest possible value of the server's clock minus `performance.now()`
   * @param doubtMs how much smaller the true value can be, in milliseconds
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
   * forward or back, and the estimate begins again.
   */
  update(serverUs: number, sentAt: number): void {
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
   * Returns the deadline `ms` from now, as server time in µs. If the clock is unknown, the deadline
   * is in the past. Then the server refuses the request and reports its time.
   *
   * The last three digits limit how far the deadline may be ahead of the server's clock, in tenths
   * of a second. If it is further ahead, the server's clock was set back, and the server refuses
   * the request. Otherwise the request could run long after its deadline.
   */
  inUs(ms: number): number {
    if (Number.isNaN(this.#offsetMs)) return LONG_PAST_US
    const wayMs = Math.min(ms, LONGEST_WAY_MS) + SLACK_MS
    const atMs = Math.ceil(this.#offsetMs + performance.now() + wayMs)
    const tenths = Math.ceil((wayMs + this.#doubtMs + SLACK_MS) / 100)
    return atMs * 1_000 + Math.min(tenths, 999)
  }

  /**
   * Returns the latest possible server time in µs at the time `at` on `performance.now()`; 0 if the
   * clock is unknown.
   */
  latestUs(at: number): number {
    return Number.isNaN(this.#offsetMs) ? 0 : Math.ceil(this.#offsetMs + at + SLACK_MS) * 1_000
  }

  /**
   * Returns the estimated server time in µs at the time `at` on `performance.now()`; 0 if the clock
   * is unknown.
   */
  timeUs(at: number): number {
    const offsetMs = (this.#least.offsetMs + this.#most.offsetMs) / 2
    return Number.isNaN(offsetMs) ? 0 : Math.ceil((offsetMs + at) * 1_000)
  }

  /**
   * Returns the earliest time on `performance.now()` at which the server's clock can have shown
   * `us`.
   */
  earliestAt(us: number): number {
    const at = us / 1_000 - this.#most.offsetMs
    return at - driftMs(this.#most, at)
  }

  /**
   * Replaces the known bounds by the new bounds where these are closer. If the new bounds
   * contradict the known bounds, the clock was set, and only the new bounds count.
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
 * Returns how far the clocks can have drifted apart between the answer of the bound and the time
 * `at`, in milliseconds.
 */
function driftMs(bound: Bound, at: number): number {
  return Math.abs(at - bound.at) * DRIFT
}
