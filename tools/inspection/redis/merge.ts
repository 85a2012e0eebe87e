import { viewOf } from '../../kinds/all.ts'
import type { BareDetail } from '../conclude.ts'

/**
 * Merges what the reachable masters of a quorum know about one lock. A holder is an owner that a
 * majority of all masters names. Returns null if no master knows the lock.
 */
export function merge(rows: readonly (BareDetail | null)[], masters: number): BareDetail | null {
  const found = rows.filter((row) => row !== null)
  const [first] = found
  if (first === undefined) return null
  const { kind, count, job } = first
  const majority = Math.floor(masters / 2) + 1
  const owners = new Set(found.flatMap(({ holders }) => holders.map(({ owner }) => owner)))
  const holders = [...owners].flatMap((owner) => {
    const votes = found.flatMap((row) => row.holders.filter((one) => one.owner === owner))
    const [vote] = votes
    if (vote === undefined || votes.length < majority) return []
    // The hold ends when so many votes have expired that no majority is left.
    const remaining = votes.map(({ ttlMs }) => ttlMs ?? Infinity).sort((a, b) => b - a)
    const ttlMs = remaining[majority - 1] ?? 0
    return [{ ...vote, ttlMs: ttlMs === Infinity ? null : ttlMs }]
  })
  const most = (numbers: readonly (number | null)[]) =>
    numbers.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null)
  return {
    ...first,
    ...viewOf(kind).stateOf({ holders, mode: undefined, count, isSet: true, job }),
    holders,
    token: most(found.map(({ token }) => token)),
    waiting: most(found.map(({ waiting }) => waiting)) ?? 0,
    oldestWaitMs: most(found.map(({ oldestWaitMs }) => oldestWaitMs)),
    votes: votesOf(rows),
  }
}

/** Returns the number of votes of each owner as text, such as `<owner>: 2, nobody: 1`. */
function votesOf(rows: readonly (BareDetail | null)[]): string {
  const votes = new Map<string, number>()
  for (const row of rows) {
    const owner = row?.holders[0]?.owner ?? 'nobody'
    votes.set(owner, (votes.get(owner) ?? 0) + 1)
  }
  return [...votes].map(([owner, count]) => `${owner}: ${count}`).join(', ')
}
