import { isTraced, type OutageFact, outageTrace, publishEnd } from '../diagnostics.ts'
import { RedisUnavailableError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { withoutFullStop } from '../kit/without-full-stop.ts'
import type { Outage, OutageListener } from '../servers/availability/outage.ts'

/**
 * The words in the error of an outage, by the kind of failure. The first words are for the
 * beginning of the outage, the second for later reports.
 */
const WRONG = {
  unsent: ['cannot be reached', 'has not been reached'],
  unknown: ['gives no answer', 'has given no answer'],
  refused: ['answers with an error', 'has answered with errors'],
  unsupported: ['cannot be used', 'could not be used'],
} as const

interface ReportingClient {
  readonly owners: { readonly clientId: string }
  readonly settings: { readonly label: string }
  readonly emit: Emit
}

/**
 * Reports outages and background errors of a client's servers, as events and in a diagnostics
 * channel.
 */
export class ServerEvents implements OutageListener {
  readonly #client: ReportingClient
  /**
   * The published facts of the present outages, by address of the server. If the channel had no
   * listener when an outage began, the outage has no fact.
   */
  readonly #facts = new Map<string, OutageFact>()

  constructor(client: ReportingClient) {
    this.#client = client
  }

  /** Reports a failure of background work, because no call of the user can reject with it. */
  error(error: Error): void {
    this.#client.emit('error', error)
  }

  outageBegan(outage: Outage): void {
    if (isTraced(outageTrace)) {
      const { owners, settings } = this.#client
      const { address } = outage
      const fact = {
        client: owners.clientId,
        label: settings.label,
        address,
        error: errorOf(outage),
      }
      this.#facts.set(address, fact)
      outageTrace.start.publish(fact)
      outageTrace.end.publish(fact)
    }
    this.outageGoesOn(outage)
  }

  outageGoesOn(outage: Outage): void {
    const error = errorOf(outage)
    const { address, durationMs, attempts } = outage
    this.#client.emit('outage', { address, durationMs, attempts, error })
    this.#client.emit('error', error)
  }

  outageEnded(outage: Outage, how: 'recovered' | 'closed'): void {
    const { address, durationMs, attempts } = outage
    if (how === 'recovered') this.#client.emit('recovered', { address, durationMs, attempts })
    const fact = this.#facts.get(address)
    if (fact === undefined) return
    this.#facts.delete(address)
    fact.outcome = how
    fact.outageMs = durationMs
    fact.attempts = attempts
    fact.error = errorOf(outage)
    publishEnd(outageTrace, fact)
  }
}

function errorOf({ address, words, failure, durationMs, attempts }: Outage): RedisUnavailableError {
  const { kind, message, cause = failure } = failure
  const [at, since] = WRONG[kind as keyof typeof WRONG] ?? WRONG.unsent
  const wrong =
    durationMs === 0
      ? at
      : `${since} for ${Math.round(durationMs / 1_000)} s (${attempts} attempts failed)`
  const step = kind === 'refused' ? words.stepAfter(failure) : ''
  const error = new RedisUnavailableError(
    `${words.name} at ${address} ${wrong}: ${withoutFullStop(message)}.${step} The client retries. The event ` +
      '`recovered` reports when the server answers.',
    undefined,
    cause,
  )
  error.outage = { address, durationMs, attempts }
  return error
}
