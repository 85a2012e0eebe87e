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
  /** `<clientId>:<owner>` */
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

/** One lock as the server sees it. */
export interface LockFacts {
  /** `<clientId>:<owner>`, or null when the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** What is left of its lease in milliseconds; null when the lock is free or never expires. */
  readonly ttlMs: number | null
  /**
   * The last fencing token issued, or null when none is remembered; while several calls of one client
   * wait, up to 63 more than that of the holder.
   */
  readonly token: number | null
  /** How many clients have somebody who waits, at least: for a release, or in the queue. */
  readonly waiters: number
  /** Those who wait in turn, with `getFairLock`: the next one first, and no more than 1,000. */
  readonly queue: readonly QueueEntry[]
  /** How many wait in turn. */
  readonly queueLength: number
}

/** A read-write lock as the server sees it. */
export interface ReadWriteFacts {
  /** How it is held; null when it is free. */
  readonly mode: 'read' | 'write' | null
  /** Who has it: several who read, or one who writes, and may read as well. */
  readonly holders: readonly ReadWriteHolder[]
  /** The last fencing token issued, or null when none is remembered. */
  readonly token: number | null
  /** The clients in which somebody waits to read, or for the upgradable lock, the first 1,000 of either. */
  readonly waitingToRead: readonly WaitingClient[]
  /** The same for those who wait to write, the next one first. */
  readonly waitingToWrite: readonly WaitingClient[]
}

export interface ReadWriteHolder {
  /** `<clientId>:<owner>`, with `:write` of one who writes. */
  readonly owner: string
  readonly holdCount: number
  /** What is left of its lease in milliseconds; null without an expiry. */
  readonly ttlMs: number | null
  /**
   * For how long it has been held, by the clock of the server, in milliseconds. Null if nothing tells: of Redisson's
   * holds, and of readers of clients that are too old to note it.
   */
  readonly ageMs: number | null
}

export interface WaitingClient {
  readonly client: string
  /**
   * Since when, by the clock of the server, in milliseconds; null for who has the upgradable lock and waits to
   * write, before all others.
   */
  readonly waitedMs: number | null
}

/** A count-down latch as the server sees it. */
export interface LatchFacts {
  /** What is left to be counted down; 0 where the latch is open: counted down, deleted, or never set. */
  readonly count: number
  /** How many clients have somebody who awaits it, at least. */
  readonly waiters: number
  /**
   * The number of the round: the server's time in µs when its count was set. It rises with each round, but it does not
   * count them. Null when the latch is open, and when Redisson set the count.
   */
  readonly round: number | null
}

/** A semaphore as the server sees it. */
export interface SemaphoreFacts {
  /** False if there is no such semaphore: nobody has given it permits, or it was deleted. */
  readonly isSet: boolean
  /** How many permits are available; below 0 where fewer were set than are taken. */
  readonly available: number
  /** The clients in which somebody waits for permits, the next one first, and no more than 1,000. */
  readonly waiting: readonly WaitingForPermits[]
}

/** A client in which somebody waits for permits. */
export interface WaitingForPermits {
  readonly client: string
  /** Since when the first of them waits, by the clock of the server, in milliseconds. */
  readonly waitedMs: number
  /** How many permits that one wants. */
  readonly permits: number
}

/** Of that, who has the lock. */
export type HolderFacts = Pick<LockFacts, 'holder' | 'holdCount' | 'ttlMs' | 'token'>

/** Somebody who waits for a fair lock. */
export interface QueueEntry {
  /** `<clientId>:<owner>` */
  readonly owner: string
  /** The `label` of its client; null for a client that is taken for dead. */
  readonly process: string | null
  /** Since when it queues, by the clock of the server, in milliseconds. */
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
