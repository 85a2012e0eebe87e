import type { LockDetail, LockRow } from './inspection.ts'

export function rowOf({ queue: _queue, votes: _votes, ...row }: LockDetail): LockRow {
  return row
}
