/**
 * How long the first message waits for those of a majority, in milliseconds; longer where masters are
 * further away: for as long as a majority takes to answer, since a release has the same ways to go.
 */
const GATHER_MS = 10

/** Messages of masters that had sent none count as of the same release for so long, and two round trips. */
const ROUND_MS = 100

/**
 * What one waiting client hears of the releases of one lock. A release is told by each master, and
 * the lock cannot be had before a majority has let it go: so that is waited for, or a moment.
 */
export class MajorityWakeUp {
  readonly #majority: number
  readonly #roundTripMs: () => number
  readonly #onWake: () => void
  /** Those that have told of the release that is just heard of. */
  readonly #heard = new Set<object>()
  #startedAt = 0
  #woken = false
  #timer: NodeJS.Timeout | undefined

  /** @param roundTripMs how long a majority takes to answer at the moment */
  constructor(majority: number, roundTripMs: () => number, onWake: () => void) {
    this.#majority = majority
    this.#roundTripMs = roundTripMs
    this.#onWake = onWake
  }

  /** @param isFirst whether it is the one that is to be asked first: then there is nothing to wait for */
  told(master: object, isFirst: boolean): void {
    const now = performance.now()
    if (this.#woken) {
      const roundMs = ROUND_MS + 2 * this.#roundTripMs()
      const isLate = !this.#heard.has(master) && now - this.#startedAt < roundMs
      if (!isLate) this.#begin(now)
    }
    this.#heard.add(master)
    if (this.#woken) return
    if (isFirst || this.#heard.size >= this.#majority) this.#wake()
    else if (this.#timer === undefined) {
      const gatherMs = Math.max(GATHER_MS, this.#roundTripMs())
      this.#timer = setTimeout(() => this.#giveUp(), gatherMs).unref()
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #begin(now: number): void {
    this.#heard.clear()
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

  /** No majority has told of it: each message from now on may be news. */
  #giveUp(): void {
    this.#timer = undefined
    this.#begin(performance.now())
    this.#onWake()
  }
}
