import { setTimeout as pause } from 'node:timers/promises'
import { assertOptions, assertRedis } from './check-options.ts'
import { HISTORY_KEY, type HistoryEntry, readEntry } from './entry.ts'
import { type HistoryClient, type HistoryRedis, openClient } from './open-client.ts'
import { within } from './within.ts'

/** The options of `readHistory`. */
export interface ReadHistoryOptions {
  /** The Redis of the history, as for `recordHistory`. */
  readonly redis: HistoryRedis
  /** The key of the stream; `holdfast_history` by default. */
  readonly key?: string | undefined
  /**
   * Only entries with this name. The name is the key of a lock, unless `nameOf` returned another
   * name.
   */
  readonly name?: string | undefined
  /**
   * Only events since this time: a `Date`, or milliseconds since 1970 by the clock of the server.
   */
  readonly since?: Date | number | undefined
  /**
   * Reads only the newest existing entries, at most this many. By default all existing entries;
   * with `follow` and without `since`, none.
   */
  readonly last?: number | undefined
  /**
   * If true, also reads new entries after the existing entries, until `signal` aborts. False by
   * default.
   */
  readonly follow?: boolean | undefined
  /** Ends the reading when the signal aborts, even during a wait for new entries. */
  readonly signal?: AbortSignal | undefined
}

const OPTIONS = [
  'redis',
  'key',
  'name',
  'since',
  'last',
  'follow',
  'signal',
] as const satisfies (keyof ReadHistoryOptions)[]

type FoundEntry = [id: string, fields: string[]]

/**
 * The position at which a second read with `follow` continues after a first read. The second read
 * begins after the newest entry that existed when the first read began. It skips repeats of entries
 * that the first read found.
 */
export interface ReadPosition {
  /** The id of the newest entry when the first read began. Undefined before the first read. */
  after?: string
  /** The `seq` of the entries that were read, at most `MOST_SEEN`. A repeat has the same `seq`. */
  readonly seen: Set<string>
}

/** The options of one read, and the filter for its entries. */
interface Wish {
  readonly key: string
  readonly since: number
  readonly most: number
  readonly position: ReadPosition
  /**
   * Returns the entry, and remembers its `seq`. Undefined for a repeat, for an entry that the
   * options exclude, and for an entry that Holdfast did not write.
   */
  pick(found: FoundEntry): HistoryEntry | undefined
}

const CHUNK = 1_000
const BLOCK_MS = 5_000
const ANSWER_MS = 5_000
/**
 * Matches refusals of a server that starts, becomes a replica, or has lost its master or its
 * cluster. While the reader waits for new entries, it repeats the request, because such a server
 * soon recovers.
 */
const TEMPORARY = /^(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|UNBLOCKED)\b/

/**
 * How many `seq` values the reader remembers. More are not needed, because a repeat usually follows
 * within seconds.
 */
const MOST_SEEN = 50_000

/**
 * Reads the history, the newest entry first. With `follow`, reads in order of time: first the
 * existing entries that `last` and `since` select, then new entries. Yields each entry once, even
 * if Redis has a repeat.
 *
 * Without a history, yields nothing. While the function waits for new entries, it retries if Redis
 * does not answer, loads its data or becomes a replica. The function opens its own connection.
 *
 * @returns the first step rejects with `TypeError` for an invalid option. Any step rejects with an
 * Error if Redis refuses, or if Redis does not answer before the wait for new entries
 */
export function readHistory(options: ReadHistoryOptions): AsyncGenerator<HistoryEntry> {
  return readFrom(options, { seen: new Set() })
}

/**
 * Reads as `readHistory` does, and updates `position`. With `follow`, a second read with the same
 * `position` reads only newer entries.
 */
