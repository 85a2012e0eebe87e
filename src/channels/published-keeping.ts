import { type KeepFact, keepTrace, publishEnd } from '../diagnostics.ts'
import type { Clock } from '../kit/clock.ts'
import type { KeepObservation } from '../lock-observer.ts'

/** Publishes the time in which the client keeps a lock: when it begins, and when it ends. */
export class PublishedKeeping implements KeepObservation {
  readonly #fact: KeepFact
  readonly #clock: Clock
  readonly #beganAt: number

  constructor(fact: KeepFact, clock: Clock) {
    this.#fact = fact
    this.#clock = clock
    this.#beganAt = clock.monotonic()
    keepTrace.start.publish(fact)
    keepTrace.end.publish(fact)
  }

  ended(outcome: NonNullable<KeepFact['outcome']>): void {
    this.#fact.outcome = outcome
    this.#fact.keptMs = this.#clock.monotonic() - this.#beganAt
    publishEnd(keepTrace, this.#fact)
  }
}
