import { KINDS } from '../../kinds/all.ts'
import type { Needs } from '../../kinds/kind.ts'

export type { Needs }

/** The names of the keys and channels of one lock. */
interface ProbeNames {
  readonly lock: string
  readonly channel: string
  of(prefix: string): string
}

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

/** Each client stores in such a key which process it is. */
const PRESENCE: Needs = { kind: 'presence', commands: [], patterns: ['~holdfast_client:*'] }

/** Holders receive requests to release on these channels. */
const REQUESTS: Needs = {
  kind: 'requests to release',
  commands: [],
  patterns: ['&holdfast_requests:*'],
}

/**
 * @param place the kind of deployment; some kinds need more rights than one server
 * @param name the key of an unused lock, with its prefix
 * @param durability for how many replicas acquisitions wait; above 0, all locks need the rights for
 * this
 */
export function needsOf(
  place: 'server' | 'masters' | 'cluster' | 'sentinel',
  name: string,
  keyPrefix: string,
  durability: number | 'all' = 0,
): { needed: Needs[]; optional: Needs[] } {
  const names = namesOf(name)
  const { lock, channel, of } = names
  const pattern = (prefix: string) => `${prefix}:{${keyPrefix}*`
  const first = [
    `~${keyPrefix}*`,
    `~${pattern('redisson_lock_token')}`,
    `~${pattern('holdfast_queue')}`,
    `~${pattern('holdfast_waiting')}`,
    `&${pattern('redisson_lock__channel')}`,
  ]
  const own = (prefixes: readonly string[]) => prefixes.map((one) => `~${pattern(one)}`)
  const plain = {
    kind: 'lock',
    commands: LOCK(lock, channel, of('holdfast_queue')),
    patterns: first,
  }
  if (place === 'masters') {
    const commands = [
      ['HEXISTS', lock, 'f'],
      ['HLEN', lock],
      ['INFO', 'replication'],
    ]
    const patterns = ['~holdfast_birth', ...own(['holdfast_forced'])]
    return {
      needed: [plain, { kind: 'masters', commands, patterns }],
      optional: [PRESENCE, REQUESTS],
    }
  }
  const ofKinds = KINDS.flatMap(
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
    patterns: own(['holdfast_confirm']),
  }
  const needed = durability === 0 ? [plain] : [plain, durable]
  if (durability === 0) optional.push(durable)
  if (place !== 'cluster') return { needed, optional }
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

function namesOf(lock: string): ProbeNames {
  const of = (prefix: string) => `${prefix}:${lock.includes('{') ? lock : `{${lock}}`}`
  return { lock, channel: of('redisson_lock__channel'), of }
}
