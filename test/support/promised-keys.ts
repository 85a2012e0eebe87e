/**
 * The names of keys and channels in Redis, as docs/reference/keys.md states them for users. Operators and other
 * versions rely on these names. test/repo/promised compares the names with the source.
 *
 * @param raw the name of the lock with its prefix
 */

/** The counter of fencing tokens. */
export const counterOf = (raw: string): string => `redisson_lock_token:${tagged(raw)}`

/** The channel of the releases of a lock. */
export const channelOf = (raw: string): string => `redisson_lock__channel:${tagged(raw)}`

/** The queue of a fair lock. */
export const queueOf = (raw: string): string => `holdfast_queue:${tagged(raw)}`

/** The channel of the releases of a read-write lock. */
export const readWriteChannelOf = (raw: string): string => `redisson_rwlock:${tagged(raw)}`

/** A name with braces stays as it is. */
const tagged = (raw: string): string => (raw.includes('{') ? raw : `{${raw}}`)
