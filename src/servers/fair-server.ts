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
  /** Calls `onGrant` with each grant to this client, and without a grant after a possible gap. */
  listen(onGrant: (grant?: FairGrant) => void): Subscription
  /**
   * True if the server can count the listeners of an inbox, once the subscription is confirmed.
   * Even if it is false, the server may count the listeners for releases.
   */
  readonly countsListeners: boolean
  /**
   * Keeps places in the queues of locks that share a group of the server.
   *
   * @param listens read when the request is sent: true if this client listens to its inbox
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
   * Grants the lock to the next waiter of the queue.
   *
   * @param token the token of the hold; '' ends every hold of the owner, and its place in the queue
   */
  release(owner: string, token: number | '', callMs: number, reply: Reply<Released>): void
  /** As in `RemoteLock`. Also leaves the queue, and passes on a grant to the owner. */
  abandon(owner: string, untilMs: number, leaseMs: number): void
}

export interface FairAttempt {
  readonly owner: string
  readonly leaseMs: number
  /** The ticket of an earlier answer, or ''; null for a call that does not queue. */
  readonly ticket: string | null
  /** Read when the request is sent: true if this client listens to its inbox. */
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
  /** The owners that wait when the request is sent. */
  places(): readonly { wireOwner: string; ticket: string; claimMs: number }[]
}
