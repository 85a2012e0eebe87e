import type { Clock } from '../../kit/clock.ts'

/** So long anything is held at first while another lock is waited for, in milliseconds. */
const MOMENT_MS = 50

/** Out of order it is this part of the time that was waited before, and no longer than that. */
const OUT_OF_ORDER = 1 / 50

/** When it was too short it is up to half the time that was waited, and no longer than this; */
const SECOND_REACH_MS = 4_000
/** and that is so much longer each time. */
const GROWTH = 4

/**
 * For how long some of several locks are held while another of them is waited for.
 *
 * Held locks are missing to those who want only them. So that is a moment, and then nothing is held.
 * But where all of them are always wanted by others, who holds nothing never gets all. So it is longer
 * each time that it was too short: whatever a lock takes to be had, it is long enough one day. This is
 * for locks that come before the one that is missing, in the order that all clients keep; who waits
 * in that order waits for nobody who waits for him. Out of order it stays a moment, and where the
 * missing one has a queue, which a moment would not do for, it is nothing.
 *
 * It has an end in any case, and not the same for two who began at once: where the order is not the
 * same for all, and for locks that are taken outside any group, they get out of each other's way.
 */
export class HoldingTime {
  readonly #clock: Clock
  readonly #startedAt: number
  #tooShort = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  /**
   * @param inOrder whether all that is held comes before what is missing
   * @param queue whether what is missing is waited for in turn
   * @returns milliseconds
   */
  next(inOrder: boolean, queue: boolean): number {
    const waitedMs = this.#clock.monotonic() - this.#startedAt
    const spread = 0.75 + Math.random() * 0.5
    if (!inOrder) return queue ? 0 : Math.min(MOMENT_MS, waitedMs * OUT_OF_ORDER) * spread
    if (this.#tooShort === 0) return MOMENT_MS * spread
    const longestMs = SECOND_REACH_MS * GROWTH ** (this.#tooShort - 1)
    return Math.max(MOMENT_MS, Math.min(waitedMs / 2, longestMs)) * spread
  }

  /** It was not enough for what was missing. */
  wasTooShort(inOrder: boolean): void {
    if (inOrder) this.#tooShort += 1
  }
}
