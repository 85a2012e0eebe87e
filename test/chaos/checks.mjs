// Nothing is left behind.
import { setTimeout as pause } from 'node:timers/promises'
import { now } from './random.mjs'

const CLIENT_KNOWN_MS = 120_000

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
        // Who a client was that was killed, or could not say that it ends.
        if (key.startsWith('holdfast_client:') && ttlMs > 0 && ttlMs <= CLIENT_KNOWN_MS) continue
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
