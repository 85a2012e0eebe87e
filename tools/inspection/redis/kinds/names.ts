import { derived } from '../../../../src/servers/redis/calls/keys.ts'

/** The tools read at most this many members of a queue, and this many permits of a semaphore. */
export const MOST_READ = 1_000

/** Returns the command that reads a queue of waiters. */
export const queueOf = (prefix: string, key: string) =>
  ['ZRANGE', derived(prefix, key), 0, MOST_READ - 1, 'WITHSCORES'] as const

/** Returns the command that counts the listeners of a channel. */
export const listenersOf = (channel: string, isCluster: boolean) =>
  ['PUBSUB', isCluster ? 'SHARDNUMSUB' : 'NUMSUB', channel] as const

/** The default `counterTtlMs` of clients, in milliseconds. */
export const COUNTER_MS = 3_600_000

/**
 * How long an unconfirmed grant lasts, in milliseconds. If a writer loses a read-write lock by
 * force, waiting readers go before waiting writers for this time.
 */
export const CLAIM_MS = 1_500

/** Returns the commands on sorted sets to test with `ACL DRYRUN`. */
export const SETS = (key: string): readonly (readonly string[])[] => [
  ['ZADD', key, '1', 'm'],
  ['ZREM', key, 'm'],
  ['ZSCORE', key, 'm'],
]

/** Returns the commands on hashes to test with `ACL DRYRUN`. */
export const HASHES = (key: string): readonly (readonly string[])[] => [
  ['HLEN', key],
  ['HRANDFIELD', key],
]
