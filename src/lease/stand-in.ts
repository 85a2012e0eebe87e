import type { Moment } from '../kit/clock.ts'

/** What a watchdog needs to ask about a hold: where its lock lives, and under which names. */
export interface HoldId {
  /** The key of the lock in Redis. */
  readonly key: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}

/** Two moments that count: when the request that proved the lease was sent, and for how long. */
export interface Proof {
  readonly sentAt: Moment
  readonly validForMs: number
}

/** Proofs that somebody else sees to, in memory that is read without waiting. */
export interface Backing {
  provedAt(): Moment
  proved(at: Moment): void
  forget(): void
}

/** Somebody who renews while the watchdog cannot. */
export interface StandIn {
  /** Settles when it stands by, or cannot; undefined while it does. */
  ready(): Promise<void> | undefined
  /**
   * @param leaseMs to which it renews the lease each time
   * @param limitAt when the lease ends at the latest, on the monotonic clock
   */
  keep(id: HoldId, provedAt: Moment, leaseMs: number, limitAt: number): Backing
}
