import { derived } from '../../../../src/servers/redis/calls/keys.ts'

/** At most this many members of one queue are read, and this many permits of one semaphore. */
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
 * For how long a grant waits for its confirmation, in milliseconds. If a writer loses a read-write
 * lock by force, the waiting readers go before the writers for the same time.
 */
export const CLAIM_MS = 1_500

/** Returns the commands on sorted sets that `ACL DRYRUN` tries. */
export const SETS = (key: string): readonly (readonly string[])[] => [
  ['ZADD', key, '1', 'm'],
  ['ZREM', key, 'm'],
  ['ZSCORE', key, 'm'],
]

/** Returns the commands on hashes that `ACL DRYRUN` tries. */
export const HASHES = (key: string): readonly (readonly string[])[] => [
  ['HLEN', key],
  ['HRANDFIELD', key],
]
