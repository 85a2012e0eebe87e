import type { CallFailure } from './call-failure.ts'

/**
 * A server that one client cannot reach, or that does not answer this client, or that refuses its
 * connection.
 */
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
  /** Called when the outage begins. The duration is 0. */
  outageBegan(outage: Outage): void
  /** Called at growing intervals while the outage continues. */
  outageGoesOn(outage: Outage): void
  /**
   * Called when the server answers again or has left its cluster, or when the client was closed.
   */
  outageEnded(outage: Outage, how: 'recovered' | 'closed'): void
}
