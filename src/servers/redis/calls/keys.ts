/** The names in Redis that belong to one lock. All of them hash to one cluster slot. */
export interface LockKeys {
  /** The hash with each owner and its hold count. Its name is the raw name. */
  readonly lock: string
  /** The counter of fencing tokens. */
  readonly counter: string
  /** The channel of releases. */
  readonly channel: string
  /** The hash and the counter, in the order in which most scripts expect them. */
  readonly both: readonly string[]
}

/**
 * Returns the names in the form that Redisson uses: `prefix:{raw}`, or `prefix:raw` if the raw name
 * has a `{tag}`.
 */
export function lockKeys(rawName: string): LockKeys {
  const counter = derived('redisson_lock_token', rawName)
  const channel = derived('redisson_lock__channel', rawName)
  return { lock: rawName, counter, channel, both: [rawName, counter] }
}

/** The further keys of a fair lock. */
interface QueueKeys {
  /** The waiting owners, in the order in which they came. */
  readonly queue: string
  /** For each waiting client its label, and the time until which its places count. */
  readonly waiting: string
  /** The queue of Redisson's fair lock. */
  readonly javaQueue: string
  /** For each waiter of Redisson's queue, the time after which the waiter counts as dead. */
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

/**
 * Returns the keys of a read-write lock, and its channel of releases, which other locks do not use.
 */
export function readWriteKeys(rawName: string) {
  const { lock, counter } = lockKeys(rawName)
  const queues = [derived('holdfast_readers', rawName), derived('holdfast_writers', rawName)]
  const five = [lock, counter, ...queues, derived('holdfast_alive', rawName)]
  return {
    both: [lock, counter],
    five,
    six: [...five, derived('holdfast_phase', rawName)],
    channel: derived('redisson_rwlock', rawName),
    /** The prefix of the timeout keys, which store the leases of readers. */
    prefix: rawName.includes('{') ? rawName : `{${rawName}}`,
  }
}

/**
 * Returns the names of a count-down latch. Redisson puts braces around the whole name in its
 * channel, even if the name has a `{tag}`. In a cluster, such a channel is in another slot, so
 * Holdfast uses another channel there. Redisson's own scripts fail in this case.
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
 * Returns the keys of clients that wait for permits, and the channels that wake them: `tickets` for
 * Holdfast, `channel` for Redisson.
 */
export function waitingKeys(rawName: string) {
  return {
    queue: derived('holdfast_permit_queue', rawName),
    alive: derived('holdfast_permit_waiters', rawName),
    channel: derived('redisson_sc', rawName),
    tickets: derived('holdfast_tickets', rawName),
  }
}

/**
 * Returns the key that stores what a number is: a latch or a kind of semaphore. In Redis, these
 * numbers look alike.
 */
export function kindKey(rawName: string): string {
  return derived('holdfast_kind', rawName)
}

/** Returns the key for the result of a request that counts once. */
export function requestKey(rawName: string, id: string): string {
  return `${derived('holdfast_request', rawName)}:${id}`
}

/** Returns the keys of a semaphore whose permits have leases. */
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

/**
 * Returns the key in which one master of several stores the owners whose holds were ended by force.
 */
export function forcedKey(rawName: string): string {
  return derived('holdfast_forced', rawName)
}

/**
 * Returns the key that is written before WAIT. The key expires at once, because only its
 * replication matters.
 */
export function confirmKey(rawName: string): string {
  return derived('holdfast_confirm', rawName)
}

/** Returns the channel on which the leader of an election announces itself. */
export function electionChannelOf(rawName: string): string {
  return derived('holdfast_election', rawName)
}

/**
 * The mark: the key in which a master of several records since when it votes, and as which server
 * process.
 */
export const BIRTH = 'holdfast_birth'

/**
 * The prefix of the name of a client's inbox, before the client id. The inbox is a channel that
 * receives the grants of all fair locks.
 */
export const INBOX = 'holdfast_inbox:'

/** Returns the channel on which other clients ask this client to release a lock. */
export function requestsOf(clientId: string): string {
  return `holdfast_requests:${clientId}`
}

/**
 * Returns the key in which a client reports itself. In a cluster, the keys of clients are in
 * different slots.
 */
export function clientKey(clientId: string): string {
  return `holdfast_client:{${clientId}}`
}

/** The key with this prefix that belongs to the lock. */
export function derived(prefix: string, rawName: string): string {
  return `${prefix}:${rawName.includes('{') ? rawName : `{${rawName}}`}`
}
