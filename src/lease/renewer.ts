/** What was heard of one lease. Unknown is not renewed: it does not reset the clock. */
export type Answer =
  | { readonly kind: 'renewed' | 'held'; readonly leaseMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Whoever can be asked about leases. The watchdog itself knows no Redis. */
export interface Renewer<H> {
  /** Parts that are asked about one by one, so that one does not wait for another. */
  groups(holds: readonly H[]): H[][]
  /**
   * One answer for each hold, in their order. A `leaseMs` of 0 only looks. Never rejects, and
   * answers within `timeoutMs`.
   */
  renew(holds: readonly H[], leaseMs: number, timeoutMs: number): Promise<Answer[]>
}
