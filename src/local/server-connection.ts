import type { Clock } from '../kit/clock.ts'
import type { StandIn } from '../lease/stand-in.ts'
import type { LockServer } from '../servers/lock-server.ts'
import type { NameRule } from '../servers/raw-name.ts'

/** The server or quorum that stores the locks of a client. */
export interface ServerConnection {
  readonly server: LockServer
  /**
   * The longest lease that clients may request, in milliseconds. Undefined if there is no limit.
   */
  readonly longestLeaseMs?: number
  /**
   * Clients warn about leases shorter than this time, in milliseconds. Undefined if clients give no
   * such warnings.
   */
  readonly leastLeaseMs?: number
  /** The clock of the client; undefined means the system clock. */
  readonly clock?: Clock
  /**
   * Renews leases while the main thread is blocked. Undefined if only the watchdog renews leases.
   */
  readonly standIn?: StandIn | undefined
}

/** A server or quorum that only one client uses. */
export interface ClientConnection extends ServerConnection {
  /** The prefix of every lock name, unless the client has its own `keyPrefix`. */
  readonly keyPrefix: string
  /** The rule of the server for the names of locks. Undefined if the server accepts every name. */
  readonly nameRule?: NameRule | undefined
  /**
   * The address for errors and logs, without a username and a password. A list if there are several
   * servers. Undefined for a server in memory.
   */
  readonly address?: string
  /** Closes all connections and other parts that were created for the client. */
  disconnect(): Promise<void>
}
