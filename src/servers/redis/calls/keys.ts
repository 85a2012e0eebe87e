/**
 * The prefixes of the keys and channels in Redis, by kind. The name of the lock follows the prefix,
 * usually in braces. The headers of the Lua scripts use the same short names, such as `counter`.
 */
export const NAMES = {
  lock: {
    counter: 'redisson_lock_token',
    channel: 'redisson_lock__channel',
    forced: 'holdfast_forced',
    confirm: 'holdfast_confirm',
  },
  fair: {
    queue: 'holdfast_queue',
    waiting: 'holdfast_waiting',
    javaQueue: 'redisson_lock_queue',
    javaTimeouts: 'redisson_lock_timeout',
  },
  election: { channel: 'holdfast_election' },
  readWrite: {
    readers: 'holdfast_readers',
    writers: 'holdfast_writers',
    alive: 'holdfast_alive',
    phase: 'holdfast_phase',
    channel: 'redisson_rwlock',
  },
  /** The extra keys of latches and semaphores. Their main keys contain only a number. */
  number: { kind: 'holdfast_kind', request: 'holdfast_request' },
  latch: { round: 'holdfast_round', channel: 'redisson_countdownlatch__channel__' },
  permits: {
    queue: 'holdfast_permit_queue',
    alive: 'holdfast_permit_waiters',
    holders: 'holdfast_permit_holders',
    channel: 'redisson_sc',
    tickets: 'holdfast_tickets',
  },
  barrier: { state: 'holdfast_barrier', settled: 'holdfast_settled', channel: 'holdfast_rounds' },
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

/** The keys that only fair locks have. */
interface QueueKeys {
  /** The waiting owners, in the order in which they came. */
  readonly queue: string
  /** The label of each waiting client, and when its places expire. */
  readonly waiting: string
  /** The queue of Redisson's fair lock. */
  readonly javaQueue: string
  /** When each waiter of Redisson's queue counts as dead. */
  readonly javaTimeouts: string
}

export function queueKeys(rawName: string): QueueKeys {
  return {
    queue: derived(NAMES.fair.queue, rawName),
    waiting: derived(NAMES.fair.waiting, rawName),
    javaQueue: derived(NAMES.fair.javaQueue, rawName),
    javaTimeouts: derived(NAMES.fair.javaTimeouts, rawName),
  }
}

/** Returns the keys of a read-write lock, and the channel of its releases. */
export function readWriteKeys(rawName: string) {
  const { lock, counter } = lockKeys(rawName)
  const { readWrite: names } = NAMES
  return {
    lock,
    counter,
    readers: derived(names.readers, rawName),
    writers: derived(names.writers, rawName),
    alive: derived(names.alive, rawName),
    phase: derived(names.phase, rawName),
    channel: derived(names.channel, rawName),
    /** The prefix of the timeout keys, which store the leases of readers. */
    prefix: tagged(rawName),
  }
}

/**
 * Returns the keys and the channel of a count-down latch. In the channel, Redisson puts braces
 * around the whole name, even if the name has a `{tag}`. In a cluster, this channel would be in
 * another slot, so Holdfast leaves these braces out.
 */
export function latchKeys(rawName: string, clustered: boolean) {
  const { channel } = NAMES.latch
  return {
    latch: rawName,
    round: derived(NAMES.latch.round, rawName),
    kind: kindKey(rawName),
    channel:
      clustered && rawName.includes('{') ? `${channel}:${rawName}` : `${channel}{${rawName}}`,
  }
}

/**
 * Returns the keys for clients that wait for permits, and two channels. Holdfast wakes its clients
 * on `tickets`. Redisson uses `channel`.
 */
function waitingKeys(rawName: string) {
  return {
    queue: derived(NAMES.permits.queue, rawName),
    alive: derived(NAMES.permits.alive, rawName),
    channel: derived(NAMES.permits.channel, rawName),
    tickets: derived(NAMES.permits.tickets, rawName),
  }
}

/** Returns the keys of a semaphore whose permits have no leases. */
export function semaphoreKeys(rawName: string) {
  return { semaphore: rawName, ...waitingKeys(rawName), kind: kindKey(rawName) }
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

/** Returns the keys of a semaphore whose permits have leases. */
export function permitKeys(rawName: string) {
  const { counter } = lockKeys(rawName)
  return {
    pool: rawName,
    timeouts: `${tagged(rawName)}:timeout`,
    counter,
    ...waitingKeys(rawName),
    holders: derived(NAMES.permits.holders, rawName),
    kind: kindKey(rawName),
  }
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

/** Returns the channel on which the leader of an election announces itself. */
export function electionChannelOf(rawName: string): string {
  return derived(NAMES.election.channel, rawName)
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
