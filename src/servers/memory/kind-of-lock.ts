import { CallFailure } from '../call-failure.ts'
import type { LockRecord } from './records/lock-record.ts'

/** What is said where a name is that of a read-write lock which somebody has. */
const READ_WRITE = 'WRONGTYPE a read-write lock has this name'

const OTHER_LOCK = 'WRONGTYPE a lock that is no read-write lock has this name'

/** The same of latches and semaphores, which share no name with a lock. */
const LATCH = 'WRONGTYPE a count-down latch has this name'
const SEMAPHORE = 'WRONGTYPE a semaphore has this name'

const LOCK = 'WRONGTYPE a lock has this name'

/** Why the name is not to be had for a lock of one owner, in the words of the server; null when it is. */
export function whyNoPlainLock(record: LockRecord): string | null {
  return whyNoLock(record) ?? (record.isReadWrite ? READ_WRITE : null)
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

/** Refuses a name that somebody has as a lock of any kind. */
export function refuseLocks({ holder, isReadWrite }: LockRecord): void {
  if (holder !== null || isReadWrite) throw refusal(LOCK)
}

function whyNoLock({ latch, isSemaphore }: LockRecord): string | null {
  if (latch !== null) return LATCH
  return isSemaphore ? SEMAPHORE : null
}

function refusal(why: string): CallFailure {
  return new CallFailure('refused', why, undefined, true)
}
