/** The largest usual error of a clock that is read over a network, in milliseconds. */
const SLACK_MS = 50

/**
 * The longest time from the sending of a request to its deadline, in milliseconds. If the request
 * arrives later, the server refuses it as late. The client then sends it again.
 */
const LONGEST_WAY_MS = 90_000

/** A deadline that every server refuses as late. */
const LONG_PAST_US = 1

/**
 * The drift between two clocks is less than this share of the passed time. NTP corrects a clock by
 * at most half of this share. A quartz clock drifts by at most a tenth of this share.
 */
const DRIFT = 0.001

/** A lower or upper bound of the server's clock minus `performance.now()`, computed from one answer. */
interface Bound {
  readonly offsetMs: number
  /** When the answer came, on `performance.now()`. */
  readonly at: number
}

const UNKNOWN: Bound = { offsetMs: Number.NaN, at: 0 }

/**
 * Estimates the server's clock. The estimate decides the deadlines of requests, and whether a call
 * was made before a round of a latch began. It also appears in the error of a resting master.
 */
export class ServerClock {
  #offsetMs = Number.NaN
  #doubtMs = 0
  /** The highest known lower bound. */
  #least = UNKNOWN
  /** The lowest known upper bound. */
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
   * Corrects the estimate by a time that the server reported. If this time contradicts the
   * estimate, the server's clock was set, and the estimate begins again.
   *
   * @param sentAt when the request for this answer was sent, on `performance.now()`
   */
  update(serverUs: number, sentAt: number): void {
    const wayMs = performance.now() - sentAt
    const offsetMs = serverUs / 1_000 - sentAt
    const isKnown = offsetMs >= this.#offsetMs - this.#doubtMs && offsetMs - wayMs <= this.#offsetMs
    if (!isKnown) this.set(offsetMs, wayMs)
    else this.#refine(offsetMs, wayMs)
  }

  /** The server may run a request up to this long after the deadline, in milliseconds. */
  get lateAtMostMs(): number {
    return this.#doubtMs + 2 * SLACK_MS
  }

  /**
   * Returns the deadline `ms` from now, at most 90 s, as server time in µs. If the clock is unknown, returns a
   * time in the past, so that the server refuses the request and reports its time.
   *
   * The last three digits are the longest possible time until the deadline, in tenths of a second.
   * If the server finds a longer time, its clock was set back. Then the server refuses the request,
   * which could otherwise run long after its deadline.
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
   * Narrows the range of the offset. If the new range and the known range do not overlap, the
   * server's clock was changed. Then only the new range counts.
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

/** Returns the largest possible drift of the clocks between `bound.at` and `at`, in milliseconds. */
function driftMs(bound: Bound, at: number): number {
  return Math.abs(at - bound.at) * DRIFT
}
