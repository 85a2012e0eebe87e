import { type ClientFact, isTraced, type RenewFact, renewTrace, tellEnd } from '../diagnostics.ts'

/** One request of the watchdog as it is told of. */
export class RenewTrace {
  readonly #fact: RenewFact

  constructor(fact: RenewFact) {
    this.#fact = fact
    renewTrace.start.publish(fact)
  }

  sent(): void {
    renewTrace.end.publish(this.#fact)
  }

  /** @param error why it is not known of some of them */
  ended(renewed: number, gone: number, error: Error | undefined): void {
    const fact = this.#fact
    fact.renewed = renewed
    fact.gone = gone
    if (error !== undefined) fact.error = error
    tellEnd(renewTrace, fact)
  }
}

/** @returns undefined where nobody hears of it */
export function traceRenewal(
  { client, label }: ClientFact,
  holds: number,
  latenessMs: number,
): RenewTrace | undefined {
  if (!isTraced(renewTrace)) return undefined
  return new RenewTrace({ client, label, holds, latenessMs })
}
