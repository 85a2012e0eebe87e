interface Timed {
  readonly roundTrip: { readonly usualMs: number }
}

/** The upper limit of `majorityMs`, in milliseconds. */
const LONGEST_MS = 250

/**
 * The response times of several masters. The fastest majority counts, because a slow minority
 * delays no decision.
 */
export class RoundTrips {
  readonly #masters: readonly Timed[]
  readonly #majority: number

  constructor(masters: readonly Timed[], majority: number) {
    this.#masters = masters
    this.#majority = majority
  }

  /** The usual time until a majority has answered, in milliseconds; 0 if this time is unknown. */
  get majorityMs(): number {
    const each = this.#masters.map(({ roundTrip }) => roundTrip.usualMs).sort((a, b) => a - b)
    const ms = each[this.#majority - 1] as number
    return ms === Infinity ? 0 : Math.min(ms, LONGEST_MS)
  }

  /**
   * True if the master usually needs more than `leastMs`, and more than twice as long as a
   * majority.
   */
  isSlow(master: Timed, leastMs: number): boolean {
    return master.roundTrip.usualMs > Math.max(leastMs, 2 * this.majorityMs)
  }
}
