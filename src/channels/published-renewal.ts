import { publishEnd, type RenewFact, renewTrace } from '../diagnostics.ts'
import type { RenewalObservation } from '../lock-observer.ts'

/** Publishes one request of the watchdog. */
export class PublishedRenewal implements RenewalObservation {
  readonly #fact: RenewFact

  constructor(fact: RenewFact) {
    this.#fact = fact
  }

  started(): void {
    renewTrace.end.publish(this.#fact)
  }

  ended(renewed: number, gone: number, error: Error | undefined): void {
    const fact = this.#fact
    fact.renewed = renewed
    fact.gone = gone
    if (error !== undefined) fact.error = error
    publishEnd(renewTrace, fact)
  }
}
