import { derived } from '../../../../src/servers/redis/calls/keys.ts'

/** At most this many members of one queue are read, and this many permits of one semaphore. */
export const MOST_READ = 1_000

/** The command that reads a queue of waiters. */
export const queueOf = (prefix: string, key: string) =>
  ['ZRANGE', derived(prefix, key), 0, MOST_READ - 1, 'WITHSCORES'] as const

/** The command that counts the listeners of a channel. */
export const listenersOf = (channel: string, isCluster: boolean) =>
  ['PUBSUB', isCluster ? 'SHARDNUMSUB' : 'NUMSUB', channel] as const

/** The default `counterTtlMs` of clients, in milliseconds. */
export const COUNTER_MS = 3_600_000

/**
 * For how long a grant waits for its confirmation, and readers go before writers, in milliseconds.
 */
export const CLAIM_MS = 1_500

/** Commands on sorted sets, for `ACL DRYRUN`. */
export const SETS = (key: string): readonly (readonly string[])[] => [
  ['ZADD', key, '1', 'm'],
  ['ZREM', key, 'm'],
  ['ZSCORE', key, 'm'],
]

/** Commands on hashes, for `ACL DRYRUN`. */
export const HASHES = (key: string): readonly (readonly string[])[] => [
  ['HLEN', key],
  ['HRANDFIELD', key],
]
