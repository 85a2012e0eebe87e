import type { LockDetail, LockRow } from './inspection.ts'

export function rowOf({ queue: _queue, votes: _votes, job, ...row }: LockDetail): LockRow {
  return { ...row, ...(job && { job: { ...job, ended: [] } }) }
}
