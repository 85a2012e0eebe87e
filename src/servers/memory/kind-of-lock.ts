import { CallFailure } from '../call-failure.ts'
import { hasThisName, WHAT_HAS_IT } from '../number-kind.ts'
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

/** Notes in the plain record if one of the other parts uses the name. */
export function useOf(record: LockRecord): void {
  const { plain, isReadWrite, holder } = record
  if (plain.use !== undefined && plain.use.part !== OTHERS) return
  delete plain.use
  const kind = isReadWrite ? 'readWrite' : holder === null ? null : 'lock'
  if (kind !== null) plain.use = { part: OTHERS, what: WHAT_HAS_IT[kind], untilMs: FOREVER }
}

function whyNoLock({ userOfName }: LockRecord): string | null {
  return userOfName === undefined ? null : hasThisName(userOfName)
}

function refusal(why: string): CallFailure {
  return new CallFailure('refused', why, undefined, true)
}
