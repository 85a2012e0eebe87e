import { type RowKind, viewOf } from '../kinds/all.ts'
import type { State, StateFacts } from '../kinds/kind.ts'
import type { HolderRow } from './rows.ts'

interface Facts extends StateFacts {
  readonly kind: RowKind
  readonly holders: readonly Omit<HolderRow, 'process'>[]
}

/**
 * The state of one lock, semaphore, latch or election. Lists, details and the dashboard use this
 * function.
 */
export const stateOf = (facts: Facts): State => viewOf(facts.kind).stateOf(facts)
