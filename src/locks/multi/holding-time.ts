import type { Clock } from '../../kit/clock.ts'

/**
 * The first holding time while the call waits for another lock, in milliseconds. Every holding time
 * is also multiplied by a random factor.
 */
const MOMENT_MS = 50

/**
 * If some held locks come after the missing lock, the holding time is this share of the time waited
 * so far, but at most `MOMENT_MS`. It is 0 if callers queue for the missing lock.
 */
const OUT_OF_ORDER = 1 / 50

/**
 * The second holding time is half of the time waited so far. It is at least `MOMENT_MS`, and at most
 * this many milliseconds.
 */
const LONGEST_SECOND_MS = 4_000
/** After each further holding time that was too short, the longest holding time grows by this factor. */
const GROWTH = 4

/**
 * Decides how long a call holds some of its locks while it waits for another lock.
 *
 * Meanwhile other callers must wait for the held locks, so the first holding time is short. But a
 * caller that releases its locks again and again may never get all of them. So after a holding time
 * that was too short, the next holding time is longer.
 *
 * The holding time grows only if all held locks come before the missing lock in the order that all
 * clients share. Callers that wait in this order cannot wait for each other. Otherwise the holding
 * time stays short. It is then zero for a missing lock with a queue, because a short time would not
 * be enough.
 *
 * The holding time is limited and partly random, so that callers without a common order cannot
 * block each other forever.
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
   * @param inOrder true if all held locks come before the missing lock
   * @param queue true if callers queue for the missing lock
   * @returns the next holding time, in milliseconds; 0 if the call should release its locks at once
   */
  next(inOrder: boolean, queue: boolean): number {
    const waitedMs = this.#clock.monotonic() - this.#startedAt
    const spread = 0.75 + Math.random() * 0.5
    if (!inOrder) return queue ? 0 : Math.min(MOMENT_MS, waitedMs * OUT_OF_ORDER) * spread
    if (this.#tooShort === 0) return MOMENT_MS * spread
    const longestMs = LONGEST_SECOND_MS * GROWTH ** (this.#tooShort - 1)
    return Math.max(MOMENT_MS, Math.min(waitedMs / 2, longestMs)) * spread
  }

  /** Called if the missing lock was not acquired within the last holding time. */
  wasTooShort(inOrder: boolean): void {
    if (inOrder) this.#tooShort += 1
  }
}
