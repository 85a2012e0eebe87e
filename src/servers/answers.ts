/** What an acquisition was answered. */
export type AcquireAnswer = Granted | Held

/** What a re-entry was answered. */
export type ReenterAnswer = Granted | Gone

/** What a hand-over was answered. */
export type HandOverAnswer = Granted | Gone | Yielded

/** What an acquisition in turn was answered. */
export type QueueAnswer = Granted | Held | Queued

export interface Granted {
  readonly kind: 'granted'
  readonly token: number
  /** So many tokens below that one are the owner's too. */
  readonly reserved?: number
  /**
   * Set by several masters, of which some may not have granted it: they are asked again as long as the
   * hold lives which this is to be called with.
   */
  readonly onHeld?: (lease: () => LeaseToRenew) => void
}

/** The owner does not hold the lock any more. */
export interface Gone {
  readonly kind: 'gone'
}

/** The lock is free, and so many others who listen have been woken. */
export interface Yielded {
  readonly kind: 'yielded'
  readonly others: number
  /** As with `Held`. */
  readonly split?: object
}

/** Who has a lock, as far as its place tells those who do not get it. */
export interface Seen {
  /** `<clientId>:<owner>`; '' where nobody has it */
  readonly holder?: string
  /** For how long, as its token tells, in milliseconds; null where it does not. Tokens of Redisson tell nothing. */
  readonly ageMs?: number | null
  /** What is left of its lease in milliseconds; -1 without an expiry. */
  readonly ttlMs?: number
  /** Of a fair lock, how many queue for it. */
  readonly length?: number
  /** The place in that queue, from 1 on, of one that has just come to it. */
  readonly position?: number | null
  /** Set where it is another one of several locks that is not to be had. */
  readonly isOther?: true
}

/** Somebody else has the lock. */
export interface Held extends Seen {
  readonly kind: 'held'
  readonly ttlMs: number
  /** Set where the server was not asked. */
  readonly unasked?: true
  /** Why it will never be granted, where that is known. */
  readonly never?: Error
  /** Where this client has a place among those who wait: since when, as the server tells time. */
  readonly since?: string
  /** Where some of several masters granted it, or may have, but no majority: its name is abandoned. */
  readonly split?: {
    /** How long to pause before asking again, in milliseconds; undefined when others have it. */
    readonly pauseMs?: number
  }
}

/** A place in the queue of a fair lock. */
export interface Queued extends Seen {
  readonly kind: 'queued'
  readonly ticket: string
  /** The token of whoever has the lock; 0 when it is lost. */
  readonly lastToken: number
  /** What is left of that one's lease in milliseconds; -1 when it has no expiry. */
  readonly ttlMs: number
  /** Whether nobody else is before it. */
  readonly first: boolean
}

/** What a heartbeat was answered for one lock. */
export interface HeartbeatAnswer {
  readonly ttlMs: number
  readonly lastToken: number
  /** The owner who heads the queue, or ''. */
  readonly first: string
  /** The owner of this client who has the lock, or ''. */
  readonly granted: string
  /** How many of the places were not there, and are put back. */
  readonly missing: number
  /** The owner who has the lock, or ''. */
  readonly holder: string
}

/** Who has a fair lock after it was let go. */
export interface NextHolder {
  readonly owner: string
  readonly token: number
  /** Whether it is of this client, and learns it from nobody else. */
  readonly own: boolean
}

/** What a release was answered. */
export type Released =
  | { readonly kind: 'freed'; readonly listeners: number; readonly following?: NextHolder }
  | { readonly kind: 'kept' }
  | Gone

/** The hold that force is to end: that one, and none that comes after it. */
export interface SeenHold {
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The last token issued; null where none is remembered, or each name is used for one hold only. */
  readonly token: number | null
}

/** Several locks at once: all are granted under one token, or one of them, by its index, is somebody else's. */
export type JointAnswer =
  | Granted
  | { readonly kind: 'held'; readonly ttlMs: number; readonly index: number }

/** So many of those who queue are listed: while it makes a long list the server does nothing else. */
export const MOST_LISTED = 1_000

