/** The answer about one lease. With `unknown`, the lease keeps its last proof. */
export type Answer =
  | { readonly kind: 'renewed' | 'held'; readonly leaseMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Renews and checks leases. The watchdog itself does not know Redis. */
export interface Renewer<H> {
  /** Splits the holds into separate requests, so that one server does not delay another. */
  groups(holds: readonly H[]): H[][]
  /**
   * Returns one answer for each hold, in the same order. A `leaseMs` of 0 only checks. It never
   * rejects, and answers within `timeoutMs`.
   */
  renew(holds: readonly H[], leaseMs: number, timeoutMs: number): Promise<Answer[]>
}
