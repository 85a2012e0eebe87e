import { HistoryIndex } from '../../tools/dashboard/handler/history-index.ts'
import type { HistoryEntry } from '../../tools/history/history.ts'

const NOTHING = {
  owner: null,
  token: null,
  waitedMs: null,
  heldMs: null,
  path: null,
  reason: null,
  stalledMs: null,
  leaseMs: null,
  limitMs: null,
  dropped: null,
}

/** An entry of the history. It was written at once, unless it has an id. */
export function entry(at: number, given: Partial<HistoryEntry> = {}): HistoryEntry {
  const label = given.label ?? 'api'
  return {
    id: `${at}-0`,
    at,
    event: 'acquired',
    name: 'a',
    isGroup: false,
    kind: 'lock',
    client: given.owner?.split(':')[0] ?? label,
    ...NOTHING,
    ...given,
    label,
  }
}

export function indexOf(entries: readonly HistoryEntry[], limits = {}): HistoryIndex {
  const index = new HistoryIndex(limits)
  const inOrder = entries.toSorted((a, b) => Number.parseInt(a.id, 10) - Number.parseInt(b.id, 10))
  for (const one of inOrder) index.add(one)
  return index
}
