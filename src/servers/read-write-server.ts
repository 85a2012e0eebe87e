import type {
  AcquireAnswer,
  Gone,
  LeaseToRenew,
  ReadWriteFacts,
  ReenterAnswer,
  Released,
} from './answers.ts'
import type { Confirm } from './durability.ts'
import type { Hint } from './hint.ts'
import type { RenewedLease } from './renewed-lease.ts'
import type { Reply } from './reply.ts'
import type { Attempt, LoweredHold, Reentry } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** The end of a writer's owner id, as in Redisson. */
export const WRITE_SUFFIX = ':write'

/**
 * The end of the owner id that holds the upgradable lock. At most one owner holds it. A waiting
 * client is in the queue of the writers, as its client id and this suffix.
 */
export const UPGRADABLE_SUFFIX = ':upgradable'

export function isWriter(owner: string): boolean {
  return owner.endsWith(WRITE_SUFFIX)
}

/**
 * True for an owner id that ends with `:upgradable`, and for the place of a client that waits for
 * the upgradable lock.
 */
export function isUpgradable(name: string): boolean {
  return name.endsWith(UPGRADABLE_SUFFIX)
}

/** The read-write locks, as one client uses them. */
export interface ReadWriteServer {
  lock(rawName: string): RemoteReadWriteLock
  /** As in `LockServer`. Each lease belongs to a reader or a writer. */
  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]>
  /** As in `LockServer`. */
  readonly confirm?: Confirm | undefined
  /** As in `LockServer`. */
  groups(locks: readonly { readonly key: string }[]): number[][]
}

export interface RemoteReadWriteLock {
  /**
   * Acquires the lock for a reader, together with other readers. After a refusal the client may
   * wait. The upgradable lock is granted in FIFO order.
   */
  read(attempt: WaitingAttempt, reply: Reply<AcquireAnswer>): void
  rereads(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Acquires the lock for a writer, which excludes all other owners. After a refusal the client may
   * wait. Answers `Gone` if an upgrade is wanted and the owner has lost the upgradable lock.
   */
  write(attempt: WaitingAttempt, reply: Reply<AcquireAnswer | Gone>): void
  rewrites(reentry: Reentry, reply: Reply<ReenterAnswer>): void
  /**
   * Lowers the hold count to `ending.holds`. At 0 the hold ends.
   *
   * @param isLast false if the client's next waiting call wants the same kind of lock; then the
   * client keeps its place
   */
  lower(ending: LoweredHold, isLast: boolean, reply: Reply<Released>): void
  /** Ends every hold of the owner by force. Returns true if there was a hold. */
  forceRelease(owner: string, callMs: number): Promise<boolean>
  /** As in `RemoteLock`. */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  inspect(callMs: number): Promise<ReadWriteFacts>
  /** As in `RemoteLock`. */
  listen(onHint: (hint: Hint) => void): Subscription
}

export interface WaitingAttempt extends Attempt {
  /**
   * Another owner id of the same owner, with which it holds the lock as another kind; '' if it
   * does not hold the lock.
   */
  readonly beside: string
  /** True if the client keeps a place in the queue after a refusal. */
  readonly waits: boolean
  /**
   * For a reader: true if no other call of the client waits to read. Then a grant removes the
   * client's place.
   */
  readonly isLast: boolean
}
