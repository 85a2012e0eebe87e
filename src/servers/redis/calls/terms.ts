import { ALIVE_MS, CLAIM_MS } from '../../fair-server.ts'
import type { Terms } from '../scripts/terms.ts'
import { BIRTH, INBOX } from './keys.ts'

/** Values that are known only when the connection is up. */
interface ConnectionState {
  readonly sharded: boolean
  readonly runId: string
}

/**
 * The arguments that one connection adds to scripts. All requests share one object, to save time.
 */
export class ConnectionTerms implements Terms {
  /**
   * The deadline of the request that is being sent, in µs of the server's time. The next request
   * changes the value.
   */
  notAfterUs = 0
  readonly counterMs: number
  readonly birth = BIRTH
  readonly claimMs = CLAIM_MS
  readonly aliveMs = ALIVE_MS
  readonly inbox = INBOX
  readonly #connection: ConnectionState

  constructor(connection: ConnectionState, counterMs: number) {
    this.#connection = connection
    this.counterMs = counterMs
  }

  get publish(): 'PUBLISH' | 'SPUBLISH' {
    return this.#connection.sharded ? 'SPUBLISH' : 'PUBLISH'
  }

  get runId(): string {
    return this.#connection.runId
  }
}
