import type { WaitingForPermits } from './facts.ts'
import type { RemotePool } from './permit-pool.ts'
import type { Renewal } from './renewal.ts'
import type { ServerKind } from './server-kind.ts'

/** The semaphores with leases, as one client uses them. All permits of one hold share one lease. */
export interface PermitServer extends Renewal {
  pool(rawName: string): RemotePermits
  /** Returns the id with which an owner acquires permits. The caller must not use `id` again. */
  ownerId(id: string, permits: number): string
}

/**
 * The permits of one semaphore with leases. The server counts permits with an expired lease as
 * available.
 */
export interface RemotePermits extends RemotePool {
  /**
   * Changes the number of permits. A copy of the request changes nothing and returns the same
   * number.
   *
   * @returns the number of removed permits for `drain`; 0 if `try-set` or `delete` changed nothing;
   * otherwise 1
   */
  change(change: PermitChange, callMs: number): Promise<number>
  /**
   * Releases permits by their ids, even permits of other owners. A copy of the request returns the
   * same result.
   *
   * @returns true if all of these permits were taken
   */
  releaseIds(ids: readonly string[], request: Remembered, callMs: number): Promise<boolean>
  /** @param most lists at most this many permits, and at most this many waiting clients */
  inspect(most: number, callMs: number): Promise<PermitFacts>
}

export interface PermitChange extends Remembered {
  /**
   * `try-set` sets the total number of permits if no client has set it. `set` sets the number in
   * any case. `add` adds `permits`. `drain` removes the available permits. `delete` deletes the
   * semaphore and all taken permits.
   */
  readonly how: 'try-set' | 'set' | 'add' | 'drain' | 'delete'
  readonly permits: number
}

/** A request that counts once, even if the client sends several copies. */
export interface Remembered {
  /** The id of the request. All copies have this id, and no other request has it. */
  readonly request: string
  /** How long the server stores the result of the request, in milliseconds. */
  readonly keptMs: number
}

/** A semaphore whose permits have leases, as the server stores it. */
export interface PermitFacts {
  /**
   * The total number of permits, available and taken. Null if no client has set the number and no
   * permit is taken.
   */
  readonly permits: number | null
  /**
   * The number of available permits. The number is below 0 if permits were removed while clients
   * used them.
   */
  readonly available: number
  /** The number of taken permits. */
  readonly taken: number
  /** The taken permits: the first 1,000 in the order in which their leases end. */
  readonly acquired: readonly AcquiredPermit[]
  /** The holders of the permits in `acquired`: one entry for each acquisition. */
  readonly holders: readonly PermitHolder[]
  /** The clients that wait for permits, in the order in which they get permits; at most 1,000. */
  readonly waiting: readonly WaitingForPermits[]
}

/** One acquisition, and the permits that it holds. */
export interface PermitHolder {
  /**
   * The owner as `<clientId>:<owner>:<permits>`. Null if unknown, as for Redisson and for older
   * versions of Holdfast.
   */
  readonly owner: string | null
  /**
   * The id of the client; null if the owner is unknown. `clientInfo()` returns its label, host and
   * process id.
   */
  readonly client: string | null
  /** The number of permits that the acquisition holds. */
  readonly permits: number
  /** The ids of the acquisition's permits that `acquired` lists. */
  readonly ids: readonly string[]
  /**
   * The remaining time of the lease, in milliseconds. Null if the lease never expires; Holdfast
   * never creates such a lease.
   */
  readonly ttlMs: number | null
  /**
   * How long ago the server granted the permits, in milliseconds by the server's clock; null if the
   * owner is unknown.
   */
  readonly ageMs: number | null
}

export interface AcquiredPermit {
  /** The id of the permit: 32 hex digits, as in Redisson. */
  readonly id: string
  /**
   * The remaining time of the permit's lease, in milliseconds. Null if the lease never expires;
   * Holdfast never creates such a lease.
   */
  readonly ttlMs: number | null
}

export const PERMITS: ServerKind<PermitServer> = {
  name: 'permits',
  what: 'a semaphore with leases',
}
