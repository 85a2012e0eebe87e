import type { CallFailure } from '../call-failure.ts'
import type { ServerWords } from '../server-words.ts'

/**
 * An outage: a client cannot reach a server, or the server does not answer, or refuses the
 * connection.
 */
export interface Outage {
  /** The address of the server, for messages. It contains no login. */
  readonly address: string
  readonly words: ServerWords
  /** The failure of the last attempt. */
  readonly failure: CallFailure
  /** The time since the first failure, in milliseconds. At the end: the duration of the whole outage. */
  readonly durationMs: number
  /** The number of failed attempts since the outage began. */
  readonly attempts: number
}

export interface OutageListener {
  /** Called when the outage begins, with a duration of 0. */
  outageBegan(outage: Outage): void
  /** Called while attempts fail, at intervals that grow to five minutes. */
  outageGoesOn(outage: Outage): void
  /**
   * Called when the outage is over. `recovered` means that the server answers again or has left its
   * cluster. `closed` means that the client was closed.
   */
  outageEnded(outage: Outage, how: 'recovered' | 'closed'): void
}
