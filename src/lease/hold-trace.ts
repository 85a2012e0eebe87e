import { type HoldFact, type HoldOutcome, holdTrace, tellEnd } from '../diagnostics.ts'
import type { Clock } from '../kit/clock.ts'

/**
 * Publishes the fact of one hold to the diagnostics channels: once at the grant, and once when the
 * outcome is known.
 */
export class HoldTrace {
  readonly #fact: HoldFact
  readonly #clock: Clock
  readonly #beganAt: number

  constructor(fact: HoldFact, clock: Clock) {
    this.#fact = fact
    this.#clock = clock
    this.#beganAt = clock.monotonic()
    holdTrace.start.publish(fact)
    holdTrace.end.publish(fact)
  }

  /**
   * Called when the holder has called the last `release()`, before the server confirms the release.
   */
  letGo(): void {
    this.#fact.heldMs ??= this.#clock.monotonic() - this.#beganAt
  }

  /** Publishes the outcome of the hold. Only the first call has an effect. */
  ended(outcome: HoldOutcome, error?: unknown, stalledMs?: number): void {
    const fact = this.#fact
    if (fact.outcome !== undefined) return
    this.letGo()
    fact.outcome = outcome
    if (error !== undefined) fact.error = error
    if (stalledMs !== undefined) fact.stalledMs = stalledMs
    tellEnd(holdTrace, fact)
  }
}
