/** The names in Redis that belong to one lock. All of them hash to one cluster slot. */
export interface LockKeys {
  /** The hash: owner to hold count. Its name is the raw name. */
  readonly lock: string
  /** The counter of fencing tokens. */
  readonly counter: string
  /** The channel of releases. */
  readonly channel: string
  /** The hash and the counter, as most scripts take them. */
  readonly both: readonly string[]
}

/**
 * Names as Redisson derives them: `prefix:{raw}`, or `prefix:raw` if the raw name has a `{tag}`.
 */
export function lockKeys(rawName: string): LockKeys {
  const counter = derived('redisson_lock_token', rawName)
  const channel = derived('redisson_lock__channel', rawName)
  return { lock: rawName, counter, channel, both: [rawName, counter] }
}

/** The further keys of a fair lock. */
interface QueueKeys {
  /** Owners in the order in which they came. */
  readonly queue: string
  /** For each client its label, and until when its places count. */
  readonly waiting: string
  /** The queue of Redisson's fair lock, and when each waiter in it counts as dead. */
  readonly javaQueue: string
  readonly javaTimeouts: string
}

export function queueKeys(rawName: string): QueueKeys {
  return {
    queue: derived('holdfast_queue', rawName),
    waiting: derived('holdfast_waiting', rawName),
    javaQueue: derived('redisson_lock_queue', rawName),
    javaTimeouts: derived('redisson_lock_timeout', rawName),
  }
}

/** The keys of a read-write lock. It has a release channel of its own. */
export function readWriteKeys(rawName: string) {
  const { lock, counter } = lockKeys(rawName)
  const queues = [derived('holdfast_readers', rawName), derived('holdfast_writers', rawName)]
  const five = [lock, counter, ...queues, derived('holdfast_alive', rawName)]
  return {
    both: [lock, counter],
    five,
    six: [...five, derived('holdfast_phase', rawName)],
    channel: derived('redisson_rwlock', rawName),
    /** The prefix of the timeout keys. */
    prefix: rawName.includes('{') ? rawName : `{${rawName}}`,
  }
}

/**
 * The names of a count-down latch. Redisson puts braces around the whole name in its channel, even
 * if the name has a `{tag}`. In a cluster, that channel is in another slot, and Redisson's own
 * scripts fail. So Holdfast uses another channel there.
 */
export function latchKeys(rawName: string, clustered: boolean) {
  const round = derived('holdfast_round', rawName)
  const channel = 'redisson_countdownlatch__channel__'
  return {
    both: [rawName, round],
    kind: kindKey(rawName),
    channel:
      clustered && rawName.includes('{') ? `${channel}:${rawName}` : `${channel}{${rawName}}`,
    /** The key for the result of a request. */
    request: (id: string) => requestKey(rawName, id),
  }
}

/**
 * The keys of clients that wait for permits, and their channels: `tickets` for Holdfast, `channel`
 * for Redisson.
 */
export function waitingKeys(rawName: string) {
  return {
    queue: derived('holdfast_permit_queue', rawName),
    alive: derived('holdfast_permit_waiters', rawName),
    channel: derived('redisson_sc', rawName),
    tickets: derived('holdfast_tickets', rawName),
  }
}

/** The key that names the kind of a number, because latches and semaphores look alike in Redis. */
export function kindKey(rawName: string): string {
  return derived('holdfast_kind', rawName)
}

/** The key for the result of a request that counts once. */
export function requestKey(rawName: string, id: string): string {
  return `${derived('holdfast_request', rawName)}:${id}`
}

/** The keys of a semaphore whose permits have leases. */
export function permitKeys(rawName: string) {
  const { counter } = lockKeys(rawName)
  const waiting = waitingKeys(rawName)
  const { queue, alive } = waiting
  const [holders, kind] = [derived('holdfast_permit_holders', rawName), kindKey(rawName)]
  const timeouts = `${rawName.includes('{') ? rawName : `{${rawName}}`}:timeout`
  return {
    ...waiting,
    /** The keys of a hold for `renew`. */
    three: [timeouts, counter, holders],
    six: [rawName, timeouts, queue, alive, holders, kind],
    seven: [rawName, timeouts, counter, queue, alive, holders, kind],
    /** The keys for `set` and `release-ids`, with the key for the result of the request. */
    sevenFor: (request: string) => [
      ...[rawName, timeouts, queue, alive],
      requestKey(rawName, request),
      ...[holders, kind],
    ],
  }
}

/** The key in which one master of several stores the owners whose holds were ended by force. */
export function forcedKey(rawName: string): string {
  return derived('holdfast_forced', rawName)
}

/** The key that is written before WAIT. It expires at once; only its replication matters. */
export function confirmKey(rawName: string): string {
  return derived('holdfast_confirm', rawName)
}

/** The channel on which the leader of an election announces itself. */
export function electionChannelOf(rawName: string): string {
  return derived('holdfast_election', rawName)
}

/** The key that records since when a master of several votes, and as which server process. */
export const BIRTH = 'holdfast_birth'

/**
 * The prefix of the inbox of a client. The client id follows. The inbox receives the grants of all
 * fair locks.
 */
export const INBOX = 'holdfast_inbox:'

/** The channel on which other clients ask this client to release a lock. */
export function requestsOf(clientId: string): string {
  return `holdfast_requests:${clientId}`
}

/** The key in which a client reports itself. In a cluster, each client has a slot of its own. */
export function clientKey(clientId: string): string {
  return `holdfast_client:{${clientId}}`
}

/** The key with this prefix that belongs to the lock. */
export function derived(prefix: string, rawName: string): string {
  return `${prefix}:${rawName.includes('{') ? rawName : `{${rawName}}`}`
}
