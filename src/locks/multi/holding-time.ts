import type { Clock } from '../../kit/clock.ts'

/** The first holding time while the call waits for another lock, in milliseconds. */
const MOMENT_MS = 50

/**
 * If the held locks do not all come before the missing lock, the holding time is this share of the
 * time waited so far. It is never longer than the first holding time.
 */
const OUT_OF_ORDER = 1 / 50

/**
 * The limit of the second holding time, in milliseconds. Up to this limit, the holding time is half
 * of the time waited so far.
 */
const SECOND_REACH_MS = 4_000
/** The limit grows by this factor after each holding time that was too short. */
const GROWTH = 4

/**
 * Decides how long some of several locks are held while the call waits for another lock.
 *
 * Callers that want only one of the held locks must wait for it. So at first the locks are held
 * briefly, and then released. But other callers may always want all of these locks. Then a caller
 * that holds nothing never acquires all of them. So the time grows each time that it was too short,
 * until it is long enough. This applies only if all held locks come before the missing lock, in the
 * order that all clients share. Callers that wait in this order cannot wait for each other. If the
 * held locks are not in this order, the holding time is short. It is zero if the missing lock also
 * has a queue, because a short time would not be enough.
 *
 * The time is limited and partly random, so it differs for callers that began at once. So callers
 * without a common order, or with other locks of their own, cannot block each other forever.
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

  /** The missing lock was not acquired within the last holding time. */
  wasTooShort(inOrder: boolean): void {
    if (inOrder) this.#tooShort += 1
  }
}
