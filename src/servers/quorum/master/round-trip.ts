/** The weight of the newest answer in the mean, and in the mean deviation. */
const WEIGHT = { mean: 1 / 8, deviation: 1 / 4 }

/** The usual response time of one server, computed much as TCP does (RFC 6298). */
export class RoundTrip {
  #meanMs = Number.NaN
  #deviationMs = 0

  took(ms: number): void {
    if (Number.isNaN(this.#meanMs)) {
      this.#meanMs = ms
      this.#deviationMs = ms / 4
      return
    }
    this.#deviationMs += WEIGHT.deviation * (Math.abs(ms - this.#meanMs) - this.#deviationMs)
    this.#meanMs += WEIGHT.mean * (ms - this.#meanMs)
  }

  /** Most answers arrive within this time, in milliseconds; Infinity before the first answer. */
  get usualMs(): number {
    return Number.isNaN(this.#meanMs) ? Infinity : this.#meanMs + 2 * this.#deviationMs
  }
}