/** One lock as the server stores it. */
export interface LockFacts {
  /** The holder as `<clientId>:<owner>`; null if the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** The remaining time of the lease in milliseconds; null if the lock is free or never expires. */
  readonly ttlMs: number | null
  /**
   * The last fencing token issued; null if the server has none. While several calls of one client wait, it can exceed
   * the holder's token by up to 63.
   */
  readonly token: number | null
  /** The number of clients that wait, at least: for a release, or in the queue. */
  readonly waiters: number
  /** The waiters of `getFairLock` in FIFO order, at most 1,000. */
  readonly queue: readonly QueueEntry[]
  /** The length of the queue. */
  readonly queueLength: number
}

/** A read-write lock as the server stores it. */
export interface ReadWriteFacts {
  /** How it is held; null if it is free. */
  readonly mode: 'read' | 'write' | null
  /** The holders: several readers, or one writer, which may read too. */
  readonly holders: readonly ReadWriteHolder[]
  /** The last fencing token issued; null if the server has none. */
  readonly token: number | null
  /** The clients that wait to read, and those that wait for the upgradable lock: the first 1,000 of either. */
  readonly waitingToRead: readonly WaitingClient[]
  /** The clients that wait to write, the next one first. */
  readonly waitingToWrite: readonly WaitingClient[]
}

export interface ReadWriteHolder {
  /** The owner as Redis stores it: `<clientId>:<owner>`, for a writer with `:write`. */
  readonly owner: string
  readonly holdCount: number
  /** The remaining time of the lease in milliseconds; null if it has no expiry. */
  readonly ttlMs: number | null
  /**
   * How long it has been held by the clock of the server, in milliseconds. Null if unknown: for holds of Redisson, and
   * for readers of clients that are too old to note it.
   */
  readonly ageMs: number | null
}

export interface WaitingClient {
  readonly client: string
  /**
   * How long it has waited by the clock of the server, in milliseconds. Null for a holder of the upgradable lock that
   * waits to write, ahead of all others.
   */
  readonly waitedMs: number | null
}

/** A count-down latch as the server stores it. */
export interface LatchFacts {
  /** The count; 0 if the latch is open: counted down, deleted, or never set. */
  readonly count: number
  /** The number of clients that await it, at least. */
  readonly waiters: number
  /**
   * The number of the round: the server's time in µs when its count was set. It rises with each round, but does not
   * count the rounds. Null if the latch is open, or if Redisson set the count.
   */
  readonly round: number | null
}

/** A semaphore as the server stores it. */
export interface SemaphoreFacts {
  /** False if there is no such semaphore: no client has set its permits, or it was deleted. */
  readonly isSet: boolean
  /** How many permits are available; below 0 if fewer are set than are taken. */
  readonly available: number
  /** The clients that wait for permits, the next one first, at most 1,000. */
  readonly waiting: readonly WaitingForPermits[]
}

/** A client that waits for permits. */
export interface WaitingForPermits {
  readonly client: string
  /** How long its first call has waited by the clock of the server, in milliseconds. */
  readonly waitedMs: number
  /** How many permits that call wants. */
  readonly permits: number
}

/** Of that, who has the lock. */
export type HolderFacts = Pick<LockFacts, 'holder' | 'holdCount' | 'ttlMs' | 'token'>

/** A waiter of a fair lock. */
export interface QueueEntry {
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The `label` of its client; null if the client is considered dead. */
  readonly process: string | null
  /** How long it has queued by the clock of the server, in milliseconds. */
  readonly waitedMs: number
}

/** Which lock is to be renewed, for whom. */
export interface LeaseToRenew {
  /** What a master that lost it is given back. */
  readonly holds?: number
  readonly token?: number
  /** Whether it is to be given back still. */
  readonly isHeld?: () => boolean
  readonly key: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}

/** The id of a client, by that of one of its owners, `<clientId>:<owner>`, or by its own. */
export function clientOf(clientOrOwner: string): string {
  const end = clientOrOwner.indexOf(':')
  return end === -1 ? clientOrOwner : clientOrOwner.slice(0, end)
}

/** Whether it is an owner of a client of Holdfast. Those of Redisson begin with a UUID. */
export function isOfHoldfast(owner: string): boolean {
  return /^[\w-]{21}:/.test(owner)
}
