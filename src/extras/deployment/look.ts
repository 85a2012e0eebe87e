import type { Command, ServerClient } from '../servers/open-server.ts'
import { derived, isOfLock, isRedissons, leasesOf } from './key-names.ts'
import { pairs, reply, replyIfAny } from './reply.ts'
import type { HolderRow, LockRow, RowKind } from './rows.ts'

/** A row before it is known of which processes its clients are. */
export type BareRow = Omit<LockRow, 'holders'> & {
  readonly holders: readonly Omit<HolderRow, 'process'>[]
}

interface Looked {
  readonly key: string
  readonly type: string
  readonly token: number | null
  readonly queued: number
}

/** Tokens are the time of the server in µs when they are issued; none was before this. */
const FIRST_TOKEN = Date.UTC(2020) * 1_000

/**
 * How locks are now, in three round trips for all of them.
 *
 * @returns null where there is nothing of that name
 */
export async function look(
  server: ServerClient,
  keys: readonly string[],
  { isCluster, isQuorum }: { readonly isCluster: boolean; readonly isQuorum: boolean },
): Promise<(BareRow | null)[]> {
  const first = await server.askAll([
    ['TIME'],
    ...keys.flatMap((key): Command[] => [
      ['TYPE', key],
      ['GET', derived('redisson_lock_token', key)],
      ['ZCARD', derived('holdfast_queue', key)],
    ]),
  ])
  const [seconds, micros] = reply<string[]>(first[0], [])
  const nowUs = Number(seconds) * 1e6 + Number(micros)
  const all = keys.map((key, i): Looked => {
    const [type, token, queued] = first.slice(3 * i + 1, 3 * i + 4)
    const number = reply<string | null>(token, null)
    return {
      key,
      type: reply(type, 'none'),
      token: number === null ? null : Number(number),
      queued: reply(queued, 0),
    }
  })
  const questions = all.map((one) => questionsOf(one, isCluster))
  const replies = await server.askAll(questions.flat())
  // Of a quorum counters are in step with each other, and not with the time.
  const since = isQuorum ? () => null : (token: number | null) => ageOf(token, nowUs)
  let at = 0
  const bare = all.map((one, i) => {
    const from = at
    at += questions[i]?.length ?? 0
    return rowOf(one, replies.slice(from, at), nowUs, since)
  })
  return leasesOfReaders(server, bare)
}

function questionsOf({ key, type, queued }: Looked, isCluster: boolean): Command[] {
  const queue: Command[] =
    queued > 0 ? [['ZRANGE', derived('holdfast_queue', key), 0, 0, 'WITHSCORES']] : []
  if (type === 'hash') {
    const channel = derived('redisson_lock__channel', key)
    const writers = derived('holdfast_writers', key)
    const readers = derived('holdfast_readers', key)
    return [
      ['HGETALL', key],
      ['PTTL', key],
      ['PUBSUB', isCluster ? 'SHARDNUMSUB' : 'NUMSUB', channel],
      ...[writers, readers].flatMap((one): Command[] => [
        ['ZCARD', one],
        ['ZRANGE', one, 0, 0, 'WITHSCORES'],
      ]),
      ...queue,
    ]
  }
  if (type === 'string') {
    const waiting = derived('holdfast_permit_queue', key)
    return [
      ['GET', key],
      ['ZCARD', `${leasesOf(key)}:timeout`],
      ['ZCARD', waiting],
      ['ZRANGE', waiting, 0, 0, 'WITHSCORES'],
      ['EXISTS', derived('holdfast_round', key)],
    ]
  }
  return queue
}

type Since = (token: number | null) => number | null

function rowOf(one: Looked, replies: readonly unknown[], nowUs: number, since: Since) {
  if (one.type === 'hash') return lockRow(one, replies, nowUs, since)
  if (one.type === 'string') return countRow(one, replies, nowUs)
  const { token, queued } = one
  if (one.type !== 'none' || (token === null && queued === 0)) return null
  return bareRow(one, 'lock', 'free', [], queued, oldest([replies[0]], nowUs))
}

