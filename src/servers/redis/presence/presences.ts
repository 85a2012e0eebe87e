import type { OwnInfo, Presence } from '../../presence.ts'
import type { Connection } from '../connection/connection.ts'
import { RedisPresence } from './redis-presence.ts'

/**
 * Reports all clients that use one connection: the client that opened the connection, and clients
 * with RedLocks on the same server.
 */
export class Presences {
  readonly #connection: Connection
  readonly #timeoutMs: number
  readonly #all = new Map<string, RedisPresence>()

  constructor(connection: Connection, timeoutMs: number) {
    this.#connection = connection
    this.#timeoutMs = timeoutMs
  }

  of(own: OwnInfo): Presence {
    const { client } = own.info
    let presence = this.#all.get(client)
    if (presence === undefined) {
      const closed = () => this.#all.delete(client)
      presence = new RedisPresence(this.#connection, this.#timeoutMs, own, closed)
      this.#all.set(client, presence)
    }
    return presence
  }

  /**
   * Called when the connection is up. The server may not know the clients, so each client reports
   * again. The calls that waited for the connection go first.
   */
  onConnected(): void {
    if (this.#all.size === 0) return
    setImmediate(() => {
      const now = performance.now()
      for (const presence of this.#all.values()) presence.onConnected(now)
    })
  }

  /** Lets each client report itself if its report is due at `now`, on `performance.now()`. */
  touch(now: number): void {
    for (const presence of this.#all.values()) presence.touch(now)
  }

  withdrawAll(): void {
    for (const presence of this.#all.values()) presence.withdraw()
  }
}
