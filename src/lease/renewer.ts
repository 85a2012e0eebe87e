/** The answer about one lease. After `unknown`, the last proof of the lease still counts. */
export type Answer =
  | { readonly kind: 'renewed' | 'held'; readonly leaseMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Renews and checks leases. The watchdog uses this interface and knows nothing about Redis. */
export interface Renewer<H> {
  /**
   * Splits the holds into separate requests. A slow server then does not delay the requests to
   * another server.
   */
  groups(holds: readonly H[]): H[][]
  /**
   * Returns one answer for each hold, in the same order. With a `leaseMs` of 0, the request only
   * checks the holds. It never rejects, and resolves within `timeoutMs`.
   */
  renew(holds: readonly H[], leaseMs: number, timeoutMs: number): Promise<Answer[]>
}
