import { CallFailure } from '../call-failure.ts'
import type { LockRecord } from './lock-record.ts'

/** What is said where a name is that of a read-write lock which somebody has. */
const READ_WRITE = 'WRONGTYPE a read-write lock has this name'

const LATCH = 'WRONGTYPE a count-down latch has this name'

const NO_LATCH = 'WRONGTYPE a lock has this name'

const OTHER_LOCK = 'WRONGTYPE a lock that is no read-write lock has this name'

/** Why the name is not to be had for a lock of one owner, in the words of the server; null when it is. */
export function whyNoPlainLock({ isReadWrite, latch }: LockRecord): string | null {
  if (latch !== null) return LATCH
  return isReadWrite ? READ_WRITE : null
}

/** Refuses a name that somebody has as a read-write lock. */
export function refuseReadWrite(record: LockRecord): void {
  const why = whyNoPlainLock(record)
  if (why !== null) throw new CallFailure('refused', why, undefined, true)
}

/** Refuses a name that somebody has as a lock of another kind. */
export function refuseOthers({ holder, latch }: LockRecord): void {
  if (holder !== null) throw new CallFailure('refused', OTHER_LOCK, undefined, true)
  if (latch !== null) throw new CallFailure('refused', LATCH, undefined, true)
}

/** Refuses a name that somebody has as a lock. */
export function refuseNoLatch({ holder, isReadWrite }: LockRecord): void {
  if (holder !== null || isReadWrite) throw new CallFailure('refused', NO_LATCH, undefined, true)
}
