import type { FactSource } from '../diagnostics.ts'
import type { Emit } from '../events.ts'
import type { Clock } from '../kit/clock.ts'
import type { HeldWatch } from '../lease/held-watch.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { HeldLease } from '../lease/lease.ts'
import type { Watchdog } from '../lease/watchdog.ts'
import type { HeldLeases } from '../owner/held-leases.ts'
import type { LockServer } from '../servers/lock-server.ts'
import type { ClientInfo, Presence } from '../servers/presence.ts'
import type { Limits } from '../waiting/retry-budget.ts'
import type { WaitReports } from '../waiting/wait-reports.ts'

/** Shared by all locks of one client on one server or quorum. */
export interface Services {
  readonly source: FactSource
  readonly server: LockServer
  readonly watchdog: Watchdog
  readonly clock: Clock
  /** Undefined if the client does not warn about leases that are held for long. */
  readonly heldWatch: HeldWatch | undefined
  readonly limits: Limits
  readonly emit: Emit
  /** Receives requests of other clients to release holds. */
  readonly revocations: { began(): void; signalOf(hold: Hold): AbortSignal }
  /** The locks that callers watch without acquiring them. */
  readonly freeWatches: { hears(rawName: string): boolean }
  readonly own: ClientInfo
  /** Reports this client to others, and finds other clients. */
  readonly presence: Presence
  readonly waitReports: WaitReports
  /** The leases of exclusive kinds, which `unlock()` can mean. */
  readonly leases: HeldLeases<HeldLease>
  /**
   * The leases of shared kinds. An owner with both releases each through a lock object of that
   * kind.
   */
  readonly sharedLeases: HeldLeases<HeldLease>
  /** Called for each granted lease. */
  readonly shortLeases: { granted(lockName: string, kind: HoldKind, leaseMs: number): void }
  /** The longest lease that is allowed, in milliseconds. */
  readonly longestLeaseMs: number
}

export function leasesOf(services: Services, { isShared }: HoldKind): HeldLeases<HeldLease> {
  return isShared ? services.sharedLeases : services.leases
}
