import type { LeaseToRenew, WaitingForPermits } from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import type { Confirm } from './durability.ts'
import type { RemotePool } from './permit-pool.ts'

/** What a place must be able to do where permits are taken for a time, as one client sees it. */
export interface PermitServer {
  /** The permits of one semaphore there. */
  pool(rawName: string): RemotePermits
  /** As with `LockServer`: for all permits of a hold. */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** As with `LockServer`. */
  readonly confirm?: Confirm | undefined
  /** As with `LockServer`. */
  groups(locks: readonly { readonly key: string }[]): number[][]
}

/** The permits of one semaphore at its place. Those whose lease is over count as available. */
export interface RemotePermits extends RemotePool {
  /**
   * @returns of a `drain` how many it has taken away; else 1, or 0 where `try-set` or `delete` has changed nothing.
   * A repeat returns the same, and changes nothing
   */
  change(change: PermitChange, callMs: number): Promise<number>
  /**
   * Takes permits from whoever has them, and makes them available.
   *
   * @returns whether all of them were taken until now. A repeat returns the same
   */
  releaseIds(ids: readonly string[], request: Remembered, callMs: number): Promise<boolean>
  /** @param most how many of those that are taken, and of the clients that wait, are listed */
  inspect(most: number, callMs: number): Promise<PermitFacts>
}

export interface PermitChange extends Remembered {
  /**
   * Sets how many there are in all, where nobody has; sets it anyway; adds so many, or takes away; takes away what is
   * available; or deletes the semaphore with all permits that are taken.
   */
  readonly how: 'try-set' | 'set' | 'add' | 'drain' | 'delete'
  readonly permits: number
}

/** A request that counts once, however often it is sent. */
export interface Remembered {
  /** Its name, which no other has. */
  readonly request: string
  /** How long the request is remembered, in milliseconds. */
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
  /** The owner as `<clientId>:<owner>:<permits>`; null if unknown, as for Redisson and older versions. */
  readonly owner: string | null
  /** The id of the client; null if the owner is unknown. `clientInfo()` returns its label, host and process id. */
  readonly client: string | null
  /** How many permits it holds. */
  readonly permits: number
  /** Their ids, as far as `acquired` lists them. */
  readonly ids: readonly string[]
  /** The remaining time of the lease in milliseconds; null if it has no expiry, which Holdfast never creates. */
  readonly ttlMs: number | null
  /** How long ago it was granted by the clock of the server, in milliseconds; null if the owner is unknown. */
  readonly ageMs: number | null
}

export interface AcquiredPermit {
  /** 32 hex digits, as Redisson's permits have them. */
  readonly id: string
  /** The remaining time of its lease in milliseconds; null if it has no expiry, which Holdfast never creates. */
  readonly ttlMs: number | null
}