export async function* readFrom(
  options: ReadHistoryOptions,
  position: ReadPosition,
): AsyncGenerator<HistoryEntry> {
  assertOptions(options, 'readHistory()', OPTIONS)
  const { redis, follow = false, signal } = options
  assertRedis(redis)
  const wish = wishOf(options, position)
  if (signal?.aborted) return
  const client = openClient(redis, follow ? 1_000 : null)
  let cause: unknown
  client.on('error', (error) => {
    cause = error
  })
  const disconnect = () => client.disconnect()
  signal?.addEventListener('abort', disconnect)
  try {
    await within(client.connect(), ANSWER_MS).catch((error) => {
      const reported = cause ?? error
      // Removes the command that ioredis adds to an error, because the command of a refused login
      // contains the password.
      if (reported instanceof Error) delete (reported as { command?: unknown }).command
      throw reported
    })
    if (!follow) {
      yield* backwards(client, wish, '+')
      return
    }
    if (position.after === undefined) {
      const [newest] = await callWithin(client, (one) =>
        one.xrevrange(wish.key, '+', '-', 'COUNT', 1),
      )
      position.after = newest?.[0] ?? '0-0'
      const before: HistoryEntry[] = []
      for await (const entry of backwards(client, wish, position.after)) before.push(entry)
      yield* before.reverse()
    }
    yield* onwards(client, wish, position.after, signal)
  } catch (error) {
    if (!signal?.aborted) throw error
  } finally {
    signal?.removeEventListener('abort', disconnect)
    disconnect()
  }
}

function wishOf(
  { key = HISTORY_KEY, name, since, last, follow }: ReadHistoryOptions,
  position: ReadPosition,
): Wish {
  if (last !== undefined && (!Number.isSafeInteger(last) || last < 0)) {
    throw new TypeError(`last must be a whole number of at least 0; got ${String(last)}.`)
  }
  const sinceMs = Number(since ?? 0)
  if (Number.isNaN(sinceMs)) throw new TypeError(`since must be a time; got ${String(since)}.`)
  const { seen } = position
  return {
    key,
    position,
    since: sinceMs,
    most: last ?? (follow && since === undefined ? 0 : Infinity),
    pick([id, fields]) {
      const found = readEntry(id, fields)
      if (found === undefined || seen.has(found.seq)) return undefined
      seen.add(found.seq)
      if (seen.size > MOST_SEEN) seen.delete(seen.values().next().value as string)
      const { entry } = found
      return entry.at >= sinceMs && (name === undefined || entry.name === name) ? entry : undefined
    },
  }
}

async function* backwards(
  client: HistoryClient,
  wish: Wish,
  from: string,
): AsyncGenerator<HistoryEntry> {
  const { key, since, most, position, pick } = wish
  let [before, count] = [from, 0]
  while (count < most) {
    const chunk = await callWithin(client, (one) => one.xrevrange(key, before, '-', 'COUNT', CHUNK))
    position.after ??= chunk[0]?.[0] ?? '0-0'
    for (const found of chunk) {
      // An entry id contains the time of writing, and an event is never later than its entry. So
      // the events of this entry and of all older entries are before `since`.
      if (Number.parseInt(found[0], 10) < since) return
      const entry = pick(found)
      if (entry === undefined) continue
      yield entry
      if (++count === most) return
    }
    const oldest = chunk.at(-1)
    if (oldest === undefined || chunk.length < CHUNK) return
    before = `(${oldest[0]}`
  }
}

async function* onwards(
  client: HistoryClient,
  { key, position, pick }: Wish,
  after: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<HistoryEntry> {
  let last = after
  // When `seen` is full, `pick` removes its first element, so the oldest `seq` must be first. The
  // first read added the newest first, so the order is reversed here.
  const newestFirst = [...position.seen]
  position.seen.clear()
  for (const seq of newestFirst.reverse()) position.seen.add(seq)
  while (!signal?.aborted) {
    let chunk: FoundEntry[] = []
    try {
      const read = client.xread('COUNT', CHUNK, 'BLOCK', BLOCK_MS, 'STREAMS', key, last)
      const replies = await within(read, BLOCK_MS + ANSWER_MS)
      chunk = (replies?.[0]?.[1] ?? []) as FoundEntry[]
    } catch (error) {
      const { name, message } = error as Error
      if (name === 'ReplyError' && !TEMPORARY.test(message)) throw error
      // The server may be down or may have become a replica. A new connection may reach the new
      // master.
      if (client.status === 'ready') client.disconnect(true)
      await pause(500, undefined, { signal })
    }
    for (const found of chunk) {
      last = found[0]
      const entry = pick(found)
      if (entry !== undefined) yield entry
    }
  }
}

function callWithin(
  client: HistoryClient,
  call: (client: HistoryClient) => Promise<FoundEntry[]>,
): Promise<FoundEntry[]> {
  return within(call(client), ANSWER_MS)
}
