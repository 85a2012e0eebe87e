import type { Moment } from '../kit/clock.ts'

/** The key and the owner id that identify a hold on the server. */
export interface HoldId {
  /** The key of the lock in Redis. */
  readonly key: string
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}

/**
 * The sending time of the request that proved the lease, and how long the lease is valid from that
 * time.
 */
export interface Proof {
  readonly sentAt: Moment
  readonly validForMs: number
}

/** The proofs that a stand-in adds, in memory that the main thread reads without waiting. */
export interface Backing {
  provedAt(): Moment
  proved(at: Moment): void
  forget(): void
}

/** Renews leases while the watchdog cannot run. The renewal thread is a stand-in. */
export interface StandIn {
  /**
   * Returns a promise that settles when the stand-in is ready, or cannot start. Undefined if the
   * stand-in is already ready.
   */
  ready(): Promise<void> | undefined
  /**
   * @param leaseMs the lease that each renewal requests, in milliseconds
   * @param limitAt the time after which the lease is not renewed, on the monotonic clock
   */
  keep(id: HoldId, provedAt: Moment, leaseMs: number, limitAt: number): Backing
}
