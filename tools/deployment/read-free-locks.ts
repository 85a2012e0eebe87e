import { derived } from '../kinds/names.ts'
import type { ServerClient } from '../servers/open-server.ts'
import { reply } from './reply.ts'
import type { LockRow } from './rows.ts'
import { stateOf } from './state.ts'

/**
 * Reads many locks with only three commands, which find the locks that have only a token counter. A
 * cluster refuses these commands, because the keys are in several slots.
 *
 * @returns `free`: the free locks. `others`: the keys that the caller must read in full, because
 * more than a counter may exist
 */
export async function readFreeLocks(
  server: ServerClient,
  keys: readonly string[],
): Promise<{ free: LockRow[]; others: readonly string[] }> {
  const counters = keys.map((key) => derived('redisson_lock_token', key))
  const [tokens, values, existing] = await server.sendAll([
    ['MGET', ...counters],
    ['MGET', ...keys],
    ['EXISTS', ...keys],
  ])
  const texts = reply<(string | null)[]>(values, [])
  const isText = (_: string, i: number) => texts[i] !== null
  const others = keys.filter(isText)
  // At least one key exists but is not a string, so a lock may be held now. The caller must read
  // all keys in full.
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
