import { type Clock, pause, type Timer } from '../kit/clock.ts'

/** While other clients wait, the turn of a client ends after this many acquisitions. */
const MOST_ACQUISITIONS = 64
/** While other clients wait, the turn of a client ends after this many milliseconds. */
const LONGEST_MS = 5

/**
 * A hand-over request reserves this many tokens for later hand-overs, in addition to the token of the new holder. A
 * request to acquire a lock reserves the same number if several calls of this client wait for the lock.
 */
export const RESERVE = MOST_ACQUISITIONS - 1

/**
 * After its turn, a client pauses for `least` milliseconds plus a random part of `spread`
 * milliseconds. Other clients send their requests during the pause.
 */
const STEP_BACK_MS = { least: 1, spread: 1 }
/** After its turn, a client lets other clients ask first for at most this many milliseconds. */
const LONGEST_PRECEDENCE_MS = 1_000

/**
 * If other clients had no chance to acquire the lock for this many milliseconds, the client pauses even if the server
 * counts no other waiters. The server does not count waiters that only poll, because they cannot subscribe.
 */
export const UNBROKEN_MS = 1_000
/**
 * If other clients had no chance for `UNBROKEN_MS` or longer, the client pauses for the share `part` of that time. The
 * pause lasts at most `longestMs` milliseconds.
 */
const AWAY = { part: 0.04, longestMs: 250 }

/**
 * Limits the turn of one client at a lock. A turn begins with an acquisition, and ends after many acquisitions or some
 * milliseconds. Without a limit, the client could hand the lock over to its own waiters forever. After its turn, the
 * client lets other clients ask first, for about as long as their turns take.
 *
 * Measured with `node bench/probes/lock/hand-over.mjs`.
 */
export class HandOverBudget {
  #acquisitions = 0
  #startedAt = 0
  #releasedAt = 0
  #letsOthersUntil = 0
  /**
   * Since when no other client could acquire the lock, on the monotonic clock. Undefined after a
   * release that lets any client acquire the lock.
   */
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
    // If this client acquired the lock during its pause, the polling waiters had no chance. Then
    // `#unbrokenSince` stays.
    if (this.#awayUntil !== 0 && now >= this.#awayUntil) this.#unbrokenSince = now
    else this.#unbrokenSince ??= now
    this.#awayUntil = 0
  }

  /** True if the turn of this client has ended, by the number of acquisitions or by time. */
  get isUsedUp(): boolean {
    const tookMs = this.#clock.monotonic() - this.#startedAt
    return this.#acquisitions >= MOST_ACQUISITIONS || tookMs >= LONGEST_MS
  }

  /**
   * True if the client must pause after this release, because polling waiters of other clients had
   * no chance for too long.
   */
  get isUnbroken(): boolean {
    return this.isUsedUp && this.unbrokenMs >= UNBROKEN_MS
  }

  /** Records a release after which any client can acquire the lock at once. */
  letGo(): void {
    this.#unbrokenSince = undefined
  }

  /**
   * Called after a release that gives polling waiters of other clients a chance. The waiters of
   * this client then pause before their next request.
   *
   * @param longestMs the longest pause, in milliseconds
   */
  stayAway(longestMs: number = AWAY.longestMs): void {
    const ms = Math.min(this.unbrokenMs * AWAY.part, longestMs)
    this.#awayUntil = this.#clock.monotonic() + ms
  }

  /** The rest of the pause that `stayAway` began, in milliseconds; 0 if there is no pause. */
  get awayMs(): number {
    return Math.max(0, this.#awayUntil - this.#clock.monotonic())
  }

  /**
   * Called after each hand-over, and when the server has answered the last release of a hold. If the
   * turn of this client has ended, its waiters then let the other clients ask first.
   *
   * @param others how many other clients wait; 1 by default, because one client may wait if the
   * number is unknown
   */
  released(others = 1): void {
    this.#releasedAt = this.#clock.monotonic()
    if (!this.isUsedUp) return
    this.#acquisitions = 0
    if (others <= 0) return
    const tookMs = this.#releasedAt - this.#startedAt
    const theirsMs = Math.min(others * tookMs * 1.2, LONGEST_PRECEDENCE_MS)
    this.#letsOthersUntil = this.#releasedAt + theirsMs
  }

  /**
   * True if the client no longer lets other clients ask first. The client may then forget this object.
   *
   * @param later called when the result may have become true, if the result is false now
   */
  mayForget(later: () => void): boolean {
    const precedenceMs = this.#precedenceMs
    if (precedenceMs === 0) return true
    this.#clock.clear(this.#reminder)
    this.#reminder = this.#clock.after(precedenceMs + 1, later).unref()
    return false
  }

  /** True while other clients should ask first, because the turn of this client has ended. */
  get letsOthersAsk(): boolean {
    return this.#precedenceMs > 0
  }

  /** Resolves after a short random pause, in which other clients can send their requests. */
  async stepBack(): Promise<void> {
    const ms = STEP_BACK_MS.least + Math.random() * STEP_BACK_MS.spread
    await pause(this.#clock, ms)
  }

  /** For how long no other client could acquire the lock, in milliseconds. */
  get unbrokenMs(): number {
    return this.#unbrokenSince === undefined ? 0 : this.#clock.monotonic() - this.#unbrokenSince
  }

  get #precedenceMs(): number {
    return Math.max(0, this.#letsOthersUntil - this.#clock.monotonic())
  }
}
