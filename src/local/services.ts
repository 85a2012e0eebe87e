import type { Emit } from '../events.ts'
import type { Clock } from '../lease/clock.ts'
import type { Lease } from '../lease/lease.ts'
import type { Watchdog } from '../lease/watchdog.ts'
import type { HeldLeases } from '../owner/held-leases.ts'
import type { FairServer } from '../servers/fair-server.ts'
import type { LockServer } from '../servers/lock-server.ts'
import type { PendingReleases } from '../servers/pending-releases.ts'
import type { Limits } from '../waiting/retry-budget.ts'

/** What all locks of one client at one place share. */
export interface Services {
  readonly server: LockServer
  /** Undefined where the place has no fair locks. */
  readonly fairServer: FairServer | undefined
  readonly watchdog: Watchdog
  readonly pendingReleases: PendingReleases
  readonly clock: Clock
  readonly limits: Limits
  readonly emit: Emit
  readonly leases: HeldLeases<Lease>
  /** A longer lease is refused, in milliseconds. */
  readonly longestLeaseMs: number
}
