/** The answer about one lease. After `unknown`, the last proof of the lease still counts. */
export type RenewalAnswer =
  | { readonly kind: 'renewed' | 'held'; readonly leaseMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unknown'; readonly cause: Error }

/**
 * Renews and checks leases. The watchdog uses this interface, so the watchdog depends on no server.
 */
export interface Renewer<H> {
  /**
   * Splits the holds into groups, with one request for each group. A slow server then does not
   * delay the requests to another server.
   */
  groups(holds: readonly H[]): H[][]
  /**
   * Returns one answer for each hold, in the order of the holds. With a `leaseMs` of 0, the request
   * only checks the holds. The promise never rejects, and resolves within `timeoutMs` milliseconds.
   */
  renew(holds: readonly H[], leaseMs: number, timeoutMs: number): Promise<RenewalAnswer[]>
}
