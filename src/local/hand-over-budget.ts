import { type Clock, pause, type Timer } from '../kit/clock.ts'

/**
 * While other clients wait, the turn of a client ends after this many acquisitions, or after this
 * many milliseconds.
 */
const MOST_ACQUISITIONS = 64
const LONGEST_MS = 5

/**
 * The number of tokens that an acquisition reserves for hand-overs, in addition to its own token.
 */
export const RESERVE = MOST_ACQUISITIONS - 1

/**
 * The random pause of a client whose turn has ended, in milliseconds: `least` plus a part of
 * `spread`. Other clients ask during the pause.
 */
const STEP_BACK_MS = { least: 1, spread: 1 }
const LONGEST_POLITENESS_MS = 1_000

/**
 * Waiters of other clients that cannot subscribe only poll the lock, so the server does not count
 * them. After hand-overs for `UNBROKEN_MS`, in milliseconds, the client therefore pauses for a part
 * of the elapsed time.
 */
const UNBROKEN_MS = 1_000
const AWAY = { part: 0.04, longestMs: 250 }

/**
 * Limits one client's turn at a lock, from its first acquisition until the client gives other
 * clients a chance. Without a limit, a client could hand the lock over forever, or acquire it again
 * before woken waiters ask. After its turn, the client pauses for about as long as the other
 * clients need for their turns. Measured with `node bench/probes/lock/hand-over.mjs`.
 */
export class HandOverBudget {
  #acquisitions = 0
  #startedAt = 0
  #releasedAt = 0
  #politeUntil = 0
  /** Since when no other client could acquire the lock; undefined while the lock is free. */
  #unbrokenSince: number | undefined
  #awayUntil = 0
  #reminder: Timer | undefined
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  acquired(): void {
    const now = this.#clock.monotonic()
    if (this.#acquisitions === 0 || now - this.#releasedAt > LONGEST_MS) {
      this.#startedAt = now
      this.#acquisitions = 0
    }
    this.#acquisitions += 1
    // The lock may be acquired during the pause by a call that did not wait. Then other clients had
    // no chance, and the unbroken time continues.
    if (this.#awayUntil !== 0 && now >= this.#awayUntil) this.#unbrokenSince = now
    else this.#unbrokenSince ??= now
    this.#awayUntil = 0
  }

  get isUsedUp(): boolean {
    const tookMs = this.#clock.monotonic() - this.#startedAt
    return this.#acquisitions >= MOST_ACQUISITIONS || tookMs >= LONGEST_MS
  }

  /**
   * True if the client must pause, because waiters that only poll have had no chance for too long.
   */
  get isUnbroken(): boolean {
    return this.isUsedUp && this.#unbrokenMs >= UNBROKEN_MS
  }

  /** Called when the lock was released, so any client may acquire it. */
  letGo(): void {
    this.#unbrokenSince = undefined
  }

  /**
   * Called when the lock is released for waiters that only poll. The waiters of this client then
   * pause before their next request.
   */
  stayAway(): void {
    const ms = Math.min(this.#unbrokenMs * AWAY.part, AWAY.longestMs)
    this.#awayUntil = this.#clock.monotonic() + ms
  }

  /** The rest of this pause, in milliseconds. */
  get awayMs(): number {
    return Math.max(0, this.#awayUntil - this.#clock.monotonic())
  }

  /** @param others the number of other clients that the release woke */
  released(others: number): void {
    this.#releasedAt = this.#clock.monotonic()
    if (!this.isUsedUp) return
    this.#acquisitions = 0
    if (others <= 0) return
    const tookMs = this.#releasedAt - this.#startedAt
    const theirsMs = Math.min(others * tookMs * 1.2, LONGEST_POLITENESS_MS)
    this.#politeUntil = this.#releasedAt + theirsMs
  }

  /**
   * True if the client need not remember this turn, because its pause is over.
   *
   * @param later called at the end of the pause, if the result is false
   */
  isForgotten(later: () => void): boolean {
    const politeMs = this.#politeMs
    if (politeMs === 0) return true
    this.#clock.clear(this.#reminder)
    this.#reminder = this.#clock.after(politeMs + 1, later).unref()
    return false
  }

  /** True if other clients should send their requests first. */
  get isPolite(): boolean {
    return this.#politeMs > 0
  }

  /** Resolves after a pause in which other clients can send their requests. */
  async stepBack(): Promise<void> {
    const ms = STEP_BACK_MS.least + Math.random() * STEP_BACK_MS.spread
    await pause(this.#clock, ms)
  }

  get #unbrokenMs(): number {
    return this.#unbrokenSince === undefined ? 0 : this.#clock.monotonic() - this.#unbrokenSince
  }

  get #politeMs(): number {
    return Math.max(0, this.#politeUntil - this.#clock.monotonic())
  }
}
