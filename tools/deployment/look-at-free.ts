import type { ServerClient } from '../servers/open-server.ts'
import { derived } from './key-names.ts'
import { reply } from './reply.ts'
import type { LockRow } from './rows.ts'
import { stateOf } from './state.ts'

/**
 * Reads locks that seem to have only a token counter, with three commands for all of them. Not for
 * a cluster, which refuses commands for keys of several slots.
 *
 * @returns the free locks, and the keys that may have more than a counter now
 */
export async function lookAtFree(
  server: ServerClient,
  keys: readonly string[],
): Promise<{ free: LockRow[]; others: readonly string[] }> {
  const counters = keys.map((key) => derived('redisson_lock_token', key))
  const [tokens, values, existing] = await server.askAll([
    ['MGET', ...counters],
    ['MGET', ...keys],
    ['EXISTS', ...keys],
  ])
  const texts = reply<(string | null)[]>(values, [])
  const isText = (_: string, i: number) => texts[i] !== null
  const others = keys.filter(isText)
  // A key exists that is no string, so its lock may be held now. The caller must read all keys.
  if (reply<number>(existing, 0) !== others.length) return { free: [], others: keys }
  const free = keys.flatMap((key, i): LockRow[] => {
    const token = reply<(string | null)[]>(tokens, [])[i] ?? null
    if (isText(key, i) || token === null) return []
    const known = { kind: 'lock', holders: [], mode: undefined, count: null, isSet: true } as const
    const nobody = { holders: [], waiting: 0, oldestWaitMs: null, count: null }
    return [{ key, kind: 'lock', ...stateOf(known), token: Number(token), ...nobody }]
  })
  return { free, others }
}
