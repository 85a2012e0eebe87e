import { CallFailure } from '../call-failure.ts'
import { hasThisName, type NumberKind, WHAT_HAS_IT } from '../number-kind.ts'
import type { LockRecord } from './records/lock-record.ts'

const OTHER_LOCK = hasThisName('a lock that is no read-write lock')

/** Why a plain lock cannot use the name, in the words of the server; null if it can. */
export function whyNoPlainLock(record: LockRecord): string | null {
  return whyNoLock(record) ?? (record.isReadWrite ? hasThisName(WHAT_HAS_IT.readWrite) : null)
}

/** Refuses a name that a read-write lock, a latch or a semaphore uses. */
export function refuseReadWrite(record: LockRecord): void {
  const why = whyNoPlainLock(record)
  if (why !== null) throw refusal(why)
}

/** Refuses a name that a plain lock, a latch or a semaphore uses. */
export function refuseOthers(record: LockRecord): void {
  if (onlyLocks(record).holder !== null) throw refusal(OTHER_LOCK)
}

/** Refuses a name that a latch or a semaphore uses. Releases refuse such a name too. */
export function onlyLocks(record: LockRecord): LockRecord {
  const why = whyNoLock(record)
  if (why !== null) throw refusal(why)
  return record
}

/** Refuses a name that a lock of any kind uses, or a latch or semaphore of another kind. */
export function refuseOtherKinds(record: LockRecord, own: NumberKind): void {
  if (record.isReadWrite) throw refusal(hasThisName(WHAT_HAS_IT.readWrite))
  if (record.holder !== null) throw refusal(hasThisName(WHAT_HAS_IT.lock))
  const { numberKind } = record
  if (numberKind !== null && numberKind !== own) {
    throw refusal(hasThisName(WHAT_HAS_IT[numberKind]))
  }
  const what = record.userOfName
  if (what !== undefined) throw refusal(hasThisName(what))
}

/**
 * Refuses a name that any other kind uses.
 *
 * @param own the words for a name that the own kind uses
 */
export function refuseAllOthers(record: LockRecord, own: string): void {
  if (record.userOfName === own) return
  const why = whyNoPlainLock(record)
  if (why !== null) throw refusal(why)
  if (record.holder !== null) throw refusal(hasThisName(WHAT_HAS_IT.lock))
}

function whyNoLock({ numberKind, userOfName }: LockRecord): string | null {
  const what = numberKind === null ? userOfName : WHAT_HAS_IT[numberKind]
  return what === undefined ? null : hasThisName(what)
}

function refusal(why: string): CallFailure {
  return new CallFailure('refused', why, undefined, true)
}
