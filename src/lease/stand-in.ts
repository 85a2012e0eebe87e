import type { Moment } from '../kit/clock.ts'

/** The key and the owner name with which the watchdog checks a hold. */
export interface HoldId {
  /** The key of the lock in Redis. */
  readonly key: string
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}

/** When the request that proved the lease was sent, and how long the lease is valid from then. */
export interface Proof {
  readonly sentAt: Moment
  readonly validForMs: number
}

/** The proofs that a stand-in adds, in memory that this thread reads without waiting. */
export interface Backing {
  provedAt(): Moment
  proved(at: Moment): void
  forget(): void
}

/** Renews leases while the watchdog cannot, as the renewal thread does. */
export interface StandIn {
  /** Settles when the stand-in is ready, or when it cannot start. Undefined while it is ready. */
  ready(): Promise<void> | undefined
  /**
   * @param leaseMs the lease that each renewal requests
   * @param limitAt when the lease ends at the latest, on the monotonic clock
   */
  keep(id: HoldId, provedAt: Moment, leaseMs: number, limitAt: number): Backing
}
