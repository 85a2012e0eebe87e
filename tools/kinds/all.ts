import type { KindName } from '../../src/index.ts'
import { barrier } from './barrier.ts'
import { election } from './election.ts'
import { job } from './job.ts'
import type { HoldView, KindView } from './kind.ts'
import { latch } from './latch.ts'
import { lock } from './lock.ts'
import { permits } from './permits.ts'
import { rate } from './rate.ts'
import { readWrite } from './read-write.ts'
import { semaphore } from './semaphore.ts'

/**
 * All kinds that the tools show. A new kind has a file in this folder, and a line here. On a server
 * without scripts, the tools try the last kind first. Locks are first here, because every free name
 * with a token counts as a lock.
 */
const ALL = [lock, job, election, readWrite, barrier, latch, semaphore, permits, rate] as const

export type RowKind = (typeof ALL)[number]['kind']

export const KINDS: readonly KindView<RowKind>[] = ALL

const byName = new Map(KINDS.map((one) => [one.kind, one]))

/** Returns the kind of hold that this owner has. `kind` is the kind of the lock. */
export function holdOf(kind: RowKind, owner: string): KindName {
  const { holds = {}, holdOf: ofOwner } = viewOf(kind)
  return ofOwner?.(owner) ?? (Object.keys(holds) as KindName[])[0] ?? 'lock'
}

const byHold = new Map(KINDS.flatMap(({ holds = {} }) => Object.entries(holds)))

export const holdViewOf = (hold: KindName): HoldView => byHold.get(hold) ?? { endedBy: [] }

export const viewOf = (kind: RowKind): KindView => byName.get(kind) as KindView
