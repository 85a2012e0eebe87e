import type { LockRow } from '../../inspection/inspection.ts'
import { duration, escaped } from '../text/words.ts'
import type { View } from './follow.ts'
import { holdersText } from './holders.ts'
import { nameOf } from './lock-table.ts'

/**
 * A change between two views. `watch --json` prints the change and the time. If the change concerns
 * a lock, `watch --json` also prints the name.
 */
type LockChange =
  | { readonly event: 'held' | 'free' | 'waiting'; readonly row: LockRow }
  | { readonly event: 'outage'; readonly message: string }
  | { readonly event: 'back' }

/**
 * Yields the changes between two views. If a lock has disappeared, yields its last row without
 * holders and waiters.
 */
export function* changes(before: View, after: View): Generator<LockChange> {
  if (after.failure !== null) {
    if (before.failure === null) yield { event: 'outage', message: after.failure }
    return
  }
  if (before.failure !== null) yield { event: 'back' }
  const old = new Map(before.rows.map((row) => [row.key, row]))
  for (const row of after.rows) {
    const was = old.get(row.key)
    old.delete(row.key)
    const isHeld = row.state !== 'free'
    if (isHeld && (was === undefined || holdOf(was) !== holdOf(row))) yield { event: 'held', row }
    if (!isHeld && was !== undefined && was.state !== 'free') yield { event: 'free', row }
    if (row.waiting !== (was?.waiting ?? 0)) yield { event: 'waiting', row }
  }
  for (const row of old.values()) {
    const nobody = { holders: [], waiting: 0, oldestWaitMs: null }
    const gone = { ...row, state: 'free' as const, stateText: 'free', ...nobody }
    if (row.state !== 'free') yield { event: 'free', row: gone }
    if (row.waiting > 0) yield { event: 'waiting', row: gone }
  }
}

/** Returns a text that changes if the state, the token or the holders of the lock change. */
const holdOf = ({ state, stateText, token, holders }: LockRow): string =>
  JSON.stringify([state, stateText, token, holders.map(({ owner }) => owner).sort()])

export function changeJson(change: LockChange, at: string, keyPrefix: string): string {
  if (!('row' in change)) return JSON.stringify({ at, ...change })
  const { event, row } = change
  return JSON.stringify({ at, event, name: nameOf(row.key, keyPrefix), ...row })
}

export function changeText(change: LockChange, at: string, keyPrefix: string): string {
  if (change.event === 'back') return `${at}  back     the server answers again`
  if (change.event === 'outage') return `${at}  outage   ${escaped(change.message)}`
  const { event, row } = change
  const name = escaped(nameOf(row.key, keyPrefix))
  return `${at}  ${event.padEnd(7)}  ${name}${detailOf(event, row)}`
}

function detailOf(event: 'held' | 'free' | 'waiting', row: LockRow): string {
  if (event === 'free') return ''
  if (event === 'held') {
    const who = row.holders.length === 0 ? '' : ` by ${holdersText(row)}`
    if (row.count !== null) return `${who}: ${row.stateText}`
    return `${who}${row.token === null ? '' : `, token ${row.token}`}`
  }
  const { waiting, oldestWaitMs } = row
  return `: ${waiting}${oldestWaitMs === null ? '' : `, the oldest for ${duration(oldestWaitMs)}`}`
}
