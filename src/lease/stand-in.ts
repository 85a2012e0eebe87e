import type { Moment } from '../kit/clock.ts'

/** The raw name and the owner id that identify a hold on the server. */
export interface HoldId {
  readonly rawName: string
  /** The owner as the server stores it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}

/**
 * Proves a lease: `sentAt` is when the successful request was sent, and the lease is valid for
 * `validForMs` milliseconds from then.
 */
export interface Proof {
  readonly sentAt: Moment
  readonly validForMs: number
}

/**
 * The proofs of one lease, in memory that the stand-in and the main thread share. The main thread
 * can read the proofs without a message from the stand-in.
 */
export interface Backing {
  provedAt(): Moment
  proved(at: Moment): void
  forget(): void
}

/** Renews leases while the watchdog cannot run. The renewal thread is a stand-in. */
export interface StandIn {
  /**
   * Returns undefined if the stand-in is ready. Otherwise returns a promise that resolves when it
   * is ready, and rejects if it cannot start.
   */
  ready(): Promise<void> | undefined
  /**
   * Renews this lease when the main thread is late, until `forget()` is called.
   *
   * @param leaseMs the lease that each renewal requests, in milliseconds
   * @param limitAt no renewed lease lasts beyond this time on the monotonic clock; Infinity for no
   *   limit
   */
  add(id: HoldId, provedAt: Moment, leaseMs: number, limitAt: number): Backing
}
