import { setTimeout as pause } from 'node:timers/promises'

/** A turn is over after so many acquisitions, or so many milliseconds, if others wait. */
const MOST_ACQUISITIONS = 64
const LONGEST_MS = 5

/** So many tokens are asked for beside the one that the turn begins with. */
export const RESERVE = MOST_ACQUISITIONS - 1

/** How long a client that had its turn lets others ask first, in milliseconds. */
const STEP_BACK_MS = { least: 1, spread: 1 }
const LONGEST_POLITENESS_MS = 1_000

/**
 * One client's turn at a lock, from its first acquisition to the one after which it lets others
 * have it. Without this a client could pass the lock around for ever, or take it again before
 * those that its release has woken can ask. When its turn is over it steps back behind them for
 * about as long as they need for theirs. Measured with `node bench/hand-over.mjs`.
 */
export class Turn {
  #acquisitions = 0
  #startedAt = 0
  #releasedAt = 0
  #politeUntil = 0
  #reminder: NodeJS.Timeout | undefined

  acquired(): void {
    const now = performance.now()
    if (this.#acquisitions === 0 || now - this.#releasedAt > LONGEST_MS) {
      this.#startedAt = now
      this.#acquisitions = 0
    }
    this.#acquisitions += 1
  }

  get over(): boolean {
    const tookMs = performance.now() - this.#startedAt
    return this.#acquisitions >= MOST_ACQUISITIONS || tookMs >= LONGEST_MS
  }

  /** @param others how many other clients were woken by the release */
  released(others: number): void {
    this.#releasedAt = performance.now()
    if (!this.over) return
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
    clearTimeout(this.#reminder)
    this.#reminder = setTimeout(later, politeMs + 1).unref()
    return false
  }

  /** Whether others are to be let ask first. */
  get isPolite(): boolean {
    return this.#politeMs > 0
  }

  /** Resolves when others have had their chance to ask. */
  async stepBack(): Promise<void> {
    const ms = STEP_BACK_MS.least + Math.random() * STEP_BACK_MS.spread
    await pause(ms)
  }

  get #politeMs(): number {
    return Math.max(0, this.#politeUntil - performance.now())
  }
}
