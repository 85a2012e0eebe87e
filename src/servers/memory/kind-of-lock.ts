import { CallFailure } from '../call-failure.ts'
import { hasThisName, type NumberKind, WHAT_HAS_IT } from '../number-kind.ts'
import { FOREVER } from '../record-store.ts'
import { type LockRecord, OTHERS } from './records/lock-record.ts'

const OTHER_LOCK = hasThisName('a lock that is no read-write lock')

/** Returns the error of the server if a plain lock cannot use the name; null if it can. */
export function whyNoPlainLock(record: LockRecord): string | null {
  return whyNoLock(record) ?? (record.isReadWrite ? hasThisName(WHAT_HAS_IT.readWrite) : null)
}

/** Throws if a read-write lock, a latch or a semaphore uses the name. */
export function refuseReadWrite(record: LockRecord): void {
  const why = whyNoPlainLock(record)
  if (why !== null) throw refusal(why)
}

/** Throws if a plain lock, a latch or a semaphore uses the name. */
export function refuseOthers(record: LockRecord): void {
  if (onlyLocks(record).holder !== null) throw refusal(OTHER_LOCK)
}

/** Returns the record. Throws if a latch or a semaphore uses the name. */
export function onlyLocks(record: LockRecord): LockRecord {
  const why = whyNoLock(record)
  if (why !== null) throw refusal(why)
  return record
}

/** Throws if a lock of any kind, or a latch or semaphore of another kind, uses the name. */
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

/** Notes in the plain record if one of the other parts uses the name. */
export function useOf(record: LockRecord): void {
  const { plain, numberKind, isReadWrite, holder } = record
  if (plain.use !== undefined && plain.use.part !== OTHERS) return
  delete plain.use
  const kind = numberKind ?? (isReadWrite ? 'readWrite' : holder === null ? null : 'lock')
  if (kind !== null) plain.use = { part: OTHERS, what: WHAT_HAS_IT[kind], untilMs: FOREVER }
}

function whyNoLock({ numberKind, userOfName }: LockRecord): string | null {
  const what = numberKind === null ? userOfName : WHAT_HAS_IT[numberKind]
  return what === undefined ? null : hasThisName(what)
}

function refusal(why: string): CallFailure {
  return new CallFailure('refused', why, undefined, true)
}
