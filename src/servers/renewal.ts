import type { LeaseToRenew } from './answers.ts'
import type { Confirm } from './durability.ts'
import type { RenewedLease } from './renewed-lease.ts'

/**
 * The requests that renew and confirm leases. A client has one such object for permits, one for
 * read-write locks, and one for all other locks.
 */
export interface Renewal {
  /**
   * Renews several leases. With a `leaseMs` of 0, the call changes nothing and only reads the
   * remaining times.
   *
   * @returns for each lease its remaining time, `gone`, or the failure of its request
   */
  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]>
  /** Waits until enough replicas have a grant. Undefined if a grant needs no confirmation. */
  readonly confirm?: Confirm | undefined
  /**
   * Groups the locks so that one request can handle all locks of a group. Each number is an index
   * into `locks`.
   */
  groups(locks: readonly { readonly rawName: string }[]): number[][]
}
