import type {
  AcquireAnswer,
  Gone,
  LeaseToRenew,
  ReadWriteFacts,
  ReenterAnswer,
  Released,
} from './answers.ts'
import type { CallFailure } from './call-failure.ts'
import type { Confirm } from './durability.ts'
import type { Reply } from './reply.ts'
import type { Attempt, Ending, Reentry } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** The suffix of a writer's owner name, as in Redisson. */
export const WRITE_SUFFIX = ':write'

/**
 * The suffix of the owner name of a reader that may upgrade to writing. There is one such reader at
 * a time. A client that waits to be this reader is in the queue of the writers, as its client id
 * and this suffix.
 */
export const UPGRADABLE_SUFFIX = ':upgradable'

export function isWriter(owner: string): boolean {
  return owner.endsWith(WRITE_SUFFIX)
}

/** True for an owner that holds the upgradable lock, and for a client that waits for it. */
export function isUpgradable(name: string): boolean {
  return name.endsWith(UPGRADABLE_SUFFIX)
}

/** The read-write locks of a server, for one client. */
export interface ReadWriteServer {
  lock(rawName: string): RemoteReadWriteLock
  /** As in `LockServer`, for holds of readers and writers. */
  renew(
    leases: readonly LeaseToRenew[],
    leaseMs: number,
    callMs: number,
  ): Promise<(number | CallFailure)[]>
  /** As in `LockServer`. */
  readonly confirm?: Confirm | undefined
  /** As in `LockServer`. */
  groups(locks: readonly { readonly key: string }[]): number[][]
}

export interface RemoteReadWriteLock {
  /**
   * Acquires the lock for a reader, together with other readers. If that is impossible, the client
   * may wait. The upgradable lock is granted in FIFO order.
   */
  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void
  rereads(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Acquires the lock for a writer, which excludes all others. If that is impossible, the client
   * may wait. Answers `Gone` if the owner has lost the upgradable lock that it wants to upgrade.
   */
  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void
  rewrites(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Lowers the hold count of a reader or a writer. At zero, the hold ends.
   *
   * @param isLast true unless the first waiting call of this client wants the same kind
   */
  release(ending: Ending, isLast: boolean, reply: Reply<Released>): void
  /** Ends every hold of the owner by force. */
  forceRelease(owner: string, callMs: number): Promise<boolean>
  /** As in `RemoteLock`. */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  inspect(callMs: number): Promise<ReadWriteFacts>
  /** As in `RemoteLock`. The caller must ignore messages that {@link isMeant} does not accept. */
  listen(onWake: (message?: string) => void): Subscription
}

export interface WaitingAttempt extends Attempt {
  /** The owner name with which the same owner holds the lock as another kind; '' if it does not. */
  readonly beside: string
  /** True if its client waits after a refusal. */
  readonly waits: boolean
  /** For a plain reader: true if no other call of its client waits to read. */
  readonly isLast: boolean
}

/**
 * True if a message is meant for a waiter.
 *
 * @param since the time from an earlier answer at which the wait to write, or for the upgradable
 * lock, began; '' for a reader
 */
export function isMeant(message: string, since: string): boolean {
  // Messages of Redisson's clients are for all waiters.
  if (message === '0' || message === '1') return true
  return message === (since || '2')
}

/**
 * True if a message says that the last reader, or a writer, has released the lock.
 *
 * @param byWriter true to accept only the message about a writer, because readers do not exclude
 * other readers
 */
export function isReleaseOf(message: string, byWriter: boolean): boolean {
  // '00' and '01' come from Holdfast, '0' and '1' from Redisson.
  const byReader = !byWriter && (message === '00' || message === '0')
  return byReader || message === '01' || message === '1'
}
