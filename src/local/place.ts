import type { Clock } from '../kit/clock.ts'
import type { StandIn } from '../lease/stand-in.ts'
import type { LockServer } from '../servers/lock-server.ts'

/** Where the locks of one client live. */
export interface Place {
  readonly server: LockServer
  /** A longer lease is refused, in milliseconds; left out where any is taken. */
  readonly longestLeaseMs?: number
  /** A shorter lease is hardly of use there, in milliseconds; left out if any may be. */
  readonly leastLeaseMs?: number
  /** The time of the client; left out where that is the real one. */
  readonly clock?: Clock
  /** Renews while the main thread cannot. */
  readonly standIn?: StandIn | undefined
}

/** A place as a client opens it for itself. */
export interface ClientPlace extends Place {
  /** Put before every lock name, unless the client has a prefix of its own. */
  readonly keyPrefix: string
  /** Whether the names of a lock have to share a slot. */
  readonly clustered: boolean
  /** Where it is, for people; no login. */
  readonly address?: string
  /** Ends what was opened for the client, which has let go of all locks. */
  close(): Promise<void>
}
