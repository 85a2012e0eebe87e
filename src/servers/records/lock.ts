import type {
  AcquireAnswer,
  HandOverAnswer,
  ReenterAnswer,
  Released,
  SeenHold,
} from '../answers.ts'
import { type LockFacts, MOST_LISTED } from '../facts.ts'
import { clientOf } from '../owner-id.ts'
import type { Remaining } from '../remaining.ts'
import type { Attempt, LoweredHold, Passing, Reentry } from '../requests.ts'
import { extendCounter, lastToken, mint, type TokenTerms } from './counter.ts'
import { otherListeners } from './hint-messages.ts'
import { queueEntries } from './lock-queue.ts'
import type { OpenRecord } from './open-record.ts'
import {
  freeLock,
  giveLock,
  heldAnswer,
  heldBy,
  holdAgeMs,
  holderFacts,
  LOCK_PART,
  lengthenLock,
  lockChannel,
  lockLeft,
  lockOf,
  lockToRelease,
} from './stored-lock.ts'

const GONE = { kind: 'gone' } as const

/** Acquires the lock for an owner. If the owner already holds the lock, lengthens its lease. */
export function acquireLock(
  record: OpenRecord,
  { owner, leaseMs, reserve }: Attempt,
  counterMs: number,
): AcquireAnswer {
  const lock = lockOf(record)
  if (heldBy(lock, owner) !== null) {
    lengthenLock(record, { leaseMs, counterMs })
    const token = lastToken(record)
    if (token !== 0) return granted(token)
  } else if (lock.holder !== null) return heldAnswer(record)
  else giveLock(record, owner, leaseMs)
  return granted(mint(record, { leaseMs, counterMs, reserve }), reserve)
}

/**
 * Raises the hold count of an owner to `holds`, and lengthens the lease. The owner must still hold
 * the lock under this token.
 */
export function reenterLock(
  record: OpenRecord,
  { owner, token, holds, leaseMs }: Reentry,
  counterMs: number,
): ReenterAnswer {
  const hold = heldBy(lockOf(record), owner)
  if (hold === null || lastToken(record) > token) return GONE
  hold.holds = Math.max(hold.holds, holds)
  lengthenLock(record, { leaseMs, counterMs })
  return granted(0)
}

/** Passes the lock to another owner of the same client, or frees the lock as `mayFree` allows. */
export function handOverLock(
  record: OpenRecord,
  { from, to, mayFree, listens, reserve }: Passing,
  counterMs: number,
): HandOverAnswer {
  const lock = lockOf(record)
  const last = lastToken(record)
  // The new owner holds the lock, so an earlier copy of this request has finished the hand-over.
  if (heldBy(lock, to.owner) !== null) return granted(last || from.token)
  if (heldBy(lock, from.owner) === null || last > from.token) return GONE
  const more = mayFree === 'always' ? 1 : 0
  const others = otherListeners(record, lockChannel(record.rawName), listens, more)
  if (mayFree !== 'never' && others !== 0) {
    freeLock(record)
    return { kind: 'yielded', others }
  }
  giveLock(record, to.owner, to.leaseMs)
  const terms = { leaseMs: to.leaseMs, counterMs, reserve, above: from.token }
  return granted(mint(record, terms), reserve)
}

/** Lowers the hold count to `holds`. At 0 frees the lock. Never raises the count. */
export function lowerLock(
  record: OpenRecord,
  { owner, holds, token, listens }: LoweredHold,
): Released {
  const hold = heldBy(lockToRelease(record), owner)
  if (hold === null || (token !== '' && lastToken(record) > token)) return GONE
  if (holds === 0) return { kind: 'freed', others: freeLock(record, listens) }
  hold.holds = Math.min(hold.holds, holds)
  return { kind: 'kept' }
}

/** Renews a lease, and returns its remaining time, as `LockServer.renew` does. */
export function renewLock(record: OpenRecord, owner: string, terms: TokenTerms): Remaining {
  const lock = record.part(LOCK_PART)
  if (heldBy(lock, owner) === null) return 'gone'
  if (terms.leaseMs > 0) {
    lengthenLock(record, terms)
    extendCounter(record, terms)
  }
  return lockLeft(lock, record.nowMs)
}

/** Returns the current hold, for a call of `forceRelease`; null if the lock is free. */
export function seenHold(record: OpenRecord): SeenHold | null {
  const { holder } = lockOf(record)
  return holder === null ? null : { owner: holder.owner, token: lastToken(record) || null }
}

/** Frees the lock if this hold still exists. Does not end a hold with a later token. */
export function forceRelease(record: OpenRecord, { owner, token }: SeenHold): boolean {
  if (heldBy(lockOf(record), owner) === null) return false
  if (token !== null && lastToken(record) > token) return false
  freeLock(record)
  return true
}

export function lockFacts(record: OpenRecord): LockFacts {
  const { holder, queue } = lockOf(record)
  const entries = queueEntries(queue, MOST_LISTED, record.nowMs)
  const clients = new Set(entries.map(({ owner }) => clientOf(owner)))
  return {
    ...holderFacts(record),
    ageMs: holder === null ? null : holdAgeMs(record),
    waiters: Math.max(record.moment.listeners(lockChannel(record.rawName)) ?? 0, clients.size),
    queue: entries,
    queueLength: queue.order.length,
  }
}

function granted(token: number, reserved = 0) {
  return { kind: 'granted', token, reserved } as const
}
