import type { ServerClient } from '../servers/open-server.ts'
import { derived } from './key-names.ts'
import { reply } from './reply.ts'
import type { LockRow } from './rows.ts'
import { stateOf } from './state.ts'

/**
 * Locks of which there seems to be a counter and nothing else, in three commands for all of them. No cluster has these
 * commands for keys of several slots.
 *
 * @returns those that are free; and those of which there is more by now, or are something else
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
  // Not all of them are texts: some of these locks are held by now.
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
