import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { AcquireRequest, Asker } from '../../waiting/waiter.ts'

/** How an acquisition differs from others, apart from the options of its caller. */
export interface Manner {
  /** True if other code than `unlock()` releases the lease. */
  readonly scoped: boolean
  /** True if another owner was found to hold the lock before. */
  readonly known?: boolean
  /** True if it tries once, even with time left. */
  readonly asksOnce?: boolean
  /** Set if the lock is requested together with other locks. */
  readonly together?: Asker | undefined
  /** True if `maxHoldMs` begins later. Until then only the lease is limited to `maxHoldMs`. */
  readonly limitedLater?: boolean
  /** The stack of the call, if warnings need it and another object makes the request. */
  readonly calledFrom?: Error | undefined
}

/** A lock object, as the algorithms for one or several locks use it. */
export interface OneLock {
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
  readonly kind: LockKind
  /** The number of the lock object, or of the read-write lock that has this side. */
  readonly number: number
  acquire(owner: Owner, meant: Acquisition, manner: Manner): Promise<Lease | null>
  assertPossible(meant: Acquisition): void
  /** @param failed the words of an outage: the action that failed */
  peek(failed: string): Promise<HolderFacts>
  /** The hold count of the owner with that name, according to Redis; 0 for none. */
  holdCountOf(owner: string | undefined): Promise<number>
}

let made = 0

/** Returns a new number. All objects that callers see as one lock object share it. */
export function nextNumber(): number {
  made += 1
  return made
}

/**
 * Makes the request for one acquisition by a lock object.
 *
 * @param holder keeps the lease for `unlock()`
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
