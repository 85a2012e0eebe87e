import type { Moment } from './clock.ts'

/** What a watchdog needs to ask about a hold: where its lock lives, and under which names. */
export interface HoldId {
  /** The key of the lock in Redis. */
  readonly key: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly wireOwner: string
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
  keep(id: HoldId, provedAt: Moment): Backing
}
