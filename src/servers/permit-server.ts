import type { LeaseToRenew, WaitingForPermits } from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import type { Confirm } from './durability.ts'
import type { RemotePool } from './permit-pool.ts'

/** The semaphores with leases of a server, for one client. */
export interface PermitServer {
  pool(rawName: string): RemotePermits
  /** As in `LockServer`, for all permits of a hold. */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** As in `LockServer`. */
  readonly confirm?: Confirm | undefined
  /** As in `LockServer`. */
  groups(locks: readonly { readonly key: string }[]): number[][]
}

/** The permits of one semaphore. Permits with an expired lease count as available. */
export interface RemotePermits extends RemotePool {
  /**
   * @returns for `drain` how many permits it took away; for the others 1, or 0 if `try-set` or
   * `delete` changed nothing. A repeat changes nothing and returns the same number
   */
  change(change: PermitChange, callMs: number): Promise<number>
  /**
   * Releases permits by their ids, even permits of other owners.
   *
   * @returns true if all of them were taken before the first run. A repeat returns the same result
   */
  releaseIds(ids: readonly string[], request: Remembered, callMs: number): Promise<boolean>
  /** @param most how many taken permits, and how many waiting clients, are listed */
  inspect(most: number, callMs: number): Promise<PermitFacts>
}

export interface PermitChange extends Remembered {
  /**
   * `try-set` sets the total number if no client has set it; `set` always sets it; `add` changes it
   * by `permits`. `drain` takes away the available permits. `delete` deletes the semaphore with all
   * taken permits.
   */
  readonly how: 'try-set' | 'set' | 'add' | 'drain' | 'delete'
  readonly permits: number
}

/** A request that takes effect once, even if the client sends several copies. */
export interface Remembered {
  /** The id of the request, which no other request has. */
  readonly request: string
  /** How long the server stores the result, in milliseconds. */
  readonly keptMs: number
}

/** A semaphore whose permits have leases, as the server stores it. */
export interface PermitFacts {
  /** The total number of permits, available or taken; null if no client has set it. */
  readonly permits: number | null
  /** How many are available; below 0 if fewer are set than are taken. */
  readonly available: number
  /** How many are taken. */
  readonly taken: number
  /** The taken permits: the first 1,000 by the end of their leases. */
  readonly acquired: readonly AcquiredPermit[]
  /** The holders of `acquired`: one entry for each acquisition. */
  readonly holders: readonly PermitHolder[]
  /** The clients that wait, the next one first, at most 1,000. */
  readonly waiting: readonly WaitingForPermits[]
}

/** One acquisition that holds permits. */
export interface PermitHolder {
  /**
   * The owner as `<clientId>:<owner>:<permits>`; null if unknown, as for Redisson and older
   * versions.
   */
  readonly owner: string | null
  /**
   * The id of the client; null if the owner is unknown. `clientInfo()` returns its label, host and
   * process id.
   */
  readonly client: string | null
  /** How many permits it holds. */
  readonly permits: number
  /** Their ids, as far as `acquired` lists them. */
  readonly ids: readonly string[]
  /**
   * The remaining time of the lease in milliseconds; null if it has no expiry, which Holdfast never
   * creates.
   */
  readonly ttlMs: number | null
  /**
   * How long ago it was granted by the clock of the server, in milliseconds; null if the owner is
   * unknown.
   */
  readonly ageMs: number | null
}

export interface AcquiredPermit {
  /** 32 hex digits, as Redisson's permits have them. */
  readonly id: string
  /**
   * The remaining time of its lease in milliseconds; null if it has no expiry, which Holdfast never
   * creates.
   */
  readonly ttlMs: number | null
}
