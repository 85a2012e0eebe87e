import { ALIVE_MS, CLAIM_MS } from '../../fair-server.ts'
import type { Terms } from '../scripts/terms.ts'
import { BIRTH, INBOX } from './keys.ts'

/** What is learned when it is up. */
interface Connection {
  readonly sharded: boolean
  readonly runId: string
}

/** What one connection tells the scripts. It is one object for all requests, for they are many. */
export class ConnectionTerms implements Terms {
  /** Of the request that is being sent: it is of no use after that. */
  notAfterUs = 0
  readonly counterMs: number
  readonly birth = BIRTH
  readonly claimMs = CLAIM_MS
  readonly aliveMs = ALIVE_MS
  readonly inbox = INBOX
  readonly #connection: Connection

  constructor(connection: Connection, counterMs: number) {
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
