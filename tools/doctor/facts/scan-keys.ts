import { readWireFormat, type WireFormat } from '../../../src/index.ts'
import { clientIn, endsByItself, isCounter } from '../../inspection/redis/key-names.ts'
import { isHeldLock } from '../../inspection/redis/kinds/owners.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import type { KeyFacts } from './facts.ts'

/**
 * About how many keys one request examines. A larger number would delay other clients. A hash with
 * more fields than this is not read.
 */
const AT_A_TIME = 200
/** The most keys in each list of the result. */
const MOST_NAMES = 20
const LONGEST_MS = 1_000

/**
 * Finds keys of locks without a TTL, and the wire formats of clients. Stops after about `mostKeys`
 * keys, or after one second. Leaves out the numbers of latches and semaphores, which never have a
 * TTL.
 */
export async function scanKeys(
  client: ServerClient,
  keyPrefix: string,
  mostKeys: number,
): Promise<KeyFacts> {
  const found = { locks: [] as string[], counters: [] as string[], others: [] as string[] }
  const endsAt = performance.now() + LONGEST_MS
  const formats = new Map<string, WireFormat | null>()
  let cursor = '0'
  let looked = 0
  do {
    const [next, keys] = (await client.send('SCAN', cursor, 'COUNT', AT_A_TIME)) as [
      string,
      string[],
    ]
    cursor = next
    looked += keys.length
    for (const format of await formatsOf(client, keys)) formats.set(JSON.stringify(format), format)
    const isOurs = (key: string) => isCounter(key) || endsByItself(key) || key.startsWith(keyPrefix)
    const endless = await withoutTtl(client, keys.filter(isOurs))
    const sorts = await Promise.all(endless.map((key) => sortOf(client, key)))
    for (const [i, key] of endless.entries()) {
      const sort = sorts[i]
      if (sort !== undefined && found[sort].length < MOST_NAMES) found[sort].push(key)
    }
  } while (cursor !== '0' && looked < mostKeys && performance.now() < endsAt)
  return { looked, all: cursor === '0', ...found, wireFormats: [...formats.values()] }
}

/**
 * Returns the wire formats of the clients that report themselves in these keys. Null for a client
 * that reports no format.
 */
async function formatsOf(client: ServerClient, keys: readonly string[]) {
  const clients = keys.filter((key) => clientIn(key) !== undefined)
  const abouts = await Promise.all(clients.map((key) => client.send('HGET', key, 'about')))
  return abouts.filter((about) => about !== null).map((about) => readWireFormat(String(about)))
}

async function withoutTtl(client: ServerClient, keys: readonly string[]): Promise<string[]> {
  const ttls = await Promise.all(keys.map((key) => client.send('PTTL', key)))
  return keys.filter((_, i) => ttls[i] === -1)
}

async function sortOf(
  client: ServerClient,
  key: string,
): Promise<'locks' | 'counters' | 'others' | undefined> {
  if (isCounter(key)) return 'counters'
  if (endsByItself(key)) return 'others'
  return (await isLock(client, key)) ? 'locks' : undefined
}

async function isLock(client: ServerClient, key: string): Promise<boolean> {
  if ((await client.send('TYPE', key)) !== 'hash') return false
  if (Number(await client.send('HLEN', key)) > AT_A_TIME) return false
  return isHeldLock((await client.send('HKEYS', key)) as string[])
}
