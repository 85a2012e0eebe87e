import type { TableRow } from './row.ts'

/** What all rows come to. */
export interface Totals {
  readonly locks: number
  /** Locks, permits and elections that somebody holds; no latches. */
  readonly held: number
  /** Live waiters. Candidates of elections are not counted: they wait for as long as another one leads. */
  readonly waiting: number
  /** Since when the first of these has waited; null if nobody waits or it is unknown. */
  readonly waitingSince: number | null
  /** How many rows there are; more free locks are only counted. */
  readonly shown: number
}

/** @param left how many free locks are in no row */
export function totalsOf(rows: readonly TableRow[], left: number): Totals {
  let [held, waiting, since] = [0, 0, Number.POSITIVE_INFINITY]
  for (const row of rows) {
    if (row.state !== 'free' && row.state !== 'closed') held++
    if (row.kind === 'election') continue
    waiting += row.waiting
    since = Math.min(since, row.waitingSince ?? since)
  }
  const waitingSince = Number.isFinite(since) ? since : null
  return { locks: rows.length + left, held, waiting, waitingSince, shown: rows.length }
}
