import type { CallFailure } from './call-failure.ts'

/** A server that one client cannot reach, or that does not answer or refuses the connection. */
export interface Outage {
  /** The address of the server, for messages; without login. */
  readonly address: string
  /** The last failure. */
  readonly failure: CallFailure
  /** The time since the first failure, in milliseconds. */
  readonly durationMs: number
  /** How many attempts have failed since then. */
  readonly attempts: number
}

export interface OutageListener {
  /** The outage begins, with a duration of 0. */
  outageBegan(outage: Outage): void
  /** The outage continues. Called at growing intervals. */
  outageGoesOn(outage: Outage): void
  /** The server answers again, or has left its cluster, or the client was closed. */
  outageEnded(outage: Outage, how: 'recovered' | 'closed'): void
}
