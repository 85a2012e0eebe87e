import type { CallFailure } from '../../call-failure.ts'
import { hasThisName, NameConflict } from '../../name-conflict.ts'
import { READ_WRITE } from '../../read-write-server.ts'
import { LOCK_WORDS, type ServerKind } from '../../server-kind.ts'
import { codeOf } from '../connection/failure-of.ts'
import type { RedisClient } from '../connection/open-client.ts'
import { derived, kindKey } from './keys.ts'

/** Shows how to recognise the main key of a kind. The name of this key is the raw name. */
export interface KeyOfKind {
  readonly kind: ServerKind<object>
  /** The type of the key in Redis, as the command TYPE answers. */
  readonly type: string
  /**
   * The prefix of a second key that shows the kind of the first key; left out if there is no such
   * key.
   */
  readonly mark?: string
}

/** The keys of all kinds except plain locks, by the folder of the kind's scripts in lua/. */
export type KeysOfKinds = ReadonlyMap<string, KeyOfKind>

/** Sends a command that is not a script. Rejects with a `CallFailure`. */
type Send = <T>(send: (client: RedisClient) => Promise<T>) => Promise<T>

/** The words in error messages for keys that Holdfast does not know, by the type of the key. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  zset: 'a sorted set',
  set: 'a set',
  list: 'a list',
  stream: 'a stream',
  string: 'a string',
  hash: 'a hash',
}

/**
 * Matches the fields in the hash of a lock: owners of Holdfast or Redisson, and the mode of a
 * read-write lock.
 */
const OF_LOCK = /^([\w-]{21}|[0-9a-f-]{36}):\d+|^mode$/

/** True if a key has another type, and the refusal does not say what the key is. */
export function isWrongType(failure: CallFailure): boolean {
  return codeOf(failure.message) === 'WRONGTYPE' && !(failure instanceof NameConflict)
}

/**
 * Called after the server refused a key because of its type. Asks the server what already has the
 * name.
 *
 * @param script the name of the script
 * @returns a refusal that says what has the name; the given failure if the client cannot find out
 */
export async function explained(
  failure: CallFailure,
  script: string,
  keys: readonly string[],
  send: Send,
  kinds: KeysOfKinds,
): Promise<CallFailure> {
  const [folder = ''] = script.split('/')
  const wanted = kinds.get(folder)?.type ?? 'hash'
  const names = keys.filter(isRawName)
  try {
    for (const name of names) {
      const type = await send((client) => client.type(name))
      if (type === 'none' || type === wanted) continue
      const what = await send((client) => whatIs(client, name, type, kinds))
      const words = names.length === 1 ? hasThisName(what) : hasTheName(what, name)
      return new NameConflict(words, `WRONGTYPE ${words}`, failure.cause ?? failure)
    }
  } catch {
    // The login may lack the right to ask. Then the caller gets the given failure.
  }
  return failure
}

/**
 * True for the raw name of a lock. The other keys of the lock have one of these prefixes or
 * suffixes.
 */
function isRawName(key: string): boolean {
  return !/^(redisson|holdfast)_|:timeout$|:rwlock_timeout:\d+$/.test(key)
}

const hasTheName = (what: string, name: string) => `${what} has the name ${JSON.stringify(name)}`

async function whatIs(
  client: RedisClient,
  name: string,
  type: string,
  kinds: KeysOfKinds,
): Promise<string> {
  const unknown = `${OF_OTHERS[type] ?? `a key of type "${type}"`} that Holdfast does not know`
  if (type === 'string') {
    const noted = client.get(kindKey(name)).catch(() => null)
    const [text, nameOfKind] = await Promise.all([client.get(name), noted])
    if (!/^-?\d+$/.test(text ?? '')) return unknown
    const known = kinds.get(nameOfKind ?? '')
    return known?.type === type ? known.kind.what : 'a semaphore or latch (a string)'
  }
  for (const { kind, type: ofKind, mark } of kinds.values()) {
    if (ofKind !== type || mark === undefined) continue
    if ((await client.exists(derived(mark, name))) > 0) return kind.what
  }
  if (type !== 'hash') return unknown
  const scanned = client.hscan(name, 0, 'COUNT', 10).catch(() => null)
  const [mode, some] = await Promise.all([client.hget(name, 'mode'), scanned])
  const fields = some?.[1].filter((_, i) => i % 2 === 0) ?? []
  if (!fields.every((field) => OF_LOCK.test(field))) return unknown
  if (mode !== null) return READ_WRITE.what
  return some === null ? 'a lock or another hash' : LOCK_WORDS
}
