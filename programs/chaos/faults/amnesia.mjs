// Servers that forget. On one server a lock may then have two holders for a moment: that is told.
import { setTimeout as pause } from 'node:timers/promises'
import { pick } from '../random.mjs'

/** One that is read-only just now forgets nothing. */
const unlessReadOnly = (error) => {
  if (!error.message.startsWith('READONLY')) throw error
}

/** All of a server at once: a quorum forgives one of them at a time, and nobody gets in by it. */
export const ALL_FORGOTTEN = {
  emptied: ({ admin }) => admin.flushall().catch(unlessReadOnly),
  'restarted empty': (server, ms) =>
    server.inTurn(async () => {
      await server.kill()
      await pause(ms)
      await server.restart()
    }),
}

/** One lock, or some: a server that does not know it votes on, and a bare majority is one too few. */
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

/** The names whose holders may be lost by it; undefined for all. */
export const lockOf = (what, random, names) =>
  what === 'key deleted' ? pick(random, names) : undefined
