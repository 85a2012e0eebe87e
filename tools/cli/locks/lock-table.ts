import type { LockRow } from '../../inspection/inspection.ts'
import { type Column, table } from '../text/table.ts'
import { duration, escaped } from '../text/words.ts'
import { ageText, holdersText, leaseText } from './holders.ts'

export function lockTable(rows: readonly LockRow[], keyPrefix: string, width: number): string[] {
  const columns: readonly Column<LockRow>[] = [
    { head: 'NAME', text: ({ key }) => escaped(nameOf(key, keyPrefix)), least: 16 },
    { head: 'KIND', text: ({ kind }) => kind, spare: 4 },
    { head: 'STATE', text: ({ stateText }) => stateText, least: 8 },
    { head: 'HOLDER', text: holdersText, least: 12 },
    { head: 'HELD FOR', text: ageText, isNumber: true, spare: 1 },
    { head: 'LEASE LEFT', text: leaseText, isNumber: true, spare: 3 },
    { head: 'WAITING', text: ({ waiting }) => `${waiting}`, isNumber: true },
    { head: 'OLDEST WAIT', text: oldestText, isNumber: true, spare: 2 },
  ]
  return table(columns, rows, width)
}

const oldestText = ({ oldestWaitMs }: LockRow): string =>
  oldestWaitMs === null ? '-' : duration(oldestWaitMs)

export const nameOf = (key: string, keyPrefix: string): string => key.slice(keyPrefix.length)

/** True if users should see the lock: it is held or waited for, or has a problem. */
export const isBusy = ({ state, waiting, problem }: LockRow): boolean =>
  state !== 'free' || waiting > 0 || problem !== undefined

/**
 * Compares two rows for the table. Locks with the most waiters come first, then held locks before
 * free locks, then by name.
 */
export function byWeight(a: LockRow, b: LockRow): number {
  const held = (row: LockRow) => (row.state === 'free' ? 0 : 1)
  return b.waiting - a.waiting || held(b) - held(a) || (a.key < b.key ? -1 : 1)
}
