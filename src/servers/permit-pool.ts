import type { AcquireAnswer, Released } from './answers.ts'
import type { Reply } from './reply.ts'
import type { Attempt, Ending } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** Permits that are taken and given back, at their place: those of one semaphore. */
export interface RemotePool {
  /** Takes as many as the owner's name ends with, or waits for that, after all who have waited for longer. */
  acquire(attempt: PermitAttempt, reply: Reply<AcquireAnswer>): void
  /**
   * Gives back all that the owner took.
   *
   * @param isLast whether nobody of this client waits any more
   */
  release(ending: Ending, isLast: boolean, reply: Reply<Released>): void
  /** As with `RemoteLock`. */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  /** As with `RemoteLock`: tickets for one client each, and what Redisson's clients tell all. */
  listen(onWake: (message?: string) => void): Subscription
}

export interface PermitAttempt extends Attempt {
  /** Whether its client waits where it is refused. */
  readonly waits: boolean
  /** Whether nobody else of its client waits. */
  readonly isLast: boolean
  /** For how long it has waited, in milliseconds. */
  readonly waitedMs: number
}

/** How many permits a hold has, as its name says. */
export function permitsOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1))
}
