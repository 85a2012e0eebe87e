import { type Clock, pause, type Timer } from '../kit/clock.ts'

/** A turn is over after so many acquisitions, or so many milliseconds, if others wait. */
const MOST_ACQUISITIONS = 64
const LONGEST_MS = 5

/** So many tokens are asked for beside the one that the turn begins with. */
export const RESERVE = MOST_ACQUISITIONS - 1

/** How long a client that had its turn lets others ask first, in milliseconds. */
const STEP_BACK_MS = { least: 1, spread: 1 }
const LONGEST_POLITENESS_MS = 1_000

/**
 * Others who wait may be known to nobody: they cannot listen, and look at the lock now and then. When
 * a client has passed the lock around for so long it stays away for a part of that time.
 */
const UNBROKEN_MS = 1_000
const AWAY = { part: 0.04, longestMs: 250 }

/**
 * One client's turn at a lock, from its first acquisition to the one after which it lets others
 * have it. Without this a client could pass the lock around for ever, or take it again before
 * those that its release has woken can ask. When its turn is over it steps back behind them for
 * about as long as they need for theirs. Measured with `node bench/probes/lock/hand-over.mjs`.
 */
export class HandOverBudget {
  #acquisitions = 0
  #startedAt = 0
  #releasedAt = 0
  #politeUntil = 0
  /** Since when the lock has not been free for anybody else; undefined while it is. */
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
    // One who did not wait may have taken it while the others stayed away: that was no break.
    if (this.#awayUntil !== 0 && now >= this.#awayUntil) this.#unbrokenSince = now
    else this.#unbrokenSince ??= now
    this.#awayUntil = 0
  }

  get isUsedUp(): boolean {
    const tookMs = this.#clock.monotonic() - this.#startedAt
    return this.#acquisitions >= MOST_ACQUISITIONS || tookMs >= LONGEST_MS
  }

  /** Whether it is time that those have a chance who are known to nobody. */
  get isUnbroken(): boolean {
    return this.isUsedUp && this.#unbrokenMs >= UNBROKEN_MS
  }

  /** The lock was let go, for anybody to take. */
  letGo(): void {
    this.#unbrokenSince = undefined
  }

  /** The lock is let go, and those who wait here are not to ask for it for a while. */
  stayAway(): void {
    const ms = Math.min(this.#unbrokenMs * AWAY.part, AWAY.longestMs)
    this.#awayUntil = this.#clock.monotonic() + ms
  }

  /** How long those who wait here are not to ask yet, in milliseconds. */
  get awayMs(): number {
    return Math.max(0, this.#awayUntil - this.#clock.monotonic())
  }

  /** @param others how many other clients were woken by the release */
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
   * Whether there is nothing to remember of it.
   *
   * @param later called when that may have changed, if there is
   */
  isForgotten(later: () => void): boolean {
    const politeMs = this.#politeMs
    if (politeMs === 0) return true
    this.#clock.clear(this.#reminder)
    this.#reminder = this.#clock.after(politeMs + 1, later).unref()
    return false
  }

  /** Whether others are to be let ask first. */
  get isPolite(): boolean {
    return this.#politeMs > 0
  }

  /** Resolves when others have had their chance to ask. */
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
