/**
 * After the first message, the shortest time for which the client waits for messages of a majority,
 * in milliseconds. If a majority usually needs longer to answer, the client waits for that time.
 */
const GATHER_MS = 10

/**
 * After a wake-up, the first message of each further master counts as a report of the same release.
 * This lasts for this many milliseconds plus two response times of a majority.
 */
const ROUND_MS = 100

/**
 * Decides which messages about one lock wake a waiter. Each master reports its own release, and the
 * lock is free only when a majority has released it. So the waiter sleeps until a majority has
 * reported, but only for a short time.
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
   * Called when no majority has reported the release in time. Wakes the waiter. From now on, a
   * message may be about another release.
   */
  #giveUp(): void {
    this.#timer = undefined
    this.#restart(performance.now())
    this.#onWake()
  }
}
