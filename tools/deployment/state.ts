import { type RowKind, viewOf } from '../kinds/all.ts'
import type { State, StateFacts } from '../kinds/kind.ts'
import type { HolderRow } from './rows.ts'

interface LockStateFacts extends StateFacts {
  readonly kind: RowKind
  readonly holders: readonly Omit<HolderRow, 'process'>[]
}

/** Returns the state of one lock, semaphore, latch or election, as a code and in words. */
export const stateOf = (facts: LockStateFacts): State => viewOf(facts.kind).stateOf(facts)
