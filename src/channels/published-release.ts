import { publishEnd, type ReleaseFact, releaseTrace } from '../diagnostics.ts'
import type { ReleaseObservation } from '../lock-observer.ts'

/** Publishes the last release of one hold. */
export class PublishedRelease implements ReleaseObservation {
  readonly #fact: ReleaseFact

  constructor(fact: ReleaseFact) {
    this.#fact = fact
  }

  started(): void {
    releaseTrace.end.publish(this.#fact)
  }

  ended(outcome: NonNullable<ReleaseFact['outcome']>, error?: unknown): void {
    const fact = this.#fact
    fact.outcome = outcome
    if (error !== undefined) fact.error = error
    publishEnd(releaseTrace, fact)
  }
}
