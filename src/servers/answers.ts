export type AcquireAnswer = Granted | Held

export type ReenterAnswer = Granted | Gone

export type HandOverAnswer = Granted | Gone | Yielded

/** The answer to an acquisition that may queue. */
export type QueueAnswer = Granted | Held | Queued

export interface Granted {
  readonly kind: 'granted'
  readonly token: number
  /** How many tokens directly below `token` are reserved for later hand-overs in this client. */
  readonly reserved?: number
  /**
   * Set by a quorum if some masters may lack the hold. Call it with the lease of the hold. The
   * quorum then asks these masters again until the hold ends.
   */
  readonly onHeld?: (lease: () => LeaseToRenew) => void
}

/** The owner does not hold the lock any more. */
export interface Gone {
  readonly kind: 'gone'
}

/** The lock was freed, and this many listeners of other clients were woken. */
export interface Yielded {
  readonly kind: 'yielded'
  readonly others: number
  /** As in `Held`. */
  readonly split?: object
}

/** The part of a refusal that describes the holder of the lock. */
export interface Seen {
  /** `<clientId>:<owner>`; '' if the lock is free */
  readonly holder?: string
  /** How long the holder has held the lock, in milliseconds; null if that is unknown. */
  readonly ageMs?: number | null
  /** The remaining time of the holder's lease in milliseconds; -1 means no expiry. */
  readonly ttlMs?: number
  /** For a fair lock, the number of waiters in its queue. */
  readonly length?: number
  /** The position of the owner in that queue, from 1; null unless the owner has just joined it. */
  readonly position?: number | null
  /** Set if the caller wants several locks, and this refusal is about another one of them. */
  readonly isOther?: true
}

/** Another owner holds the lock. */
export interface Held extends Seen {
  readonly kind: 'held'
  readonly ttlMs: number
  /** Set if the client refused the call without a request to the server. */
  readonly unasked?: true
  /** Why the lock will never be granted, if that is known. */
  readonly never?: Error
  /** When this client's wait for the lock began, as the server stores it. */
  readonly since?: string
  /** Set if a minority of masters may have granted the lock. The owner name is abandoned. */
  readonly split?: {
    /** The pause before the next attempt, in ms; undefined if no master granted the lock. */
    readonly pauseMs?: number
  }
}

/** A place in the queue of a fair lock. */
export interface Queued extends Seen {
  readonly kind: 'queued'
  readonly ticket: string
  /** The last token that was issued for the lock; 0 if the counter is lost. */
  readonly lastToken: number
  /** The remaining time of the holder's lease in milliseconds; -1 means no expiry. */
  readonly ttlMs: number
  /** True if no other owner is before it in the queue. */
  readonly first: boolean
}

/** The answer to a heartbeat for one lock. */
export interface HeartbeatAnswer {
  readonly ttlMs: number
  readonly lastToken: number
  /** The owner at the head of the queue, or ''. */
  readonly first: string
  /** The holder, if it is an owner of this client; otherwise ''. */
  readonly granted: string
  /** How many places of the client were missing from the queue. The server has restored them. */
  readonly missing: number
  /** The holder, or ''. */
  readonly holder: string
}

/** The holder of a fair lock after a release. */
export interface NextHolder {
  readonly owner: string
  readonly token: number
  /** True if it is an owner of the client that released the lock. */
  readonly own: boolean
}

export type Released =
  | { readonly kind: 'freed'; readonly listeners: number; readonly following?: NextHolder }
  | { readonly kind: 'kept' }
  | Gone

/** The hold to end by force. A later hold stays. */
export interface SeenHold {
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The last token issued; null if none is stored, or if each owner name has one hold only. */
  readonly token: number | null
}

/** All locks are granted under one token, or another owner holds the lock at `index`. */
export type JointAnswer =
  | Granted
  | { readonly kind: 'held'; readonly ttlMs: number; readonly index: number }

/** How many waiters of a queue are listed. A longer list would block the server for too long. */
export const MOST_LISTED = 1_000

/** One lock as the server stores it. */
export interface LockFacts {
  /** The holder as `<clientId>:<owner>`; null if the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** The remaining time of the lease in milliseconds; null if the lock is free or never expires. */
  readonly ttlMs: number | null
  /**
   * The last fencing token issued; null if the server has none. While several calls of one client
   * wait, it can exceed the holder's token by up to 63.
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
  /** How the lock is held; null if it is free. */
  readonly mode: 'read' | 'write' | null
  /** The holders: several readers, or one writer, which may read too. */
  readonly holders: readonly ReadWriteHolder[]
  /** The last fencing token issued; null if the server has none. */
  readonly token: number | null
  /** The clients that wait to read or for the upgradable lock: the first 1,000 of either. */
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
   * How long the owner has held the lock by the server's clock, in milliseconds. Null if unknown:
   * for holds of Redisson, and for readers of old clients, which do not store the time.
   */
  readonly ageMs: number | null
}

export interface WaitingClient {
  readonly client: string
  /**
   * How long the client has waited by the server's clock, in milliseconds. Null for a holder of the
   * upgradable lock that waits to write. Such a waiter comes before all others.
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
   * The number of the round: the server's time in µs when its count was set. It rises with each
   * round, but does not count the rounds. Null if the latch is open, or if Redisson set the count.
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
  /** How long its first call has waited, in milliseconds, by the server's clock. */
  readonly waitedMs: number
  /** How many permits that call wants. */
  readonly permits: number
}

/** The fields of `LockFacts` that describe the holder. */
export type HolderFacts = Pick<LockFacts, 'holder' | 'holdCount' | 'ttlMs' | 'token'>

/** A waiter of a fair lock. */
export interface QueueEntry {
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The `label` of its client; null if the client is considered dead. */
  readonly process: string | null
  /** How long the owner has been in the queue, in milliseconds, by the server's clock. */
  readonly waitedMs: number
}

/** A lease to renew. */
export interface LeaseToRenew {
  /** The hold count and the token, with which a master that lost the hold is restored. */
  readonly holds?: number
  readonly token?: number
  /** Returns false when the hold has ended. Then no master restores the hold. */
  readonly isHeld?: () => boolean
  readonly key: string
  /** The owner as Redis knows it: `<clientId>:<owner>`. */
  readonly wireOwner: string
}

/** The client id in an owner name, `<clientId>:<owner>`. Returns a client id unchanged. */
export function clientOf(clientOrOwner: string): string {
  const end = clientOrOwner.indexOf(':')
  return end === -1 ? clientOrOwner : clientOrOwner.slice(0, end)
}

/** True for an owner of a Holdfast client. Owners of Redisson begin with a UUID. */
export function isOfHoldfast(owner: string): boolean {
  return /^[\w-]{21}:/.test(owner)
}
