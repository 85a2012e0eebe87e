import type { StandIn } from '../lease/stand-in.ts'
import type { LockServer } from '../servers/lock-server.ts'

/** Where the locks of one client live. */
export interface Place {
  readonly server: LockServer
  /** A longer lease is refused, in milliseconds; left out where any is taken. */
  readonly longestLeaseMs?: number
  /** Renews while the main thread cannot. */
  readonly standIn?: StandIn | undefined
}
