import { KINDS } from '../kinds/all.ts'
import type { Answers, Found as FoundKey } from '../kinds/kind.ts'
import { derived, leasesOf, MOST_READ } from '../kinds/names.ts'
import type { RedisCommand, ServerClient } from '../servers/open-server.ts'
import { reply, replyIfAny } from './reply.ts'

/** The content of a queue of waiters, as stored in Redis. */
export interface RawQueue {
  /** A flat list: each waiter, followed by the server time at which its wait began, in µs. */
  readonly since: readonly string[]
  /**
   * A flat list: each client or waiter, followed by the server time at which its heartbeat ends, in
   * milliseconds. More text may follow after a space.
   */
  readonly alive: readonly string[]
}

/** The content of all keys of one lock, as read from one server. */
export interface RawKeys extends Answers {
  readonly key: string
  readonly token: string | null
  /**
   * A flat list: each field of the hash of the lock, followed by its value. Empty if the key is not
   * a hash.
   */
  readonly fields: readonly string[]
  readonly ttlMs: number
  /**
   * The lease and the hold of each reader, by owner. `ttlMs` is the reply of `PTTL`. `sinceUs` is
   * the server time at which the hold began, in µs.
   */
  readonly readers: ReadonlyMap<string, { readonly ttlMs: number; readonly sinceUs: number }>
  /** The value of the key of a semaphore or a latch. Null for other kinds. */
  readonly number: string | null
  /**
   * The kind that a client of Holdfast stored: `latch`, `permits` or `semaphore`. Null if no kind
   * is stored.
   */
  readonly note: string | null
  readonly hasRound: boolean
  /** The permits whose lease has not ended, at most `MOST_READ` permits. */
  readonly permits: readonly { readonly id: string; readonly untilMs: number }[]
  /** The number of all permits whose lease has not ended. */
  readonly taken: number
  /** The number of permits whose lease has ended, and that are not available again yet. */
  readonly expired: number
  /** For each acquisition, the first digits of its permit ids, then its owner and start in µs. */
  readonly permitHolders: readonly string[]
  /** The number of clients that listen to the channel of the lock. */
  readonly listeners: number
  readonly fair: RawQueue & { readonly length: number }
  readonly writers: RawQueue
  readonly reading: RawQueue
  readonly wanting: RawQueue
}

interface FoundLock extends FoundKey {
  readonly token: string | null
}

/** Reads all keys of the given locks, in three round trips. Writes nothing. */
export async function readKeys(
  server: ServerClient,
  keys: readonly string[],
  { isCluster }: { readonly isCluster: boolean },
): Promise<RawKeys[]> {
  const first = await server.sendAll([
    ['TIME'],
    ...keys.flatMap((key): RedisCommand[] => [
      ['TYPE', key],
      ['GET', derived('redisson_lock_token', key)],
      ['ZCARD', derived('holdfast_queue', key)],
    ]),
  ])
  const [seconds, micros] = reply<string[]>(first[0], [])
  const nowMs = Number(seconds) * 1e3 + Number(micros) / 1e3
  const found = keys.map((key, i): FoundLock => {
    const [type, token, queued] = first.slice(3 * i + 1, 3 * i + 4)
    const own = { type: reply(type, 'none'), token: reply(token, null), queued: reply(queued, 0) }
    return { key, nowMs, isCluster, ...own }
  })
  const questions = found.map((one) => questionsOf(one))
  const answers = await server.sendAll(questions.flatMap((named) => Object.values(named)))
  let at = 0
  const raw = found.map((one, i) => {
    const names = Object.keys(questions[i] as object)
    const own = new Map(names.map((name, j) => [name, answers[at + j]]))
    at += names.length
    return rawOf(one, own, nowMs)
  })
  const [readers, permits] = await Promise.all([readersOf(server, raw), permitsOf(server, raw)])
  return raw.map((one) => ({
    ...one,
    readers: readers.get(one.key) ?? one.readers,
    permits: permits.get(one.key) ?? one.permits,
  }))
}

/**
 * Returns the commands that read the keys of one lock. Each command has a name, which identifies
 * its answer.
 */
const questionsOf = (found: FoundLock): Record<string, RedisCommand> =>
  Object.assign({}, ...KINDS.map((kind) => kind.questions(found)))

function rawOf(one: FoundLock, answers: ReadonlyMap<string, unknown>, nowMs: number): RawKeys {
  const list = (name: string) => reply<string[]>(answers.get(name), [])
  const number = (name: string, otherwise: number) => reply(answers.get(name), otherwise)
  const text = (name: string) => reply<string | null>(answers.get(name), null)
  const taken = number('taken', 0)
  return {
    key: one.key,
    nowMs,
    type: one.type,
    isCluster: one.isCluster,
    answer: (name) => replyIfAny(answers.get(name), undefined),
    token: one.token,
    fields: list('fields'),
    ttlMs: number('ttl', -2),
    readers: new Map(),
    number: text('number'),
    note: text('note'),
    hasRound: number('round', 0) > 0,
    permits: [],
    taken,
    expired: Math.max(0, number('timeouts', 0) - taken),
    permitHolders: list('permitHolders'),
    listeners: Number(replyIfAny<[string, number | string]>(answers.get('listeners'), ['', 0])[1]),
    fair: { since: list('fair'), alive: list('places'), length: one.queued },
    writers: { since: list('writers'), alive: list('alive') },
    reading: { since: list('reading'), alive: list('alive') },
    wanting: { since: list('wanting'), alive: list('wanted') },
  }
}

/**
 * Reads the lease key of each reader. The value of a lease key is the start of the hold in µs, or
 * `1` if Redisson wrote the key.
 */
async function readersOf(server: ServerClient, raw: readonly RawKeys[]) {
  const leases = raw.flatMap(({ key, fields }) =>
    fields.includes('mode')
      ? fields
          .filter((field, i) => i % 2 === 0 && field !== 'mode' && !field.endsWith(':write'))
          .map((owner) => ({ key, owner, name: `${leasesOf(key)}:${owner}:rwlock_timeout:1` }))
      : [],
  )
  const answers = await server.sendAll(
    leases.flatMap(({ name }): RedisCommand[] => [
      ['PTTL', name],
      ['GET', name],
    ]),
  )
  const readers = new Map<string, Map<string, { ttlMs: number; sinceUs: number }>>()
  for (const [i, { key, owner }] of leases.entries()) {
    const own = readers.get(key) ?? new Map()
    own.set(owner, {
      ttlMs: reply(answers[2 * i], -2),
      sinceUs: Number(reply(answers[2 * i + 1], '0')),
    })
    readers.set(key, own)
  }
  return readers
}

/**
 * Reads the permits of each semaphore. The ids are read as bytes, because an id is 16 bytes and not
 * text.
 */
async function permitsOf(server: ServerClient, raw: readonly RawKeys[]) {
  const pools = raw.filter(({ taken }) => taken > 0)
  const answers = await server.sendAll(
    pools.map(({ key, nowMs }): RedisCommand => {
      const range = [`(${Math.floor(nowMs)}`, '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_READ]
      return ['ZRANGEBYSCORE', `${leasesOf(key)}:timeout`, ...range]
    }),
    'bytes',
  )
  return new Map(
    pools.map(({ key }, i) => {
      const flat = reply<Buffer[]>(answers[i], [])
      const permits = flat.flatMap((id, j) =>
        j % 2 === 1 ? [] : [{ id: id.toString('hex'), untilMs: Number(String(flat[j + 1])) }],
      )
      return [key, permits]
    }),
  )
}
