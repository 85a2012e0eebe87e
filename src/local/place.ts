import type { Clock } from '../kit/clock.ts'
import type { StandIn } from '../lease/stand-in.ts'
import type { LockServer } from '../servers/lock-server.ts'

/** The server or quorum with the locks of a client. */
export interface Place {
  readonly server: LockServer
  /** The longest lease that clients may request, in milliseconds. Default: no limit. */
  readonly longestLeaseMs?: number
  /** Clients warn about leases that are shorter than this, in milliseconds. Default: no warning. */
  readonly leastLeaseMs?: number
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Renews leases while the main thread is blocked. */
  readonly standIn?: StandIn | undefined
}

/** A server or quorum that a client opened for itself. */
export interface ClientPlace extends Place {
  /** The prefix of every lock name, unless the client has its own prefix. */
  readonly keyPrefix: string
  /** True if all keys of one lock must share a slot of a cluster. */
  readonly clustered: boolean
  /** The address for errors and logs, without a login. */
  readonly address?: string
  /**
   * Closes everything that was opened for the client. The client must hold no locks at this time.
   */
  close(): Promise<void>
}