function lockRow(one: Looked, replies: readonly unknown[], nowUs: number, since: Since) {
  const [hash, ttl, listening, writers, firstWriter, readers, firstReader, firstQueued] = replies
  const fields = pairs(reply<string[]>(hash, []))
  const owners = fields.filter(([field]) => field !== 'mode')
  if (!fields.every(([field]) => isOfLock(field))) return null
  const mode = fields.find(([field]) => field === 'mode')?.[1]
  const ttlMs = reply<number>(ttl, -2)
  const isFree = ttlMs === -2 || owners.length === 0
  // Who reads has the token of the last who wrote.
  const isTokenOfIts = owners.length === 1 && mode !== 'read'
  const holders = (isFree ? [] : owners).map(([owner, count]) => ({
    owner,
    isRedisson: isRedissons(owner),
    holdCount: Number(count),
    ttlMs: ttlMs === -1 ? null : ttlMs,
    ageMs: isTokenOfIts && !isRedissons(owner) ? since(one.token) : null,
  }))
  const inTurn = one.queued + reply(writers, 0) + reply(readers, 0)
  const listeners = replyIfAny<[string, number]>(listening, ['', 0])[1]
  const waitMs = oldest([firstWriter, firstReader, firstQueued], nowUs)
  const state = isFree ? 'free' : mode === 'read' || mode === 'write' ? mode : 'held'
  const kind = mode === undefined ? 'lock' : 'read-write'
  return bareRow(one, kind, state, holders, Math.max(inTurn, Number(listeners)), waitMs)
}

function countRow(one: Looked, replies: readonly unknown[], nowUs: number) {
  const [count, taken, waiting, first, round] = replies
  if (!/^-?\d+$/.test(reply(count, ''))) return null
  const hasLeases = reply(taken, 0) > 0 || one.token !== null
  const kind = reply(round, 0) > 0 ? 'latch' : hasLeases ? 'permits' : 'semaphore'
  const isHeld = kind === 'latch' ? Number(count) > 0 : Number(count) <= 0
  const waitMs = oldest([first], nowUs)
  return bareRow(one, kind, isHeld ? 'held' : 'free', [], reply(waiting, 0), waitMs)
}

function bareRow(
  { key, token }: Looked,
  kind: RowKind,
  state: LockRow['state'],
  holders: BareRow['holders'],
  waiting: number,
  oldestWaitMs: number | null,
): BareRow {
  return { key, kind, state, holders, token, waiting, oldestWaitMs }
}

/** Of the first in each queue since when it waits. */
function oldest(firsts: readonly unknown[], nowUs: number): number | null {
  const sinces = firsts
    .map((first) => Number(reply<string[]>(first, [])[1]))
    .filter((since) => since > FIRST_TOKEN)
  return sinces.length === 0 ? null : Math.max(0, Math.round((nowUs - Math.min(...sinces)) / 1_000))
}

function ageOf(token: number | null, nowUs: number): number | null {
  if (token === null || token < FIRST_TOKEN) return null
  return Math.max(0, Math.round((nowUs - token) / 1_000))
}

/** Each who reads has a lease of its own. */
async function leasesOfReaders(server: ServerClient, rows: readonly (BareRow | null)[]) {
  const nameOf = (row: BareRow, owner: string) => `${leasesOf(row.key)}:${owner}:rwlock_timeout:1`
  const readers = rows.flatMap((row) =>
    row?.kind === 'read-write'
      ? row.holders
          .filter(({ owner }) => !owner.endsWith(':write'))
          .map(({ owner }) => nameOf(row, owner))
      : [],
  )
  const ttls = await server.askAll(readers.map((name) => ['PTTL', name]))
  const ttlOf = new Map(readers.map((name, i) => [name, reply(ttls[i], -2)]))
  return rows.map((row) => {
    if (row?.kind !== 'read-write') return row
    const holders = row.holders.flatMap((holder) => {
      const ttlMs = ttlOf.get(nameOf(row, holder.owner))
      if (ttlMs === undefined) return [holder]
      // One whose time ran out stays in the hash until somebody asks; Redisson's go on with the lock.
      if (ttlMs === -2) return holder.isRedisson ? [holder] : []
      return [{ ...holder, ttlMs: ttlMs === -1 ? null : ttlMs }]
    })
    return { ...row, holders, state: holders.length === 0 ? ('free' as const) : row.state }
  })
}
