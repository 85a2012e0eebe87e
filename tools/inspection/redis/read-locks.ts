import { lockKeys } from '../../../src/servers/redis/calls/keys.ts'
import { queueKeys } from '../../../src/servers/redis/key-names/fair.ts'
import type { RedisCommand, ServerClient } from '../../servers/open-server.ts'
import { type BareDetail, newDetail } from '../conclude.ts'
import { Answers, type FoundKey, type Requests, reply, timeMsOf } from './answers.ts'
import { KEY_KINDS } from './kinds/all.ts'
import type { KeyKind } from './kinds/kind.ts'
import type { Masters } from './masters.ts'
import { merge } from './merge.ts'

/**
 * Reads the locks. Returns null for a lock that does not exist, or whose server cannot be reached.
 *
 * @param inFull true for everything about the locks, and not only their rows
 */
export async function readLocks(
  masters: Masters,
  keys: readonly string[],
  inFull = false,
): Promise<(BareDetail | null)[]> {
  const read = (server: ServerClient, some: readonly string[]) =>
    readFrom(server, some, masters, inFull)
  if (masters.isQuorum) {
    const all = await Promise.all(masters.all.map((server) => read(server, keys)))
    return keys.map((_, i) =>
      merge(
        all.map((details) => details[i] ?? null),
        masters.count,
      ),
    )
  }
  const found = new Map<string, BareDetail | null>()
  const servers = new Set(keys.flatMap((key) => masters.find(key) ?? []))
  const reading = [...servers].map(async (server) => {
    const own = keys.filter((key) => masters.find(key) === server)
    for (const [i, detail] of (await read(server, own)).entries()) {
      found.set(own[i] as string, detail)
    }
  })
  await Promise.all(reading)
  return keys.map((key) => found.get(key) ?? null)
}

/** Reads the given locks from one server, in at most three round trips. Writes nothing. */
export async function readFrom(
  server: ServerClient,
  keys: readonly string[],
  { isCluster, isQuorum }: Pick<Masters, 'isCluster' | 'isQuorum'>,
  inFull = false,
): Promise<(BareDetail | null)[]> {
  const [time, ...first] = await server.sendAll([
    ['TIME'],
    ...keys.flatMap((key): RedisCommand[] => [
      ['TYPE', key],
      ['GET', lockKeys(key).counter],
      ['ZCARD', queueKeys(key).queue],
    ]),
  ])
  const nowMs = timeMsOf(time)
  const all = keys.map((key, i) => {
    const [type, token, queued] = first.slice(3 * i, 3 * i + 3)
    const counter = reply<string | null>(token, null)
    const found: FoundKey = {
      key,
      type: reply(type, 'none'),
      token: counter === null ? null : Number(counter),
      queued: reply(queued, 0),
      nowMs,
      isCluster,
      inFull,
    }
    return new Answers(found, isQuorum)
  })
  const ofKinds = (requestsOf: (kind: KeyKind, answers: Answers) => Requests | undefined) =>
    all.map(
      (answers): Requests =>
        Object.assign({}, ...KEY_KINDS.map((kind) => requestsOf(kind, answers))),
    )
  await send(
    server,
    all,
    ofKinds((kind, { found }) => kind.requests?.(found)),
    'text',
  )
  await send(
    server,
    all,
    ofKinds((kind, answers) => kind.moreRequests?.(answers)),
    'bytes',
  )
  return all.map(detailOf)
}

/** Sends the requests for all locks together, and adds each reply to the answers for its lock. */
async function send(
  server: ServerClient,
  all: readonly Answers[],
  requests: readonly Requests[],
  as: 'text' | 'bytes',
): Promise<void> {
  const replies = await server.sendAll(
    requests.flatMap((own) => Object.values(own)),
    as,
  )
  let at = 0
  for (const [i, answers] of all.entries()) {
    for (const name of Object.keys(requests[i] ?? {})) answers.add(name, replies[at++])
  }
}

function detailOf(answers: Answers): BareDetail | null {
  const { key, token, queued } = answers.found
  const unread = Math.max(0, queued - answers.list('fair').length / 2)
  for (const { kind, conclude } of KEY_KINDS) {
    const concluded = conclude(answers)
    if (concluded !== null) return newDetail(key, kind, token, { ...concluded, unread })
  }
  return null
}
