import type { HeartbeatAnswer, QueueAnswer, Released } from './answers.ts'
import type { Reply } from './reply.ts'
import type { Subscription } from './subscription.ts'

/**
 * A grant stands for this long, in milliseconds, before its owner has confirmed it: a process that
 * is frozen when its turn comes holds the queue up for no longer.
 */
export const CLAIM_MS = 1_500

/** A place in a queue is kept for this long without a heartbeat, in milliseconds. */
export const ALIVE_MS = 3_000

/** What a place must be able to do where fair locks live, as one client sees it. */
export interface FairServer {
  /** One fair lock there. */
  lock(rawName: string): RemoteFairLock
  /** Calls `onGrant` with each grant to this client, and without one when any may have been missed. */
  listen(onGrant: (grant?: FairGrant) => void): Subscription
  /**
   * Whether the server knows that this client hears of grants, once that is confirmed. It may not, and
   * count who listens for releases all the same.
   */
  readonly countsListeners: boolean
  /**
   * Tells that places in queues are still wanted, of locks that are of one group of the server.
   *
   * @param listens whether this client hears of grants, when it is sent
   * @returns for each lock what is to be known of it, or the server's words for what is wrong
   */
  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
    callMs: number,
  ): Promise<(HeartbeatAnswer | string)[]>
}

/** One fair lock at its place. */
export interface RemoteFairLock {
  readonly rawName: string
  /** Takes the lock in turn, confirms a grant, or queues. */
  acquire(attempt: FairAttempt, reply: Reply<QueueAnswer>): void
  /**
   * Gives the lock to the next in the queue, if any.
   *
   * @param token of the hold; '' ends all that the owner has, its place in the queue as well
   */
  release(owner: string, token: number | '', callMs: number, reply: Reply<Released>): void
  /** As with `RemoteLock`: leaves the queue, and gives on what the owner was granted. */
  abandon(owner: string, untilMs: number, leaseMs: number): void
}

export interface FairAttempt {
  readonly owner: string
  readonly leaseMs: number
  /** The one from before, if any, or ''; null not to queue. */
  readonly ticket: string | null
  /** Whether this client hears of grants, when it is sent. */
  readonly listens: () => boolean
  readonly callMs: number
}

/** The message that somebody was granted a fair lock. */
export interface FairGrant {
  readonly rawName: string
  readonly owner: string
  readonly token: number
}

/** The places of one client in the queue of one lock. */
export interface LocalPlaces {
  readonly rawName: string
  /** Those who are in line when the request is sent. */
  places(): readonly { wireOwner: string; ticket: string; claimMs: number }[]
}
