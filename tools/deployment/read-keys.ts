import { KINDS } from '../kinds/all.ts'
import type { Answers, Found as FoundKey } from '../kinds/kind.ts'
import { derived, leasesOf, MOST_READ } from '../kinds/names.ts'
import type { Command, ServerClient } from '../servers/open-server.ts'
import { reply, replyIfAny } from './reply.ts'

/** A queue of waiters, as in Redis. */
export interface RawQueue {
  /** Waiters, each followed by the server time when its wait began, in µs. */
  readonly since: readonly string[]
  /**
   * Clients, each followed by the end of its heartbeat in milliseconds. More text may follow after
   * a space.
   */
  readonly alive: readonly string[]
}

/** The content of the keys of one lock, before its state is derived. */
export interface RawKeys extends Answers {
  readonly key: string
  readonly token: string | null
  /** The fields and values of the hash of a lock; empty if the key is no hash. */
  readonly fields: readonly string[]
  readonly ttlMs: number
  /**
   * For each reader: the time left of its lease in milliseconds, and the server time in µs when its
   * hold began.
   */
  readonly readers: ReadonlyMap<string, { readonly ttlMs: number; readonly sinceUs: number }>
  /** The number of a semaphore or a latch. */
  readonly number: string | null
  /**
   * The kind that a client of Holdfast has stored: `latch`, `permits` or `semaphore`; null without
   * one.
   */
  readonly note: string | null
  readonly hasRound: boolean
  /**
   * The permits whose lease has not ended, at most `MOST_READ`. `taken` is the number of all such
   * permits.
   */
  readonly permits: readonly { readonly id: string; readonly untilMs: number }[]
  readonly taken: number
  /** The number of permits whose lease has ended, but which no request has made available yet. */
  readonly expired: number
  /**
   * The holders of permits. The first digits of their ids are each followed by the owner and the
   * begin in µs.
   */
  readonly permitHolders: readonly string[]
  /** The number of clients that listen for releases. */
  readonly listeners: number
  readonly fair: RawQueue & { readonly length: number }
  readonly writers: RawQueue
  readonly reading: RawQueue
  readonly wanting: RawQueue
}

interface Found extends FoundKey {
  readonly token: string | null
}

/**
 * Reads all keys of these locks in three round trips, and writes nothing. Lists, details and the
 * dashboard use this function.
 */
export async function readKeys(
  server: ServerClient,
  keys: readonly string[],
  { isCluster }: { readonly isCluster: boolean },
): Promise<RawKeys[]> {
  const first = await server.askAll([
    ['TIME'],
    ...keys.flatMap((key): Command[] => [
      ['TYPE', key],
      ['GET', derived('redisson_lock_token', key)],
      ['ZCARD', derived('holdfast_queue', key)],
    ]),
  ])
  const [seconds, micros] = reply<string[]>(first[0], [])
  const nowMs = Number(seconds) * 1e3 + Number(micros) / 1e3
  const found = keys.map((key, i): Found => {
    const [type, token, queued] = first.slice(3 * i + 1, 3 * i + 4)
    const own = { type: reply(type, 'none'), token: reply(token, null), queued: reply(queued, 0) }
    return { key, nowMs, isCluster, ...own }
  })
  const questions = found.map((one) => questionsOf(one))
  const answers = await server.askAll(questions.flatMap((named) => Object.values(named)))
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

/** The commands for one key. The property names identify the answers. */
const questionsOf = (found: Found): Record<string, Command> =>
  Object.assign({}, ...KINDS.map((kind) => kind.questions(found)))

function rawOf(one: Found, answers: ReadonlyMap<string, unknown>, nowMs: number): RawKeys {
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
 * Reads the lease key of each reader. The value of a lease key is the begin of the hold in µs, or
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
  const answers = await server.askAll(
    leases.flatMap(({ name }): Command[] => [
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

/** Reads the ids of permits as bytes, because an id is 16 bytes and no text. */
async function permitsOf(server: ServerClient, raw: readonly RawKeys[]) {
  const pools = raw.filter(({ taken }) => taken > 0)
  const answers = await server.askAll(
    pools.map(({ key, nowMs }): Command => {
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
