import { type HoldFact, type HoldOutcome, holdTrace, tellEnd } from '../diagnostics.ts'
import type { Clock } from '../kit/clock.ts'

/**
 * Publishes the fact of one hold to the diagnostics channels: at the grant, and when its outcome is
 * known.
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

  /** The holder has called the last `release()`. The server has not confirmed it yet. */
  letGo(): void {
    this.#fact.heldMs ??= this.#clock.monotonic() - this.#beganAt
  }

  /** Only the first call counts. */
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
