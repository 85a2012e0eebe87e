import { CallFailure } from '../call-failure.ts'
import { hasThisName, type NumberKind, WHAT_HAS_IT } from '../number-kind.ts'
import type { LockRecord } from './records/lock-record.ts'

const OTHER_LOCK = hasThisName('a lock that is no read-write lock')

/** Why the name is not to be had for a lock of one owner, in the words of the server; null when it is. */
export function whyNoPlainLock(record: LockRecord): string | null {
  return whyNoLock(record) ?? (record.isReadWrite ? hasThisName(WHAT_HAS_IT.readWrite) : null)
}

/** Refuses a name that somebody has as a read-write lock, or that no lock has. */
export function refuseReadWrite(record: LockRecord): void {
  const why = whyNoPlainLock(record)
  if (why !== null) throw refusal(why)
}

/** Refuses a name that somebody has as a lock of another kind. */
export function refuseOthers(record: LockRecord): void {
  if (onlyLocks(record).holder !== null) throw refusal(OTHER_LOCK)
}

/** Refuses a name that a latch or a semaphore has, in which nothing is to be released either. */
export function onlyLocks(record: LockRecord): LockRecord {
  const why = whyNoLock(record)
  if (why !== null) throw refusal(why)
  return record
}

/** Refuses a name that somebody has as a lock of any kind, or that another kind of number has. */
export function refuseOtherKinds(record: LockRecord, own: NumberKind): void {
  if (record.isReadWrite) throw refusal(hasThisName(WHAT_HAS_IT.readWrite))
  if (record.holder !== null) throw refusal(hasThisName(WHAT_HAS_IT.lock))
  const { numberKind } = record
  if (numberKind !== null && numberKind !== own) {
    throw refusal(hasThisName(WHAT_HAS_IT[numberKind]))
  }
}

function whyNoLock({ numberKind }: LockRecord): string | null {
  return numberKind === null ? null : hasThisName(WHAT_HAS_IT[numberKind])
}

function refusal(why: string): CallFailure {
  return new CallFailure('refused', why, undefined, true)
}
