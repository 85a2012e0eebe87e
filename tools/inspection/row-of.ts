import type { LockDetail, LockRow } from './inspection.ts'

/** Returns the row of a detail, without its waiters and votes. */
export function rowOf({ queue: _queue, votes: _votes, ...row }: LockDetail): LockRow {
  return row
}
