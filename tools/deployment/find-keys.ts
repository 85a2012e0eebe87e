import { setTimeout as pause } from 'node:timers/promises'
import type { ServerClient } from '../servers/open-server.ts'
import { matcherOf } from './glob.ts'
import {
  clientIn,
  DERIVED_PATTERN,
  endsByItself,
  isCounter,
  isHeldLock,
  lockOf,
} from './key-names.ts'
import { reply } from './reply.ts'

/**
 * About how many keys one `SCAN` request examines. The server needs well below 1 ms for one
 * request.
 */
const AT_A_TIME = 500

interface WantedKeys {
  readonly pattern: string | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Yields the keys of held locks, in chunks. A hash counts as a held lock if a sample of its fields
 * has only owners and `mode`.
 */
export async function* findHeld(server: ServerClient, { pattern, signal }: WantedKeys) {
  const match = pattern === undefined ? [] : ['MATCH', pattern]
  for await (const keys of scan(server, [...match, 'TYPE', 'hash'], signal)) {
    const candidates = keys.filter((key) => !endsByItself(key) && lockOf(key) === undefined)
    const samples = await server.sendAll(candidates.map((key) => ['HRANDFIELD', key, 4]))
    yield candidates.filter((_, i) => isHeldLock(reply<string[]>(samples[i], [])))
  }
}

/**
 * Yields locks that have a token counter or a queue, and clients that report themselves, in chunks.
 * `counted` has locks with a token counter. `more` has locks with another key, such as a queue.
 */
export async function* findNamed(server: ServerClient, { pattern, signal }: WantedKeys) {
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
export async function* findClients(server: ServerClient, signal: AbortSignal) {
  for await (const keys of scan(server, ['MATCH', 'holdfast_client:*'], signal)) {
    yield keys.flatMap((key) => clientIn(key) ?? [])
  }
}

/** Yields the keys of Holdfast that normally expire but have no TTL, in chunks. */
export async function* findEndless(server: ServerClient, signal: AbortSignal | undefined) {
  for await (const keys of scan(server, ['MATCH', DERIVED_PATTERN], signal)) {
    const ours = keys.filter(endsByItself)
    const ttls = await server.sendAll(ours.map((key) => ['PTTL', key]))
    yield ours.filter((_, i) => reply<number>(ttls[i], -2) === -1)
  }
}

/**
 * Yields the matching keys in chunks. Between two chunks, waits for as long as the last chunk took,
 * but at most 50 ms. So the server has time for other clients.
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
