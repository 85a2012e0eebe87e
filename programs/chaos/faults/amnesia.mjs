// Faults that make a server forget. On a single server, a lock may then have two holders for a moment, so these
// faults are reported to the witness.
import { setTimeout as pause } from 'node:timers/promises'
import { pick } from '../random.mjs'

/** A server that is read-only at this moment forgets nothing. */
const unlessReadOnly = (error) => {
  if (!error.message.startsWith('READONLY')) throw error
}

/**
 * The server forgets all keys. A quorum tolerates this for one server at a time, and no other client acquires a lock.
 */
export const ALL_FORGOTTEN = {
  emptied: ({ admin }) => admin.flushall().catch(unlessReadOnly),
  'restarted empty': (server, ms) =>
    server.inTurn(async () => {
      await server.kill()
      await pause(ms)
      await server.restart()
    }),
}

/**
 * The server forgets one or some locks. It does not notice this, and still votes. If a bare majority has a lock, one
 * vote is missing then.
 */
export const SOME_FORGOTTEN = {
  'key deleted': ({ admin }, _ms, lock) => admin.del(lock).catch(unlessReadOnly),
  evicted: async ({ admin }, ms, lock) => {
    await admin.config('SET', 'maxmemory-policy', 'volatile-ttl')
    const [, used] = /used_memory:(\d+)/.exec(await admin.info('memory'))
    await admin.config('SET', 'maxmemory', `${Number(used) - 1_000}`)
    await admin.exists(lock)
    await pause(Math.min(ms, 20))
    await admin.config('SET', 'maxmemory', '0')
    await admin.config('SET', 'maxmemory-policy', 'noeviction')
  },
}

/** The lock that the fault may take from its holders; undefined for all locks. */
export const lockOf = (what, random, names) =>
  what === 'key deleted' ? pick(random, names) : undefined
