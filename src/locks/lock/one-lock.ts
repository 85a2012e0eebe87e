import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { AcquireRequest, Asker } from '../../waiting/waiter.ts'

/** The properties of one acquisition that do not come from its caller's options. */
export interface Manner {
  /**
   * True if `using`, a multi-lock or other code of Holdfast releases the lease. `unlock()` does
   * not.
   */
  readonly scoped: boolean
  /** True if an earlier answer showed that another owner holds the lock. */
  readonly known?: boolean
  /** True if the attempt asks once, even before `waitMs` is over. */
  readonly asksOnce?: boolean
  /**
   * Sends the request together with the requests of other locks. Undefined if the lock is requested
   * alone.
   */
  readonly together?: Asker | undefined
  /**
   * True if the time of `maxHoldMs` begins later, when a multi-lock has all its locks. Until then,
   * `maxHoldMs` only limits the length of the lease.
   */
  readonly limitedLater?: boolean
  /**
   * The stack of the user's call, for warnings; undefined if this lock records it itself, or if no
   * warning needs it.
   */
  readonly calledFrom?: Error | undefined
}

/** The members of a lock object that the algorithms for one or several locks use. */
export interface OneLock {
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
  readonly kind: LockKind
  /** The number of the lock object, or of the read-write lock that has this side. */
  readonly number: number
  acquire(owner: Owner, meant: Acquisition, manner: Manner): Promise<Lease | null>
  assertPossible(meant: Acquisition): void
  /** @param failed the failed action in words, for the error of an outage */
  peek(failed: string): Promise<HolderFacts>
  /**
   * The hold count of the owner with this owner id, according to Redis; 0 if that owner has no
   * hold.
   */
  holdCountOf(owner: string | undefined): Promise<number>
}

let made = 0

/** Returns a new number for a lock object. All sides of one read-write lock share one number. */
export function nextNumber(): number {
  made += 1
  return made
}

/**
 * Makes the request for one acquisition by a lock object.
 *
 * @param holder stores the lease, so that `unlock()` finds it
 * @param askedAt when its call began, on the monotonic clock, if its owner acquires only once;
 *   otherwise Infinity
 */
export function requestOf(
  lock: Pick<OneLock, 'registry' | 'kind'> &
    NonNullable<Pick<AcquireRequest, 'askedBy'>['askedBy']>,
  owner: Owner,
  { leaseMs, renew, maxHoldMs, waitMs, signal }: Acquisition,
  { scoped, known = false, asksOnce = false, together, limitedLater, calledFrom }: Manner,
  holder: Holder,
  askedAt: number,
): AcquireRequest {
  return {
    owner,
    leaseMs: Math.min(leaseMs ?? lock.registry.leaseMs, maxHoldMs),
    watched: renew,
    maxHoldMs: limitedLater ? Infinity : maxHoldMs,
    kind: lock.kind,
    waitMs,
    signal,
    known,
    asksOnce,
    together,
    holder,
    scoped,
    askedAt,
    calledFrom,
    askedBy: lock,
  }
}
