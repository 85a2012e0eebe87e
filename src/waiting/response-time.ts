/** Of the usual time for an answer a longer silence is not usual any more. */
const TIMES = 4

/** A silence no longer than this is usual anyway, in milliseconds: nothing may have been heard yet. */
const SHORT_MS = 50

/** One answer moves the mean by so much. */
const WEIGHT = 1 / 8

/** After fewer answers, each to a request later than the answer before, all may have been late for one reason. */
const ENOUGH = 10

/** How long one client waits for an answer as a rule. */
export class ResponseTime {
  #meanMs: number | undefined
  #quickestMs = Infinity
  #rounds = 0
  #roundEndedAt = 0
  #isDue = false

  /** An answer came then to a request that was sent then; both by the clock that never goes back. */
  took(sentAt: number, answeredAt: number): void {
    const ms = answeredAt - sentAt
    this.#isDue = false
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT
    if (ms < this.#quickestMs) this.#quickestMs = ms
    if (sentAt < this.#roundEndedAt) return
    this.#roundEndedAt = answeredAt
    this.#rounds++
  }

  /** An answer was waited for in vain, by somebody who then asks for something else. */
  missed(): void {
    this.#isDue = true
  }

  get hasAnswer(): boolean {
    return this.#meanMs !== undefined
  }

  /** How long each answer takes at least, in milliseconds; 0 while there were few. A busy process does not count. */
  get quickestMs(): number {
    return this.#rounds < ENOUGH ? 0 : this.#quickestMs
  }

  /** A silence that says nothing yet, in milliseconds. */
  get usualMs(): number {
    if (this.#isDue) return 0
    return Math.max(SHORT_MS, TIMES * (this.#meanMs ?? 0))
  }
}
