/** The first pause, and the longest one, in milliseconds, before chance has its say. */
const [FIRST_MS, LONGEST_MS] = [50, 250]

/** A connection that lasts this long was a success, in milliseconds. */
const LASTING_MS = 1_000

/**
 * When a connection is made again: soon and for ever, at random moments so that many processes do
 * not come at once. One that was up and was refused at once is no better than one that never was.
 */
export class Backoff {
  #failed = 0
  #refused = 0
  #upAt = Infinity

  /** The server refused the connection, or what was sent over it because it is the wrong server. */
  refused(): void {
    this.#refused += 1
  }

  up(): void {
    this.#failed = 0
    this.#upAt = performance.now()
  }

  /** How long to pause before the next attempt, in milliseconds. */
  nextMs(): number {
    if (performance.now() - this.#upAt >= LASTING_MS) this.#refused = 0
    this.#upAt = Infinity
    const doublings = Math.min(Math.max(this.#failed, this.#refused - 1), 10)
    this.#failed += 1
    return Math.min(FIRST_MS * 2 ** doublings, LONGEST_MS) * (0.5 + Math.random())
  }
}
