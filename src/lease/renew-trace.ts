import {
  type ClientFact,
  isTraced,
  publishEnd,
  type RenewFact,
  renewTrace,
} from '../diagnostics.ts'

/** Publishes one request of the watchdog to the diagnostics channel. */
export class RenewTrace {
  readonly #fact: RenewFact

  constructor(fact: RenewFact) {
    this.#fact = fact
    renewTrace.start.publish(fact)
  }

  sent(): void {
    renewTrace.end.publish(this.#fact)
  }

  /**
   * Publishes the end of the request.
   *
   * @param error the reason if the state of some holds is unknown; undefined if the server answered
   * for all holds
   */
  publishEnd(renewed: number, gone: number, error: Error | undefined): void {
    const fact = this.#fact
    fact.renewed = renewed
    fact.gone = gone
    if (error !== undefined) fact.error = error
    publishEnd(renewTrace, fact)
  }
}

/** Begins to publish a request. Returns undefined if the diagnostics channel has no subscriber. */
export function traceRenewal(
  { client, label }: ClientFact,
  holds: number,
  latenessMs: number,
): RenewTrace | undefined {
  if (!isTraced(renewTrace)) return undefined
  return new RenewTrace({ client, label, holds, latenessMs })
}
