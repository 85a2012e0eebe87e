import { InvalidArgumentError } from '../../../src/index.ts'
import { BIRTH, lockKeys } from '../../../src/servers/redis/calls/keys.ts'
import { addressOf } from '../../servers/endpoint.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import type { Forced, SeenHolder } from '../inspection.ts'
import { refuseForce } from '../refuse-force.ts'
import { reply } from './answers.ts'
import { keysOf } from './kinds/all.ts'
import type { ForceRun, ForceTerms } from './kinds/kind.ts'
import type { Masters } from './masters.ts'
import { readFrom } from './read-locks.ts'
import { takeLock, takePermit, takeReadWrite } from './scripts.generated.ts'

const SCRIPTS = { takeLock, takePermit, takeReadWrite }
/**
 * The least time for which each master of a quorum remembers the owner that lost the lock, in
 * milliseconds. If a master does not vote for a longer time after a restart, all masters remember
 * the owner for that longer time.
 */
const FORCED_MS = 60_000
/**
 * How far a seen token may be above the server time and the counters, in µs. On a single server, a
 * token is a server time, and the server clock may have been set back later.
 */
const AHEAD_US = 86_400_000_000

type ForcedReply = readonly [outcome: 'taken' | 'free' | 'changed', fence?: string]

/**
 * Takes a lock from the holder `seen`, and from no other holder. With several masters, a majority
 * must confirm the release.
 *
 * @returns rejects with a readable Error if the outcome is unknown. Rejects with
 * `InvalidArgumentError` if the token of `seen` was never issued, or as {@link refuseForce} does
 */
export async function forceRelease(
  masters: Masters,
  key: string,
  seen: SeenHolder,
): Promise<Forced> {
  const servers = masters.isQuorum ? masters.all : [masters.at(key)]
  const { count } = masters
  const facts = await fromMost(servers, count, key, (server) => factsOf(server, key, masters))
  const [detail] = facts.flatMap((one) => one.detail ?? [])
  const counters = facts.map(({ counter }) => counter)
  assertIssued(key, seen, Math.max(...counters, ...facts.map(({ us }) => us)))
  const known = Math.max(seen.token ?? 0, ...counters)
  // Without a counter, the next token is the server time. So the floor is at least the server time.
  const floor = Math.max(...counters) > 0 ? known : Math.max(known, ...facts.map(({ us }) => us))
  const terms: ForceTerms = {
    ...seen,
    key,
    // Each master of a quorum has its own counter, so only the owner identifies the hold there.
    token: masters.isQuorum ? null : seen.token,
    floor,
    publish: facts.some(({ isSharded }) => isSharded) ? 'SPUBLISH' : 'PUBLISH',
    forcedMs: masters.isQuorum ? Math.max(FORCED_MS, ...facts.map(({ restMs }) => restMs)) : 0,
  }
  const { kind = 'lock', holders = [] } = detail ?? {}
  refuseForce(kind, key, seen.owner, holders)
  const runs = keysOf(kind).force?.(terms, holders) ?? []
  const replies = await fromMost(servers, count, key, (server) => runAll(server, runs))
  return together(replies.flat(), Math.floor(count / 2) + 1)
}

async function runAll(server: ServerClient, all: readonly ForceRun[]): Promise<ForcedReply[]> {
  const replies: ForcedReply[] = []
  for (const { script, keys, args } of all) {
    const run = server.send('EVAL', SCRIPTS[script], keys.length, ...keys, ...args)
    replies.push((await run) as ForcedReply)
  }
  return replies
}

/**
 * Throws if the token cannot have been issued. A release raises the counter to the seen token, and
 * a counter at the largest number would leave no later tokens.
 */
function assertIssued(key: string, { token }: SeenHolder, lastUs: number): void {
  if (token === null || token <= lastUs + AHEAD_US) return
  throw new InvalidArgumentError(
    `Token ${token} of ${JSON.stringify(key)} was never issued: at this time the last token is at most about ${lastUs}.`,
  )
}

/**
 * Returns the answers of the servers that answer. Rejects unless these are more than half of
 * `count`.
 */
async function fromMost<T>(
  servers: readonly ServerClient[],
  count: number,
  key: string,
  request: (server: ServerClient) => Promise<T>,
): Promise<T[]> {
  const settled = await Promise.allSettled(servers.map(request))
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (answers.length > count / 2) return answers
  const failures = settled.flatMap((one, i) =>
    one.status === 'rejected'
      ? [`${addressOf((servers[i] as ServerClient).endpoint)}: ${(one.reason as Error).message}`]
      : [],
  )
  const most =
    count > 1
      ? ` A majority of ${count} masters must confirm the release; ${answers.length} did.`
      : ''
  throw new Error(
    `${JSON.stringify(key)} may not have been released.${most} Check the lock again. ${failures.join('; ')}`,
  )
}

/**
 * Reads what a release needs: the lock, its counter, the server time, and how long a master does
 * not vote after a restart.
 */
async function factsOf(server: ServerClient, key: string, masters: Masters) {
  const [[detail], replies] = await Promise.all([
    readFrom(server, [key], masters),
    server.sendAll([
      ['TIME'],
      ['GET', lockKeys(key).counter],
      masters.isQuorum ? ['GET', BIRTH] : ['TIME'],
      masters.isCluster ? ['PUBSUB', 'SHARDNUMSUB'] : ['TIME'],
    ]),
  ])
  const [seconds, micros] = reply<string[]>(replies[0], [])
  const birth = masters.isQuorum ? reply<string>(replies[2], '') : ''
  return {
    detail: detail ?? null,
    us: Number(seconds) * 1e6 + Number(micros),
    counter: Number(reply<string>(replies[1], '0')),
    restMs: Number(/ (\d+)$/.exec(birth)?.[1] ?? 0),
    // A server before Redis 7 refuses `PUBSUB SHARDNUMSUB`, because it has no sharded channels.
    isSharded: masters.isCluster && !(replies[3] instanceof Error),
  }
}

function together(replies: readonly ForcedReply[], majority: number): Forced {
  const of = (outcome: ForcedReply[0]) => replies.filter(([one]) => one === outcome).length
  if (of('changed') >= majority) return { outcome: 'changed', fence: null }
  const fences = replies.flatMap(([, fence]) => (fence ? [Number(fence)] : []))
  // Every later majority includes a master that sent a fence. Each later token of this master is
  // above its fence. So every later token is above the lowest fence.
  const fence = fences.length >= majority ? Math.min(...fences) : null
  if (of('taken') > 0) return { outcome: 'released', fence }
  return of('changed') > 0 ? { outcome: 'changed', fence: null } : { outcome: 'free', fence }
}
