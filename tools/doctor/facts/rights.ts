import { BIRTH, lockKeys, NAMES } from '../../../src/servers/redis/calls/keys.ts'
import { FAIR_NAMES, queueKeys } from '../../../src/servers/redis/key-names/fair.ts'
import { KEY_KINDS } from '../../inspection/redis/kinds/all.ts'
import type { Needs } from '../../inspection/redis/kinds/kind.ts'

const LOCK = (key: string, channel: string, queue: string): readonly (readonly string[])[] => [
  ['EVALSHA', '0'.repeat(40), '1', key],
  ['EVAL', 'return 1', '1', key],
  ['HGET', key, 'f'],
  ['HMGET', key, 'f'],
  ['HGETALL', key],
  ['HSET', key, 'f', '1'],
  ['HDEL', key, 'f'],
  ['HINCRBY', key, 'f', '1'],
  ['GET', key],
  ['SET', key, '1'],
  ['DEL', key],
  ['PTTL', key],
  ['PEXPIRE', key, '1'],
  ['PERSIST', key],
  ['ZRANGE', queue, '0', '-1'],
  ['ZCARD', queue],
  ['TIME'],
  ['PUBLISH', channel, '0'],
  ['PUBSUB', 'NUMSUB', channel],
  ['SUBSCRIBE', channel],
  ['UNSUBSCRIBE', channel],
  ['PING'],
]

/** The right to the keys in which the clients report their processes. */
const PRESENCE: Needs = { kind: 'presence', commands: [], patterns: [`~${NAMES.client.report}:*`] }

/** The right to the channels on which holders receive requests to release. */
const REQUESTS: Needs = {
  kind: 'requests to release',
  commands: [],
  patterns: [`&${NAMES.client.requests}:*`],
}

/**
 * Returns the rights that all clients need, and the rights that only some kinds of lock or features
 * need.
 *
 * @param name the key of an unused lock, with its prefix
 * @param durability the number of replicas that each acquisition waits for. If the number is not 0,
 * all locks need the rights for durability
 */
export function needsOf(
  deployment: 'server' | 'masters' | 'cluster' | 'sentinel',
  name: string,
  keyPrefix: string,
  durability: number | 'all' = 0,
): { needed: Needs[]; optional: Needs[] } {
  const { lock, channel } = lockKeys(name)
  const pattern = (prefix: string) => `${prefix}:{${keyPrefix}*`
  const own = (prefixes: readonly string[]) => prefixes.map((one) => `~${pattern(one)}`)
  const first = [
    `~${keyPrefix}*`,
    ...own([NAMES.lock.counter, FAIR_NAMES.queue, FAIR_NAMES.waiting]),
    `&${pattern(NAMES.lock.channel)}`,
  ]
  const plain = {
    kind: 'lock',
    commands: LOCK(lock, channel, queueKeys(lock).queue),
    patterns: first,
  }
  if (deployment === 'masters') {
    const commands = [
      ['HEXISTS', lock, 'f'],
      ['HLEN', lock],
      ['INFO', 'replication'],
    ]
    const patterns = [`~${BIRTH}`, ...own([NAMES.lock.forced])]
    return {
      needed: [plain, { kind: 'masters', commands, patterns }],
      optional: [PRESENCE, REQUESTS],
    }
  }
  const ofKinds = KEY_KINDS.flatMap(
    ({ rights }) =>
      rights?.({
        lock,
        keyPrefix,
        own: (...prefixes) => own(prefixes),
        channel: (prefix) => `&${pattern(prefix)}`,
      }) ?? [],
  )
  const optional: Needs[] = [PRESENCE, REQUESTS, ...ofKinds]
  const durable = {
    kind: 'durability',
    commands: [['WAIT', '1', '1'], ...(durability === 'all' ? [['INFO', 'replication']] : [])],
    patterns: own([NAMES.lock.confirm]),
  }
  const needed = durability === 0 ? [plain] : [plain, durable]
  if (durability === 0) optional.push(durable)
  if (deployment !== 'cluster') return { needed, optional }
  const nodes = {
    kind: 'cluster',
    commands: [
      ['CLUSTER', 'SLOTS'],
      ['CLUSTER', 'INFO'],
      ['SPUBLISH', channel, '0'],
      ['SSUBSCRIBE', channel],
      ['SUNSUBSCRIBE', channel],
      ['PUBSUB', 'SHARDNUMSUB', channel],
      ['ASKING'],
    ],
    patterns: [],
  }
  return { needed: [...needed, nodes], optional }
}
