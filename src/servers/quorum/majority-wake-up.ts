/**
 * How long the waiter sleeps after the first message if no majority reports, in milliseconds. The
 * waiter sleeps longer if a majority usually needs longer to answer.
 */
const GATHER_MS = 10

/**
 * For how long after a wake-up a message of another master belongs to the same release, in
 * milliseconds. Two response times of a majority are added.
 */
const ROUND_MS = 100

/**
 * Decides when messages about releases of one lock wake a waiter. The lock is free only when a
 * majority has released it, so the waiter usually sleeps until a majority has reported. After a
 * short time, the waiter wakes anyway.
 */
export class MajorityWakeUp {
  readonly #majority: number
  readonly #roundTripMs: () => number
  readonly #onWake: () => void
  /** The masters that have reported the current release. */
  readonly #received = new Set<object>()
  #startedAt = 0
  #woken = false
  #timer: NodeJS.Timeout | undefined

  /** @param roundTripMs returns the present response time of a majority, in milliseconds */
  constructor(majority: number, roundTripMs: () => number, onWake: () => void) {
    this.#majority = majority
    this.#roundTripMs = roundTripMs
    this.#onWake = onWake
  }

  /**
   * Counts a message of a master. Wakes the waiter if `isFirst` is true, or if a majority has
   * reported the release.
   *
   * @param isFirst true if this client will ask this master first
   */
  wokenBy(master: object, isFirst: boolean): void {
    const now = performance.now()
    if (this.#woken) {
      const roundMs = ROUND_MS + 2 * this.#roundTripMs()
      const isLate = !this.#received.has(master) && now - this.#startedAt < roundMs
      if (!isLate) this.#restart(now)
    }
    this.#received.add(master)
    if (this.#woken) return
    if (isFirst || this.#received.size >= this.#majority) this.#wake()
    else if (this.#timer === undefined) {
      const gatherMs = Math.max(GATHER_MS, this.#roundTripMs())
      this.#timer = setTimeout(() => this.#giveUp(), gatherMs).unref()
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #restart(now: number): void {
    this.#received.clear()
    this.#woken = false
    this.#startedAt = now
  }

  #wake(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#woken = true
    this.#startedAt = performance.now()
    this.#onWake()
  }

  /**
   * Wakes the waiter, because no majority has reported the release in time. The next message counts
   * as a new release.
   */
  #giveUp(): void {
    this.#timer = undefined
    this.#restart(performance.now())
    this.#onWake()
  }
}
