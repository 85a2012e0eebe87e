import type { OwnInfo, Presence } from '../../presence.ts'
import type { Connection } from '../connection/connection.ts'
import { RedisPresence } from './redis-presence.ts'

/**
 * Reports all clients that use one connection. These are the client that opened the connection, and
 * the clients whose RedLocks have votes on its server.
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
   * Called when the connection is up, possibly to a server that knows no client. So each client
   * reports again, after the calls that waited for the connection were sent.
   */
  isUp(): void {
    if (this.#all.size === 0) return
    setImmediate(() => {
      const now = performance.now()
      for (const presence of this.#all.values()) presence.isUp(now)
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
