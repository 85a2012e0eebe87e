import type { RoundTrip } from './round-trip.ts'

/** One of those who are asked. */
interface Timed {
  readonly roundTrip: RoundTrip
}

/** What is read from round trips is never longer than this, in milliseconds. */
const LONGEST_MS = 250

/** How fast several masters are: the majority that answers first, for a slow minority is no measure. */
export class RoundTrips {
  readonly #masters: readonly Timed[]
  readonly #majority: number

  constructor(masters: readonly Timed[], majority: number) {
    this.#masters = masters
    this.#majority = majority
  }

  /** How long a majority usually takes to answer, in milliseconds; 0 while that is not known. */
  get majorityMs(): number {
    const each = this.#masters.map(({ roundTrip }) => roundTrip.usualMs).sort((a, b) => a - b)
    const ms = each[this.#majority - 1] as number
    return ms === Infinity ? 0 : Math.min(ms, LONGEST_MS)
  }

  /** Whether the others have mostly answered before it does. */
  isSlow(master: Timed, leastMs: number): boolean {
    return master.roundTrip.usualMs > Math.max(leastMs, 2 * this.majorityMs)
  }
}
