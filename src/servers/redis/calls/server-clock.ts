/** Two readings of one clock through a network differ by about this much, in milliseconds. */
const SLACK_MS = 50

/** A request may be on its way for so long at most, in milliseconds; later it is sent anew. */
const LONGEST_WAY_MS = 90_000

/** So late is every server. */
const LONG_PAST_US = 1

/**
 * The server's clock as the client can tell it, for one purpose: to say in a request until when it
 * may still run. It decides nothing else.
 */
export class ServerClock {
  #offsetMs = Number.NaN
  #doubtMs = 0

  /**
   * @param offsetMs the server's clock less `performance.now()`, at the most that it can be
   * @param doubtMs how much less it can be
   */
  set(offsetMs: number, doubtMs: number): void {
    this.#offsetMs = offsetMs
    this.#doubtMs = doubtMs
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
}
