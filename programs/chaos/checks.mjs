// Nothing is left behind.
import { setTimeout as pause } from 'node:timers/promises'
import { hasGeneration } from './kinds.mjs'
import { now } from './random.mjs'

const CLIENT_KNOWN_MS = 120_000

/** What Redis knows of semaphores, by name: how many permits are available, and how many are taken. */
export async function readNumbers(world, names) {
  const numbers = new Map()
  for (const { admin } of await world.masters()) {
    for (const name of names) {
      // Another node of a cluster has it.
      const available = await admin.get(name).catch(() => null)
      if (available === null) continue
      const taken = await admin.zcard(permitsOf(name))
      numbers.set(name, { available: Number(available), taken })
    }
  }
  return numbers
}

/** Where the permits are that are taken. */
const permitsOf = (name) => `{${name}}:timeout`

/** Permits that were abandoned stay there until the next request, which gives them back. */
async function areAllOver(admin, key) {
  const [seconds] = await admin.time()
  return (await admin.zcount(key, Number(seconds) * 1_000, '+inf')) === 0
}

/** What stays for a while by itself, for as long as docs/reference/keys.md says, in milliseconds. */
const STAYING = [
  ['redisson_lock_token:', 3_600_000],
  // Who a client was that was killed, or could not say that it ends.
  ['holdfast_client:', CLIENT_KNOWN_MS],
  ['holdfast_kind:', 7 * 24 * 3_600_000],
  ['holdfast_round:', 30 * 24 * 3_600_000],
  ['holdfast_permit_holders:', 2 * 3_600_000 + 10_000],
  // Of cyclic barriers: the last round, and outcomes of arrivals.
  ['holdfast_barrier:', 10 * 60_000],
  ['holdfast_settled:', 10 * 60_000],
  ['holdfast_request:', 11 * 60_000 + 10_000],
]

/**
 * What is abandoned ends with its lease, a queue with its heartbeat.
 *
 * @param numbered the names of semaphores and latches, whose number stays
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
