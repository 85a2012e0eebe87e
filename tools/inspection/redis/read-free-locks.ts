import { lockKeys } from '../../../src/servers/redis/calls/keys.ts'
import { viewOf } from '../../kinds/all.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import type { LockRow } from '../inspection.ts'
import { reply } from './answers.ts'

/**
 * Finds locks that are free, because they have only a token counter. Needs only three commands. A
 * cluster refuses these commands, because the keys are in several slots.
 *
 * @returns `free`: the free locks. `others`: the keys that the caller must read in full, because
 * they may have more than a counter
 */
export async function readFreeLocks(
  server: ServerClient,
  keys: readonly string[],
): Promise<{ free: LockRow[]; others: readonly string[] }> {
  const nothing = { holders: [], mode: undefined, count: null, isSet: true }
  const state = viewOf('lock').stateOf(nothing)
  const counters = keys.map((key) => lockKeys(key).counter)
  const [tokens, values, existing] = await server.sendAll([
    ['MGET', ...counters],
    ['MGET', ...keys],
    ['EXISTS', ...keys],
  ])
  const texts = reply<(string | null)[]>(values, [])
  const isText = (_: string, i: number) => texts[i] !== null
  const others = keys.filter(isText)
  // At least one key is not a string, so a lock may be held. The caller must read all keys in full.
  if (reply<number>(existing, 0) !== others.length) return { free: [], others: keys }
  const free = keys.flatMap((key, i): LockRow[] => {
    const token = reply<(string | null)[]>(tokens, [])[i] ?? null
    if (isText(key, i) || token === null) return []
    const nobody = { holders: [], waiting: 0, oldestWaitMs: null, count: null }
    return [{ key, kind: 'lock', ...state, token: Number(token), ...nobody }]
  })
  return { free, others }
}
