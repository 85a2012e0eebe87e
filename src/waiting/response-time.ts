/** Of the usual time for an answer a longer silence is not usual any more. */
const TIMES = 4

/** A silence no longer than this is usual anyway, in milliseconds: nothing may have been heard yet. */
const SHORT_MS = 50

/** One answer moves the mean by so much. */
const WEIGHT = 1 / 8

/** How long one client waits for an answer as a rule. */
export class ResponseTime {
  #meanMs: number | undefined
  #isDue = false

  /** An answer came after so many milliseconds. */
  took(ms: number): void {
    this.#isDue = false
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT
  }

  /** An answer was waited for in vain, by somebody who then asks for something else. */
  missed(): void {
    this.#isDue = true
  }

  /** How long an answer takes on average, in milliseconds; undefined before the first one. */
  get meanMs(): number | undefined {
    return this.#meanMs
  }

  /** A silence that says nothing yet, in milliseconds. */
  get usualMs(): number {
    if (this.#isDue) return 0
    return Math.max(SHORT_MS, TIMES * (this.#meanMs ?? 0))
  }
}
