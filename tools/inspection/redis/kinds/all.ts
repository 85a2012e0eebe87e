import type { RowKind } from '../../../kinds/all.ts'
import { barrier } from './barrier.ts'
import { election } from './election.ts'
import { job } from './job.ts'
import type { KeyKind } from './kind.ts'
import { latch } from './latch.ts'
import { lock } from './lock.ts'
import { permits } from './permits.ts'
import { rate } from './rate.ts'
import { readWrite } from './read-write.ts'
import { semaphore } from './semaphore.ts'

/**
 * All kinds that the tools find in Redis. A new kind has a file in this folder, and a line here. Jobs
 * are before locks: their record is read before the holders, and a lock with a record is a job.
 */
export const KEY_KINDS: readonly KeyKind[] = [
  ...[job, lock, election, readWrite, latch],
  ...[barrier, permits, semaphore, rate],
]

export const keysOf = (kind: RowKind): KeyKind =>
  KEY_KINDS.find((one) => one.kind === kind) as KeyKind
