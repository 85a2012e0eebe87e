import type { AcquireAnswer, Gone, ReenterAnswer, Released } from './answers.ts'
import type { ReadWriteFacts, ReadWriteHolder } from './facts.ts'
import type { Hint } from './hint.ts'
import type { LockSide } from './owner-id.ts'
import type { Renewal } from './renewal.ts'
import type { Reply } from './reply.ts'
import type { Attempt, LoweredHold, Reentry } from './requests.ts'
import type { ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

/** The read-write locks, as one client uses them. Each lease belongs to a reader or a writer. */
export interface ReadWriteServer extends Renewal {
  lock(rawName: string): RemoteReadWriteLock
  /**
   * Returns the id with which an owner holds one side of a lock. The caller must not use `id`
   * again.
   */
  ownerId(id: string, side: LockSide): string
}

export interface RemoteReadWriteLock {
  /**
   * Acquires the read lock or the upgradable lock, together with other readers. The server grants
   * the upgradable lock in FIFO order.
   */
  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void
  rereads(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Acquires the write lock, which excludes all other owners. Answers `Gone` if the attempt is an
   * upgrade and the owner has lost the upgradable lock.
   */
  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void
  rewrites(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Lowers the hold count to `ending.holds`. At 0 the hold ends.
   *
   * @param isLast false if the client's next waiting call wants the same side of the lock. The
   * client then keeps its place in the queue
   */
  lower(ending: LoweredHold, isLast: boolean, reply: Reply<Released>): void
  /** Ends every hold of the owner by force. Returns true if there was a hold. */
  forceRelease(owner: string, callMs: number): Promise<boolean>
  /**
   * Releases every hold of the owner in the background, as `RemoteLock.abandon` does. For `isLast`,
   * see `RemotePool.stopWaiting`.
   */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  /** Removes the client's place in the queue for one side, as `RemotePool.stopWaiting` does. */
  stopWaiting(side: LockSide, isLast: () => boolean): void
  inspect(callMs: number): Promise<ReadWriteState>
  /** Calls `onHint` with each hint about the lock, as `RemoteLock.listen` does. */
  listen(onHint: (hint: Hint) => void): Subscription
}

/** A read-write lock as the server stores it, with the side of each holder. */
export interface ReadWriteState extends ReadWriteFacts {
  readonly holders: readonly SideHolder[]
}

export interface SideHolder extends ReadWriteHolder {
  readonly side: LockSide
}

export interface WaitingAttempt extends Attempt {
  /**
   * The owner id with which this owner already holds another side of the lock. '' if there is none.
   */
  readonly beside: string
  /** True if the client keeps a place in the queue after a refusal. */
  readonly waits: boolean
  /**
   * For a reader: true if no other call of the client waits to read. A grant then removes the
   * client's place.
   */
  readonly isLast: boolean
}

export const READ_WRITE: ServerKind<ReadWriteServer> = {
  name: 'read-write',
  what: 'a read-write lock',
}
