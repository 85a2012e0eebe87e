/**
 * The answer about one lease. `unknown` means that the request failed; the last proof of the lease
 * then still counts.
 */
export type RenewalAnswer =
  | { readonly kind: 'renewed' | 'held'; readonly leaseMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Renews and checks leases. The watchdog knows only this interface, and depends on no server. */
export interface Renewer<H> {
  /**
   * Splits the holds into groups. The watchdog sends at least one request for each group, so a slow
   * server does not delay the requests to another server.
   */
  groups(holds: readonly H[]): (readonly H[])[]
  /**
   * Returns one answer for each hold, in the order of the holds. A `leaseMs` of 0 only checks the
   * holds. The promise never rejects, and resolves within `timeoutMs` milliseconds.
   */
  renew(holds: readonly H[], leaseMs: number, timeoutMs: number): Promise<RenewalAnswer[]>
}
