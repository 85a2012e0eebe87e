import { type HoldFact, type HoldOutcome, holdTrace, publishEnd } from '../diagnostics.ts'
import type { Clock } from '../kit/clock.ts'
import type { HoldObservation } from '../lock-observer.ts'

/** Publishes one hold to its diagnostics channel: when it begins, and when its outcome is known. */
export class PublishedHold implements HoldObservation {
  readonly #fact: HoldFact
  readonly #clock: Clock
  readonly #beganAt: number

  constructor(fact: HoldFact, clock: Clock) {
    this.#fact = fact
    this.#clock = clock
    this.#beganAt = clock.monotonic()
  }

  publishStart(): void {
    holdTrace.start.publish(this.#fact)
    holdTrace.end.publish(this.#fact)
  }

  /**
   * Called at the last `release()` of the hold. The duration of the hold ends now, before the
   * server confirms the release.
   */
  letGo(): void {
    this.#fact.heldMs ??= this.#clock.monotonic() - this.#beganAt
  }

  ended(outcome: HoldOutcome, error?: unknown, stalledMs?: number): void {
    const fact = this.#fact
    if (fact.outcome !== undefined) return
    this.letGo()
    fact.outcome = outcome
    if (error !== undefined) fact.error = error
    if (stalledMs !== undefined) fact.stalledMs = stalledMs
    publishEnd(holdTrace, fact)
  }
}
