import type { Emit } from '../events.ts'
import type { Clock } from '../kit/clock.ts'
import type { HeldWatch } from '../lease/held-watch.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { HeldLease } from '../lease/lease.ts'
import type { Watchdog } from '../lease/watchdog.ts'
import type { LockObserver } from '../lock-observer.ts'
import type { HeldLeases } from '../owner/held-leases.ts'
import type { LockServer } from '../servers/lock-server.ts'
import type { ClientInfo, Presence } from '../servers/presence.ts'
import type { Limits } from '../waiting/limits.ts'
import type { WaitReports } from '../waiting/wait-reports.ts'

/** The objects that all locks of one client on one server or quorum share. */
export interface Services {
  readonly observer: LockObserver
  readonly server: LockServer
  readonly watchdog: Watchdog
  readonly clock: Clock
  /** Warns about leases that are held for long; undefined if the client gives no such warnings. */
  readonly heldWatch: HeldWatch | undefined
  readonly limits: Limits
  readonly emit: Emit
  /** Passes release requests of other clients to the holders, and asks other clients to free kept locks. */
  readonly revocations: {
    /**
     * Since when this client has received each message of other clients, on the monotonic clock; Infinity for never.
     */
    readonly listeningSince: number
    started(): void
    startListening(): void
    signalOf(hold: Hold): AbortSignal
    freeKept(key: string, holder: string): Promise<boolean> | undefined
  }
  /**
   * The locks that callers watch without acquiring them. `listens` is true if this client receives
   * the messages of the lock, because callers watch it.
   */
  readonly freeWatches: { listens(rawName: string): boolean }
  readonly own: ClientInfo
  /** Reports this client to other clients, and finds the processes of other clients. */
  readonly presence: Presence
  readonly waitReports: WaitReports
  /** The leases of exclusive kinds. `unlock()` finds them here. */
  readonly leases: HeldLeases<HeldLease>
  /**
   * The leases of shared kinds. They are separate, because `unlock()` of the read lock must not find a lease of the
   * write lock.
   */
  readonly sharedLeases: HeldLeases<HeldLease>
  /** Warns once if a granted lease is too short. Called for each grant. */
  readonly shortLeases: { check(lockName: string, kind: HoldKind, leaseMs: number): void }
  /** The longest lease that clients may request, in milliseconds; Infinity for no limit. */
  readonly longestLeaseMs: number
}

export function leasesOf(services: Services, { isShared }: HoldKind): HeldLeases<HeldLease> {
  return isShared ? services.sharedLeases : services.leases
}
