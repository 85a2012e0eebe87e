/** The time between two checks of the clock, in milliseconds. */
const LOOK_MS = 20

/** Measures how long this process stands still. The upper time limits of tests do not count this time. */
export class Stalls {
  #ms = 0
  #lookedAt = performance.now()
  readonly #looks = setInterval(() => this.#look(), LOOK_MS).unref()

  /**
   * The sum of the stalls until now, in milliseconds. A stall is a gap of more than twice `LOOK_MS` between two checks.
   */
  get ms(): number {
    this.#look()
    return this.#ms
  }

  stop(): void {
    clearInterval(this.#looks)
  }

  #look(): void {
    const now = performance.now()
    const gapMs = now - this.#lookedAt
    this.#lookedAt = now
    if (gapMs > 2 * LOOK_MS) this.#ms += gapMs - LOOK_MS
  }
}
