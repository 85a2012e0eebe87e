import { counted } from '../../cli/text/words.ts'
import { configOf, infoOf, numberOf } from '../facts/names.ts'
import { bytes, type Check, setting } from './check.ts'

/** Checks what happens to locks when the memory of a server is full. */
export const memory: Check = {
  codes: {
    'evicts-locks': 'error',
    'would-evict-locks': 'note',
    'memory-full': 'error',
    'memory-nearly-full': 'warning',
  },
  *run({ servers }) {
    for (const server of servers) {
      const policy = infoOf(server, 'maxmemory_policy') ?? configOf(server, 'maxmemory-policy')
      const limit = numberOf(infoOf(server, 'maxmemory') ?? configOf(server, 'maxmemory'))
      const used = numberOf(infoOf(server, 'used_memory'))
      const evicted = numberOf(infoOf(server, 'evicted_keys')) ?? 0
      if (policy === undefined || limit === undefined) continue
      const at = server.address
      const numbers = { policy, limitBytes: limit, usedBytes: used ?? -1, evicted }
      if (policy !== 'noeviction') {
        yield limit > 0
          ? {
              code: 'evicts-locks',
              at,
              seen: `maxmemory-policy is ${policy}, with a maxmemory of ${bytes(limit)}; ${counted(evicted, 'key')} evicted since it started.`,
              why: 'When the memory is full, the server deletes keys. Keys of locks have a TTL, so volatile-* deletes these keys too. Then another client can acquire the lock while the old holder continues.',
              fix: setting(server, 'maxmemory-policy', 'noeviction'),
              numbers,
            }
          : {
              code: 'would-evict-locks',
              at,
              seen: `maxmemory-policy is ${policy}; maxmemory is 0, so nothing is evicted.`,
              why: 'If maxmemory is set, the server may evict held locks. Then another client can acquire these locks.',
              fix: setting(server, 'maxmemory-policy', 'noeviction'),
              numbers,
            }
      } else if (limit > 0 && used !== undefined && used > 0.8 * limit) {
        const isFull = used > 0.95 * limit
        yield {
          code: isFull ? 'memory-full' : 'memory-nearly-full',
          at,
          seen: `${bytes(used)} of ${bytes(limit)} are used (${Math.round((100 * used) / limit)} %), and nothing is evicted.`,
          why: 'A full server answers OOM: no lock can be acquired there. Releases and renewals still work.',
          fix: setting(server, 'maxmemory', 2 * limit),
          numbers,
        }
      }
    }
  },
}
