/** What grows with each attempt that fails, in milliseconds. */
const FIRST_MS = 50
/** The longest pause where nobody answers, and where somebody does and refuses, in milliseconds. */
const LONGEST_MS = { unreached: 250, refused: 500 }
/** A connection that lasts this long was a success, in milliseconds. */
const LASTING_MS = 1_000

/**
 * When a connection is made again: soon and for ever, at random moments so that many processes do
 * not come at once, and less often where a server answers that it does not want to.
 */
export class Backoff {
  #failed = 0
  #refused = 0
  #upAt = Infinity

  /** The server refused the connection, or what was sent over it by the wrong server. */
  refused(): void {
    this.#refused += 1
  }

  up(): void {
    this.#failed = 0
    this.#upAt = performance.now()
  }

  /** How long to pause before the next attempt, in milliseconds. */
  nextMs(): number {
    // One that was up and was refused at once is no better than one that never was.
    if (performance.now() - this.#upAt >= LASTING_MS) this.#refused = 0
    this.#upAt = Infinity
    const longestMs = this.#refused > 0 ? LONGEST_MS.refused : LONGEST_MS.unreached
    const doublings = Math.min(Math.max(this.#failed, this.#refused - 1), 10)
    this.#failed += 1
    return Math.min(FIRST_MS * 2 ** doublings, longestMs) * (0.5 + Math.random())
  }
}
