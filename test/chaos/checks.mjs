// What must be so beside exclusion: somebody gets in soon, and nothing is left behind.
import { setTimeout as pause } from 'node:timers/promises'
import { now } from './random.mjs'

/** What is abandoned ends with its lease, a queue with its heartbeat. */
export async function findLeft(world) {
  const left = new Set()
  for (const end = now() + 12_000; now() < end; await pause(200)) {
    left.clear()
    for (const { admin } of await world.masters()) {
      for (const key of await admin.keys('*')) {
        const isCounter = key.startsWith('redisson_lock_token:')
        const ttlMs = await admin.pttl(key)
        if (key === 'holdfast_birth' || ttlMs === -2 || (isCounter && ttlMs > 0)) continue
        left.add(`left behind: ${key} (${ttlMs} ms)`)
      }
      for (const [db] of String(await admin.info('keyspace')).matchAll(/(?<=^db)\d+/gm)) {
        if (Number(db) !== world.db) left.add(`keys in database ${db} instead of ${world.db}`)
      }
    }
    if (left.size === 0) break
  }
  return [...left]
}

/**
 * While nothing is wrong somebody gets in soon, at the names that all fight for.
 *
 * @param entries when somebody got in, in order
 * @param troubles from when to when something was wrong
 */
export function findQuiet(entries, troubles, until, mostMs) {
  const found = []
  for (const [i, at] of entries.entries()) {
    const from = entries[i - 1] ?? at
    if (at - from < mostMs || at > until) continue
    const quietMs = longestQuiet(from, at, troubles)
    if (quietMs >= mostMs) {
      found.push(`nobody was let in for ${quietMs.toFixed(0)} ms without a fault`)
    }
  }
  return found
}

function longestQuiet(from, to, troubles) {
  let longest = 0
  let at = from
  for (const [begin, over] of troubles) {
    if (over < from || begin > to) continue
    longest = Math.max(longest, begin - at)
    at = Math.max(at, over)
  }
  return Math.max(longest, to - at)
}
