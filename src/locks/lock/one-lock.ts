import type { Lease } from '../../lease/lease.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { Acquisition } from '../../options/acquisition.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { AcquireRequest, Asker } from '../../waiting/waiter.ts'

/** How one acquisition differs from others, beside what its caller gave. */
export interface Manner {
  /** Whether somebody else than `unlock()` releases it. */
  readonly scoped: boolean
  /** Whether somebody else was found to have it before. */
  readonly known?: boolean
  /** Whether it asks once although it has time. */
  readonly asksOnce?: boolean
  /** Set where it is asked for together with others. */
  readonly together?: Asker | undefined
  /** Whether the longest time that it is held begins later; until then it is kept by leases that are no longer. */
  readonly limitedLater?: boolean
  /** Where the call came from, if that is wanted and it goes on elsewhere. */
  readonly calledFrom?: Error | undefined
}

/** A lock object to those who take one lock or several: one lock, as one client gets at it. */
export interface OneLock {
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
  readonly kind: LockKind
  /** Its number, or that of what it is a side of. */
  readonly number: number
  acquire(owner: Owner, meant: Acquisition, manner: Manner): Promise<Lease | null>
  assertPossible(meant: Acquisition): void
  /** @param failed what did not come about where nobody can tell */
  peek(failed: string): Promise<HolderFacts>
}

let made = 0

/** The number of a lock object: of all that are one to callers. */
export function nextNumber(): number {
  made += 1
  return made
}

/**
 * What one acquisition by a lock object asks for.
 *
 * @param holder under whom the lease is kept for `unlock()`
 * @param askedAt when its call began, on the monotonic clock, if it is an owner of its own; else Infinity
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
