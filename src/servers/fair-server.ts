import type { HeartbeatAnswer, QueueAnswer, Released } from './answers.ts'
import type { Reply } from './reply.ts'
import type { Subscription } from './subscription.ts'

/**
 * How long an unconfirmed grant lasts, in milliseconds. A process that is frozen when it gets the
 * lock delays the queue by at most this time.
 */
export const CLAIM_MS = 1_500

/** How long a place in a queue is kept without a heartbeat, in milliseconds. */
export const ALIVE_MS = 3_000

/** The fair locks of a server, for one client. */
export interface FairServer {
  lock(rawName: string): RemoteFairLock
  /**
   * Calls `onGrant` with each grant to this client, and without a grant when grants may have been
   * missed.
   */
  listen(onGrant: (grant?: FairGrant) => void): Subscription
  /**
   * True if the server can count the listeners of an inbox after the subscription is confirmed. A
   * server may count the listeners for releases even if this is false.
   */
  readonly countsListeners: boolean
  /**
   * Keeps this client's places in the queues of these locks. One request must be able to handle all
   * of the locks.
   *
   * @param listens called when the request is sent; returns true if this client listens to its
   * inbox
   * @returns for each lock its answer, or the error of the server
   */
  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
    callMs: number,
  ): Promise<(HeartbeatAnswer | string)[]>
}

export interface RemoteFairLock {
  readonly rawName: string
  /** Acquires the lock in FIFO order, confirms a grant, or joins the queue. */
  acquire(attempt: FairAttempt, reply: Reply<QueueAnswer>): void
  /**
   * Ends the hold of the owner and grants the lock to the next waiter of the queue.
   *
   * @param token the token of the hold; '' ends every hold of the owner, and its place in the queue
   */
  release(owner: string, token: number | '', callMs: number, reply: Reply<Released>): void
  /**
   * As in `RemoteLock`. Also removes the owner from the queue. If the owner was granted the lock,
   * the next waiter gets it.
   */
  abandon(owner: string, untilMs: number, leaseMs: number): void
}

export interface FairAttempt {
  readonly owner: string
  readonly leaseMs: number
  /** The ticket of an earlier answer; '' if there is none; null for a call that does not queue. */
  readonly ticket: string | null
  /** Called when the request is sent. Returns true if this client listens to its inbox. */
  readonly listens: () => boolean
  readonly callMs: number
}

/** The message about a grant of a fair lock. */
export interface FairGrant {
  readonly rawName: string
  readonly owner: string
  readonly token: number
}

/** The places of one client in the queue of one lock. */
export interface LocalPlaces {
  readonly rawName: string
  /** Returns the owners that wait now. Called when the request is sent. */
  places(): readonly { wireOwner: string; ticket: string; claimMs: number }[]
}
