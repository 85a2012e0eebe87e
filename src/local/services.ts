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

/** The objects that all locks of one client share on one server or quorum. */
export interface Services {
  readonly source: FactSource
  readonly server: LockServer
  readonly watchdog: Watchdog
  readonly clock: Clock
  /** Undefined if the client gives no warnings about leases that are held for long. */
  readonly heldWatch: HeldWatch | undefined
  readonly limits: Limits
  readonly emit: Emit
  /** Passes release requests from other clients to the holders. */
  readonly revocations: { began(): void; signalOf(hold: Hold): AbortSignal }
  /**
   * The locks that callers watch without acquiring them. `hears` is true if this client receives a
   * message for each release.
   */
  readonly freeWatches: { hears(rawName: string): boolean }
  readonly own: ClientInfo
  /** Reports this client to others, and finds other clients. */
  readonly presence: Presence
  readonly waitReports: WaitReports
  /** The leases of exclusive kinds, where `unlock()` finds them. */
  readonly leases: HeldLeases<HeldLease>
  /**
   * The leases of shared kinds, in a separate list. If an owner has an exclusive and a shared
   * lease, `unlock()` of each lock object finds the lease of its own kind.
   */
  readonly sharedLeases: HeldLeases<HeldLease>
  /** Called for each granted lease. Warns once if leases are too short. */
  readonly shortLeases: { granted(lockName: string, kind: HoldKind, leaseMs: number): void }
  /** The longest lease that is allowed, in milliseconds. */
  readonly longestLeaseMs: number
}

export function leasesOf(services: Services, { isShared }: HoldKind): HeldLeases<HeldLease> {
  return isShared ? services.sharedLeases : services.leases
}
