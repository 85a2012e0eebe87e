import type { HeartbeatAnswer, QueueAnswer, Released } from './answers.ts'
import type { Remaining } from './remaining.ts'
import type { Reply } from './reply.ts'
import type { LoweredHold } from './requests.ts'
import { LOCK_WORDS, type ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

/**
 * The claim window: the lease of a grant until the owner confirms the grant, in milliseconds. If the
 * owner's process is frozen, the next waiter gets the lock after this time.
 */
export const CLAIM_MS = 1_500

/**
 * How long the server keeps the places of a client after its last heartbeat or request, in
 * milliseconds.
 */
export const ALIVE_MS = 3_000

/**
 * The largest number of owners in a run. A run is the next owners of the same client in the queue. One
 * grant serves the run without further requests.
 */
export const MOST_IN_RUN = 63

/** The fair locks of a server, for one client. */
export interface FairServer {
  lock(rawName: string): RemoteFairLock
  /**
   * Listens to this client's inbox, the channel of its grants. Calls `onGrant` with each grant. Calls
   * `onGrant` without a grant when this client may have missed grants.
   */
  listen(onGrant: (grant?: FairGrant) => void): Subscription
  /**
   * Sends the heartbeat of this client for several locks, in one request. The heartbeat keeps the
   * client's places in the queues of these locks.
   *
   * @param listens called when the client sends the request; returns true if this client listens to
   * its inbox
   * @returns for each lock the answer, or the error of the server as a text
   */
  beat(
    locks: readonly LocalPlaces[],
    listens: () => boolean,
    callMs: number,
  ): Promise<(HeartbeatAnswer | string)[]>
}

export interface RemoteFairLock {
  readonly rawName: string
  /**
   * Acquires the lock if it is free and the owner is first, or confirms a grant to the owner.
   * Otherwise the owner joins the queue, unless the ticket is null.
   */
  acquire(attempt: FairAttempt, reply: Reply<QueueAnswer>): void
  /**
   * Confirms a grant: the owner keeps the lock for at least `leaseMs` milliseconds from now. Answers
   * the remaining lease.
   */
  confirm(owner: string, leaseMs: number, callMs: number, reply: Reply<Remaining>): void
  /**
   * Ends the hold of the owner. The first waiter of the queue then gets the lock. If the token is
   * '', the owner also loses its place in the queue.
   */
  endHold(ending: EndedFairHold, reply: Reply<Released>): void
  /**
   * Releases the owner id in the background, as `RemoteLock.abandon` does. The release also removes
   * the owner from the queue. If the owner has the lock by then, the next waiter gets the lock.
   */
  abandon(owner: string, untilMs: number, leaseMs: number): void
}

export interface EndedFairHold extends LoweredHold {
  /** The largest number of owners in a run that the client wants to serve; undefined for no run. */
  readonly most?: number
  /**
   * The owners that this client has served in runs. The server removes them from the queue.
   * Undefined for none.
   */
  readonly served?: readonly string[]
}

export interface FairAttempt {
  readonly owner: string
  readonly leaseMs: number
  /**
   * The ticket from an earlier answer, which keeps the owner's place in the queue. '' for the first
   * request. Null if the owner must not join the queue.
   */
  readonly ticket: string | null
  /** Called when the request is sent. Returns true if this client listens to its inbox. */
  readonly listens: () => boolean
  readonly callMs: number
}

/** The message that a client receives when one of its owners gets a fair lock. */
export interface FairGrant {
  readonly rawName: string
  readonly owner: string
  readonly token: number
  /**
   * The run: the next owners of this client in the queue, in FIFO order. Their tokens are at most `token`. Undefined
   * for no run.
   */
  readonly run?: readonly string[]
}

/** The places of one client in the queue of one fair lock, as a heartbeat reports them. */
export interface LocalPlaces {
  readonly rawName: string
  /** Called when the heartbeat is sent. Returns the owners that wait at that moment. */
  places(): readonly { ownerId: string; ticket: string; claimMs: number }[]
}

export const FAIR: ServerKind<FairServer> = { name: 'fair', what: LOCK_WORDS }
