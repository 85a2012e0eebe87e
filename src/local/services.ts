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

/** What all locks of one client at one place share. */
export interface Services {
  readonly source: FactSource
  readonly server: LockServer
  readonly watchdog: Watchdog
  readonly clock: Clock
  /** Left out where nobody is to be warned of leases that are held for long. */
  readonly heldWatch: HeldWatch | undefined
  readonly limits: Limits
  readonly emit: Emit
  /** Who asks for the release of what is held. */
  readonly revocations: { began(): void; signalOf(hold: Hold): AbortSignal }
  /** The locks that somebody watches without acquiring them. */
  readonly freeWatches: { hears(rawName: string): boolean }
  readonly own: ClientInfo
  /** What clients of this place tell each other. */
  readonly presence: Presence
  readonly waitReports: WaitReports
  /** The leases that an `unlock()` could mean: of exclusive kinds. */
  readonly leases: HeldLeases<HeldLease>
  /** Of shared kinds: an owner who has both releases each by a lock object of its kind. */
  readonly sharedLeases: HeldLeases<HeldLease>
  /** Told of each lease that is granted. */
  readonly shortLeases: { granted(lockName: string, kind: HoldKind, leaseMs: number): void }
  /** A longer lease is refused, in milliseconds. */
  readonly longestLeaseMs: number
}

export function leasesOf(services: Services, { isShared }: HoldKind): HeldLeases<HeldLease> {
  return isShared ? services.sharedLeases : services.leases
}
