/** Two readings of one clock through a network differ by about this much, in milliseconds. */
const SLACK_MS = 50

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

  /** The server said that it is this late; believe it where it is ahead of what was known. */
  heard(serverUs: number): void {
    const offsetMs = serverUs / 1_000 - performance.now()
    if (!(this.#offsetMs >= offsetMs)) this.#offsetMs = offsetMs
  }

  /** How long after the time that it was given a request may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return this.#doubtMs + 2 * SLACK_MS
  }

  /** The server's time in µs when `ms` from now have passed; 0, which is never, if unknown. */
  inUs(ms: number): number {
    if (Number.isNaN(this.#offsetMs)) return 0
    return Math.ceil((this.#offsetMs + performance.now() + ms + SLACK_MS) * 1_000)
  }
}
