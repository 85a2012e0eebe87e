import { setTimeout as pause } from 'node:timers/promises'
import { redisCli } from '../../servers/endpoint.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import { matcherOf } from '../glob.ts'
import type { EndlessKey, ListOptions } from '../inspection.ts'
import { shellWord } from '../shell-word.ts'
import { reply } from './answers.ts'
import {
  CLIENT_PATTERN,
  clientIn,
  DERIVED_PATTERN,
  endsByItself,
  isCounter,
  lockOf,
} from './key-names.ts'
import { isHeldLock } from './kinds/owners.ts'

/** About how many keys one `SCAN` request reads. One request takes the server well below 1 ms. */
const AT_A_TIME = 500

/**
 * Yields the keys of held locks, in chunks. A hash counts as a held lock if a sample of its fields
 * contains only owners and `mode`.
 */
export async function* findHeld(server: ServerClient, { pattern, signal }: ListOptions) {
  const match = pattern === undefined ? [] : ['MATCH', pattern]
  for await (const keys of scan(server, [...match, 'TYPE', 'hash'], signal)) {
    const candidates = keys.filter((key) => !endsByItself(key) && lockOf(key) === undefined)
    const samples = await server.sendAll(candidates.map((key) => ['HRANDFIELD', key, 4]))
    yield candidates.filter((_, i) => isHeldLock(reply<string[]>(samples[i], [])))
  }
}

/**
 * Yields names of locks and ids of clients, in chunks. `counted`: locks with a token counter.
 * `more`: locks with another key, such as a queue. `clients`: clients that report themselves.
 */
export async function* findNamed(server: ServerClient, { pattern, signal }: ListOptions) {
  const isWanted = pattern === undefined ? () => true : matcherOf(pattern)
  for await (const keys of scan(server, ['MATCH', DERIVED_PATTERN], signal)) {
    const counted: string[] = []
    const more: string[] = []
    for (const key of keys) {
      const lock = lockOf(key)
      if (lock !== undefined && isWanted(lock)) (isCounter(key) ? counted : more).push(lock)
    }
    yield { counted, more, clients: keys.flatMap((key) => clientIn(key) ?? []) }
  }
}

/** Yields the ids of the clients that report themselves, in chunks. */
export async function* findClients(servers: readonly ServerClient[], signal: AbortSignal) {
  for (const server of servers) {
    for await (const keys of scan(server, ['MATCH', CLIENT_PATTERN], signal)) {
      yield keys.flatMap((key) => clientIn(key) ?? [])
    }
  }
}

/**
 * Yields the keys of Holdfast that should expire but have no TTL. Yields each key once, even if
 * several masters have the same key.
 */
export async function* findEndless(
  servers: readonly ServerClient[],
  signal: AbortSignal | undefined,
): AsyncGenerator<EndlessKey> {
  const found = new Map<string, string[]>()
  for (const server of servers) {
    const cli = redisCli(server.endpoint)
    for await (const keys of scan(server, ['MATCH', DERIVED_PATTERN], signal)) {
      const ours = keys.filter(endsByItself)
      const ttls = await server.sendAll(ours.map((key) => ['PTTL', key]))
      for (const [i, key] of ours.entries()) {
        const known = found.get(key) ?? []
        const isEndless = reply<number>(ttls[i], -2) === -1
        if (isEndless && !known.includes(cli)) found.set(key, [...known, cli])
      }
    }
  }
  for (const [key, all] of found) yield { key, fix: fixOf(key, all) }
}

function fixOf(key: string, all: readonly string[]): string[] {
  if (key.includes('\0')) {
    return [
      '# Its name contains a NUL byte, which a shell cannot pass: make it expire from a program.',
    ]
  }
  const commands = all.map((cli) => `${cli} PEXPIRE ${shellWord(key)} 60000`)
  return ['# Make it expire in a minute:', ...commands]
}

/**
 * Yields the matching keys in chunks. After each chunk, pauses for as long as the chunk took, but
 * at most 50 ms, so that the server has time for other clients.
 */
async function* scan(
  server: ServerClient,
  options: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    signal?.throwIfAborted()
    const startedAt = performance.now()
    const [next, keys] = (await server.send('SCAN', cursor, ...options, 'COUNT', AT_A_TIME)) as [
      string,
      string[],
    ]
    cursor = next
    yield keys
    await pause(Math.min(50, performance.now() - startedAt), undefined, { signal })
  } while (cursor !== '0')
}
