import type { CallFailure } from './call-failure.ts'

/** A server that cannot be reached, gives no answer, or refuses the connection, as one client finds it. */
export interface Outage {
  /** Where the server is, for people; no login. */
  readonly address: string
  /** What failed last. */
  readonly failure: CallFailure
  /** Since the first failure, in milliseconds. */
  readonly durationMs: number
  /** How many attempts have failed since then. */
  readonly attempts: number
}

/** Who hears of outages. */
export interface OutageListener {
  /** It begins, with a duration of 0. */
  outageBegan(outage: Outage): void
  /** It goes on: told at growing intervals. */
  outageGoesOn(outage: Outage): void
  /** The server answers again, or is a part of its cluster no more; or the client was closed. */
  outageEnded(outage: Outage, how: 'recovered' | 'closed'): void
}
