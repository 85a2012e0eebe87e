/** Two readings of one clock through a network differ by about this much, in milliseconds. */
const SLACK_MS = 50

/** A request may be on its way for so long at most, in milliseconds; later it is sent anew. */
const LONGEST_WAY_MS = 90_000

/** So late is every server. */
const LONG_PAST_US = 1

/** Two clocks drift apart by less than this share of the time: NTP adds half of it at most, and quartz a tenth. */
const DRIFT = 0.001

/** A bound of the server's clock less `performance.now()`, as one answer told it. */
interface Bound {
  readonly offsetMs: number
  /** When that answer came, on `performance.now()`. */
  readonly at: number
}

const UNKNOWN: Bound = { offsetMs: Number.NaN, at: 0 }

/**
 * The server's clock as the client can tell it, for two purposes: to say in a request until when it
 * may still run, and to tell whether a call was made before a round of a latch began. It decides nothing else.
 */
export class ServerClock {
  #offsetMs = Number.NaN
  #doubtMs = 0
  /** The best bounds of the offset. */
  #least = UNKNOWN
  #most = UNKNOWN

  /**
   * @param offsetMs the server's clock less `performance.now()`, at the most that it can be
   * @param doubtMs how much less it can be
   */
  set(offsetMs: number, doubtMs: number): void {
    this.#offsetMs = offsetMs
    this.#doubtMs = doubtMs
    const at = performance.now()
    this.#least = { offsetMs: offsetMs - doubtMs, at }
    this.#most = { offsetMs, at }
  }

  /**
   * The server said that it is this late, to a request sent at `sentAt` on `performance.now()`. Where
   * that cannot be by what was known, its clock was set, forward or back.
   */
  heard(serverUs: number, sentAt: number): void {
    const wayMs = performance.now() - sentAt
    const offsetMs = serverUs / 1_000 - sentAt
    const isKnown = offsetMs >= this.#offsetMs - this.#doubtMs && offsetMs - wayMs <= this.#offsetMs
    if (!isKnown) this.set(offsetMs, wayMs)
    else this.#refine(offsetMs, wayMs)
  }

  /** How long after the time that it was given a request may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return this.#doubtMs + 2 * SLACK_MS
  }

  /**
   * The server's time in µs when `ms` from now have passed. If it is unknown it is past, so that the
   * request is refused and the server tells it. In the place of its last three digits it says, in tenths
   * of a second, how far ahead of the server's clock that is at the most: else that was set back, and the
   * request could run long after its time.
   */
  inUs(ms: number): number {
    if (Number.isNaN(this.#offsetMs)) return LONG_PAST_US
    const wayMs = Math.min(ms, LONGEST_WAY_MS) + SLACK_MS
    const atMs = Math.ceil(this.#offsetMs + performance.now() + wayMs)
    const tenths = Math.ceil((wayMs + this.#doubtMs + SLACK_MS) / 100)
    return atMs * 1_000 + Math.min(tenths, 999)
  }

  /** The server's time in µs at that moment on `performance.now()`, at the latest; 0 if unknown. */
  latestUs(at: number): number {
    return Number.isNaN(this.#offsetMs) ? 0 : Math.ceil(this.#offsetMs + at + SLACK_MS) * 1_000
  }

  /** The server's time in µs at that moment on `performance.now()`, as far as it is known; 0 if unknown. */
  timeUs(at: number): number {
    const offsetMs = (this.#least.offsetMs + this.#most.offsetMs) / 2
    return Number.isNaN(offsetMs) ? 0 : Math.ceil((offsetMs + at) * 1_000)
  }

  /** The moment on `performance.now()` at which the server's clock said that, at the earliest. */
  earliestAt(us: number): number {
    const at = us / 1_000 - this.#most.offsetMs
    return at - driftMs(this.#most, at)
  }

  /** Keeps the better bounds of both. If they contradict each other the clock was set. */
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

/** The most that the clocks can have drifted apart between that answer and that moment, in milliseconds. */
function driftMs(bound: Bound, at: number): number {
  return Math.abs(at - bound.at) * DRIFT
}
