import type { Moment } from '../kit/clock.ts'

/** The raw name and the owner id that identify a hold on the server. */
export interface HoldId {
  readonly rawName: string
  /** The owner as the server stores it: `<clientId>:<owner>`. */
  readonly ownerId: string
}

/**
 * The proof of a lease. The lease is valid for `validForMs` milliseconds from `sentAt`, when the
 * successful request was sent.
 */
export interface Proof {
  readonly sentAt: Moment
  readonly validForMs: number
}

/**
 * The proofs of one lease, in memory that the stand-in and the main thread share. So the main
 * thread can read the proofs even if it has handled no message of the stand-in.
 */
export interface Backing {
  provedAt(): Moment
  proved(at: Moment): void
  forget(): void
}

/** Renews leases while the watchdog cannot run. The watchdog thread implements this interface. */
export interface StandIn {
  /**
   * Returns undefined if the stand-in is ready. Otherwise returns a promise that resolves when the
   * stand-in is ready, and rejects if the stand-in cannot start.
   */
  ready(): Promise<void> | undefined
  /**
   * Renews this lease if the main thread is late, until `forget()` of the result is called.
   *
   * @param leaseMs the longest lease that a renewal requests, in milliseconds
   * @param limitAt a time on the monotonic clock; no renewed lease lasts beyond this time. Infinity
   * for no limit
   */
  add(id: HoldId, provedAt: Moment, leaseMs: number, limitAt: number): Backing
}
