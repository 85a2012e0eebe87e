/** The first and the longest pause, in milliseconds. A random factor changes each pause. */
const [FIRST_MS, LONGEST_MS] = [50, 250]

/** A connection counts as a success after this time, in milliseconds. */
const LASTING_MS = 1_000

/**
 * After this many short connections in a row, the connection counts as flapping. Fewer may break by
 * chance.
 */
const FEW_SHORT = 3

/**
 * Sets the pause before each attempt to connect. The pauses are random, so that many processes do
 * not connect at once. Failures and refusals in a row make the pauses longer.
 */
export class Backoff {
  #failed = 0
  #refused = 0
  #upAt = Infinity
  #timer: NodeJS.Timeout | undefined
  /** The number of connections in a row that lasted less than `LASTING_MS`. */
  #short = 0

  /** Counts a refusal, or a connection to the wrong server. Only a lasting connection resets this count. */
  refused(): void {
    this.#refused += 1
  }

  /** True if the last connections broke soon after they were made. */
  get isFlapping(): boolean {
    return this.#short >= FEW_SHORT
  }

  up(): void {
    this.#failed = 0
    this.#upAt = performance.now()
  }

  /** Calls `connect` after the pause before the next attempt. */
  wait(connect: () => unknown): void {
    this.#timer = setTimeout(connect, this.nextMs()).unref()
  }

  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  /** Counts one more attempt. Returns the pause before the attempt, in milliseconds. */
  nextMs(): number {
    const upMs = performance.now() - this.#upAt
    if (upMs >= LASTING_MS) this.#refused = this.#short = 0
    else if (upMs > 0) this.#short += 1
    this.#upAt = Infinity
    const doublings = Math.min(Math.max(this.#failed, this.#refused - 1), 10)
    this.#failed += 1
    return Math.min(FIRST_MS * 2 ** doublings, LONGEST_MS) * (0.5 + Math.random())
  }
}
