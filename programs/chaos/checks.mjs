// Reads the servers at the end of a run: the numbers of permits, and the keys that are left behind.
import { setTimeout as pause } from 'node:timers/promises'
import { hasGeneration } from './kinds.mjs'
import { now } from './random.mjs'

const CLIENT_KNOWN_MS = 120_000

/**
 * The number of available permits and of acquired permits of each semaphore, by name, as Redis stores both numbers.
 */
export async function readNumbers(world, names) {
  const numbers = new Map()
  for (const { admin } of await world.masters()) {
    for (const name of names) {
      // Another node of the cluster has the key.
      const available = await admin.get(name).catch(() => null)
      if (available === null) continue
      const taken = await admin.zcard(permitsOf(name))
      numbers.set(name, { available: Number(available), taken })
    }
  }
  return numbers
}

/** The key of the acquired permits. */
const permitsOf = (name) => `{${name}}:timeout`

/**
 * True if all leases of the acquired permits have ended. Abandoned permits stay in the key until the next request.
 */
async function areAllOver(admin, key) {
  const [seconds] = await admin.time()
  return (await admin.zcount(key, Number(seconds) * 1_000, '+inf')) === 0
}

/** Keys that outlive their lock, each with its longest TTL in milliseconds, as docs/reference/keys.md promises. */
const STAYING = [
  ['redisson_lock_token:', 3_600_000],
  // The identity of a client that was killed, or that could not report its end.
  ['holdfast_client:', CLIENT_KNOWN_MS],
  ['holdfast_kind:', 7 * 24 * 3_600_000],
  ['holdfast_round:', 30 * 24 * 3_600_000],
  ['holdfast_permit_holders:', 2 * 3_600_000 + 10_000],
  // The last round of a cyclic barrier, and the outcomes of arrivals.
  ['holdfast_barrier:', 10 * 60_000],
  ['holdfast_settled:', 10 * 60_000],
  ['holdfast_request:', 11 * 60_000 + 10_000],
]

/**
 * Waits until the leases of abandoned locks and the heartbeats of abandoned queues have ended.
 *
 * @param numbered the names of semaphores and latches, whose numbers stay in Redis
 * @returns a text for each key that is left behind
 */
export async function findLeft(world, numbered = []) {
  const isPermits = (key) => numbered.some((name) => key === permitsOf(name))
  const isNumber = (key) => numbered.includes(key) || hasGeneration(key)
  const left = new Set()
  for (const end = now() + 12_000; now() < end; await pause(200)) {
    left.clear()
    for (const { admin } of await world.masters()) {
      for (const key of await admin.keys('*')) {
        const ttlMs = await admin.pttl(key)
        if (key === 'holdfast_birth' || ttlMs === -2 || (isNumber(key) && ttlMs === -1)) continue
        if (ttlMs === -1 && isPermits(key) && (await areAllOver(admin, key))) continue
        const mostMs = STAYING.find(([prefix]) => key.startsWith(prefix))?.[1] ?? 0
        if (ttlMs > 0 && ttlMs <= mostMs) continue
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
