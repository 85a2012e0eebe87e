/**
 * The prefixes of the keys and channels in Redis that several kinds have. The other prefixes of each
 * kind are in `../key-names/`. The name of the lock follows the prefix, usually in braces. The
 * headers of the Lua scripts use the same short names, such as `counter`.
 */
export const NAMES = {
  lock: {
    counter: 'redisson_lock_token',
    channel: 'redisson_lock__channel',
    forced: 'holdfast_forced',
    confirm: 'holdfast_confirm',
  },
  /** The extra keys of latches and semaphores. Their main keys contain only a number. */
  number: { kind: 'holdfast_kind', request: 'holdfast_request' },
  /** The prefixes of the key (`report`) and the two channels of a client. The client id follows. */
  client: { report: 'holdfast_client', inbox: 'holdfast_inbox', requests: 'holdfast_requests' },
} as const

/** The key of a master's mark. The mark stores from when the master votes, and its replication id. */
export const BIRTH = 'holdfast_birth'

/** The names in Redis that belong to one lock. All of them hash to one cluster slot. */
export interface LockKeys {
  /** The hash of owners and their hold counts. Its key is the raw name of the lock. */
  readonly lock: string
  /** The counter of fencing tokens. */
  readonly counter: string
  /** The channel of releases. */
  readonly channel: string
}

/**
 * Returns the keys and the channel of a lock, in the form of Redisson: `prefix:{raw}`, or
 * `prefix:raw` if the raw name has a `{tag}`.
 */
export function lockKeys(rawName: string): LockKeys {
  const counter = derived(NAMES.lock.counter, rawName)
  const channel = derived(NAMES.lock.channel, rawName)
  return { lock: rawName, counter, channel }
}

/** Returns the keys of one lock, for scripts that concern several locks. */
export function lockAndCounter(rawName: string): readonly string[] {
  return [rawName, derived(NAMES.lock.counter, rawName)]
}

/**
 * Returns the key that stores the kind of a latch or a semaphore. Their main keys contain only a
 * number, so they look alike in Redis.
 */
export function kindKey(rawName: string): string {
  return derived(NAMES.number.kind, rawName)
}

/** Returns the key for the result of a request that counts once. */
export function requestKey(rawName: string, id: string): string {
  return `${derived(NAMES.number.request, rawName)}:${id}`
}

/**
 * Returns the key that stores the owners whose holds were ended by force. Only the masters of a
 * quorum have this key.
 */
export function forcedKey(rawName: string): string {
  return derived(NAMES.lock.forced, rawName)
}

/**
 * Returns the key that the client writes before WAIT. The key expires at once, because only its
 * replication matters.
 */
export function confirmKey(rawName: string): string {
  return derived(NAMES.lock.confirm, rawName)
}

/**
 * The prefix of a client's inbox, before the client id. On this channel, the client receives its
 * grants of all fair locks.
 */
export const INBOX = `${NAMES.client.inbox}:`

/** Returns the channel on which other clients ask this client to release a lock. */
export function requestsOf(clientId: string): string {
  return `${NAMES.client.requests}:${clientId}`
}

/**
 * Returns the key that stores the report of a client. The braces spread the clients over the slots
 * of a cluster.
 */
export function clientKey(clientId: string): string {
  return `${NAMES.client.report}:{${clientId}}`
}

/** Returns the key or the channel with this prefix that belongs to the lock. */
export function derived(prefix: string, rawName: string): string {
  return `${prefix}:${tagged(rawName)}`
}

/**
 * Returns the name in braces, so that all keys of a lock are in one cluster slot. A name with
 * braces stays as it is.
 */
export function tagged(rawName: string): string {
  return rawName.includes('{') ? rawName : `{${rawName}}`
}
