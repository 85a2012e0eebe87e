/** The names in Redis that belong to one lock. All of them hash to one cluster slot. */
export interface LockKeys {
  /** The hash: owner to hold count. Its name is the raw name itself. */
  readonly lock: string
  /** The fencing token counter. */
  readonly counter: string
  /** The channel that a release publishes to. */
  readonly channel: string
  /** The hash and the counter, as most scripts take them. */
  readonly both: readonly string[]
}

/**
 * The names as Redisson derives them: `prefix:{raw}`, or `prefix:raw` when the raw name has a
 * `{tag}` of its own.
 */
export function lockKeys(rawName: string): LockKeys {
  const counter = derived('redisson_lock_token', rawName)
  const channel = derived('redisson_lock__channel', rawName)
  return { lock: rawName, counter, channel, both: [rawName, counter] }
}

/** What a fair lock has beside the names of every lock. */
interface QueueKeys {
  /** Owners in the order in which they came. */
  readonly queue: string
  /** Until when each client's places count, and its label. */
  readonly waiting: string
  /** The queue of Redisson's own fair lock, and when those in it count as dead. */
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

/** What a read-write lock has beside the names of every lock; its releases are told on a channel of its own. */
export function readWriteKeys(rawName: string) {
  const { lock, counter } = lockKeys(rawName)
  const queues = [derived('holdfast_readers', rawName), derived('holdfast_writers', rawName)]
  const five = [lock, counter, ...queues, derived('holdfast_alive', rawName)]
  return {
    both: [lock, counter],
    five,
    six: [...five, derived('holdfast_phase', rawName)],
    channel: derived('redisson_rwlock', rawName),
    /** What the names of its timeout keys begin with. */
    prefix: rawName.includes('{') ? rawName : `{${rawName}}`,
  }
}

/**
 * The names of a count-down latch. Redisson puts braces around the whole name of its channel also where that has a
 * `{tag}`: in a cluster the channel is in another slot then, and its own scripts fail; ours is not.
 */
export function latchKeys(rawName: string, clustered: boolean) {
  const round = derived('holdfast_round', rawName)
  const channel = 'redisson_countdownlatch__channel__'
  return {
    both: [rawName, round],
    kind: kindKey(rawName),
    channel:
      clustered && rawName.includes('{') ? `${channel}:${rawName}` : `${channel}{${rawName}}`,
    /** Where it is kept what a request came to. */
    request: (id: string) => requestKey(rawName, id),
  }
}

/** Who waits for permits, and what they are told: each client on `tickets`, those of Redisson on `channel`. */
export function waitingKeys(rawName: string) {
  return {
    queue: derived('holdfast_permit_queue', rawName),
    alive: derived('holdfast_permit_waiters', rawName),
    channel: derived('redisson_sc', rawName),
    tickets: derived('holdfast_tickets', rawName),
  }
}

/** Which kind has set the number of that name: latches and semaphores look alike in Redis. */
export function kindKey(rawName: string): string {
  return derived('holdfast_kind', rawName)
}

/** What is remembered of a request that counts once, by the name of it. */
export function requestKey(rawName: string, id: string): string {
  return `${derived('holdfast_request', rawName)}:${id}`
}

/** A semaphore whose permits have leases. */
export function permitKeys(rawName: string) {
  const { counter } = lockKeys(rawName)
  const waiting = waitingKeys(rawName)
  const { queue, alive } = waiting
  const [holders, kind] = [derived('holdfast_permit_holders', rawName), kindKey(rawName)]
  const timeouts = `${rawName.includes('{') ? rawName : `{${rawName}}`}:timeout`
  return {
    ...waiting,
    /** What `renew` takes of each hold. */
    three: [timeouts, counter, holders],
    six: [rawName, timeouts, queue, alive, holders, kind],
    seven: [rawName, timeouts, counter, queue, alive, holders, kind],
    /** What `set` and `release-ids` take, with what is remembered of the request. */
    sevenFor: (request: string) => [
      ...[rawName, timeouts, queue, alive],
      requestKey(rawName, request),
      ...[holders, kind],
    ],
  }
}

/** Where one master of several notes from whom the lock was taken by force. */
export function forcedKey(rawName: string): string {
  return derived('holdfast_forced', rawName)
}

/** What is written before replicas are waited for: it ends at once, and is only there to be replicated. */
export function confirmKey(rawName: string): string {
  return derived('holdfast_confirm', rawName)
}

/** Where the leader of an election tells that it leads. */
export function electionChannelOf(rawName: string): string {
  return derived('holdfast_election', rawName)
}

/** The key that tells since when a master of several may vote, and as which process of the server. */
export const BIRTH = 'holdfast_birth'

/** A client is told here what it was granted, whatever the lock: this and its id. */
export const INBOX = 'holdfast_inbox:'

/** Where other clients ask that one to release a lock. */
export function requestsOf(clientId: string): string {
  return `holdfast_requests:${clientId}`
}

/** Where a client tells who it is. In a cluster each has a slot of its own. */
export function clientKey(clientId: string): string {
  return `holdfast_client:{${clientId}}`
}

function derived(prefix: string, rawName: string): string {
  return `${prefix}:${rawName.includes('{') ? rawName : `{${rawName}}`}`
}
