import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { LeaseHolder } from '../../owner/lease-holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts } from '../../servers/facts.ts'
import type { AcquireSender, LeaseRequest } from '../../waiting/waiter.ts'

/** The internal options of one acquisition, in addition to the options of the caller. */
export interface InnerOptions {
  /**
   * True if code of Holdfast releases the lease, for example `using` or a multi-lock. `unlock()`
   * then does not release the lease.
   */
  readonly scoped: boolean
  /** True if the caller knows from an earlier answer that another owner holds the lock. */
  readonly known?: boolean
  /**
   * True if the attempt does not wait for the lock, even if `waitMs` is not 0. The attempt repeats its request only
   * after failures and split votes.
   */
  readonly isSingleAttempt?: boolean
  /**
   * Sends the request together with the requests of the other locks of a multi-lock. Undefined if
   * the request is sent alone.
   */
  readonly together?: AcquireSender | undefined
  /**
   * True if `maxHoldMs` counts only from the moment when a multi-lock holds all its locks. Until
   * then, `maxHoldMs` limits only the length of the lease.
   */
  readonly limitedLater?: boolean
  /**
   * The stack of the user's call, for warnings. Undefined if the waiter records the stack itself,
   * or if warnings are off.
   */
  readonly calledFrom?: Error | undefined
}

/** The members of a lock object that the algorithms for one or several locks use. */
export interface OneLock {
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
  readonly kind: LockKind
  /**
   * A number that identifies the lock object. All sides of one read-write lock have the same
   * number.
   */
  readonly number: number
  /** How long the client keeps the lock after a release, in milliseconds; 0 means not at all. */
  readonly keepMs: number
  acquire(owner: Owner, meant: Acquisition, how: InnerOptions): Promise<Lease | null>
  assertPossible(meant: Acquisition): void
  /** @param failed words for the error of an outage, such as `not inspected` */
  peek(failed: string): Promise<HolderFacts>
  /**
   * Returns the hold count of the owner with this owner id, according to the server. 0 if that owner
   * does not hold the lock.
   */
  holdCountOf(owner: string | undefined): Promise<number>
}

let made = 0

/** Returns a number that no other lock object of this process has. */
export function nextNumber(): number {
  made += 1
  return made
}

/**
 * Makes the request for one acquisition by a lock object.
 *
 * @param leaseHolder stores the lease for `unlock()`
 * @param calledAt when the call began, in milliseconds on the monotonic clock. Infinity if other
 * calls may use this owner
 */
export function requestOf(
  lock: Pick<OneLock, 'registry' | 'kind' | 'keepMs'> &
    NonNullable<Pick<LeaseRequest, 'caller'>['caller']>,
  owner: Owner,
  { leaseMs, renew, maxHoldMs, waitMs, signal }: Acquisition,
  {
    scoped,
    known = false,
    isSingleAttempt = false,
    together,
    limitedLater,
    calledFrom,
  }: InnerOptions,
  leaseHolder: LeaseHolder,
  calledAt: number,
): LeaseRequest {
  return {
    owner,
    leaseMs: Math.min(leaseMs ?? lock.registry.leaseMs, maxHoldMs),
    lease: {
      watched: renew,
      maxHoldMs: limitedLater ? Infinity : maxHoldMs,
      keepMs: renew ? lock.keepMs : 0,
      leaseHolder,
      scoped,
      calledAt,
    },
    kind: lock.kind,
    waitMs,
    signal,
    known,
    isSingleAttempt,
    together,
    calledFrom,
    caller: lock,
  }
}
