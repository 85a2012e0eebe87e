/** The largest number of waiters in one answer. A longer answer would block the server. */
export const MOST_LISTED = 1_000

/** One lock as the server stores it. */
export interface LockFacts {
  /** The owner that holds the lock, as `<clientId>:<owner>`; null if the lock is free. */
  readonly holder: string | null
  readonly holdCount: number
  /** The remaining lease, in milliseconds; null if the lock is free or the lease never expires. */
  readonly ttlMs: number | null
  /**
   * The last fencing token that the server issued; null if the server stores none. While several
   * calls of one client wait, this token can exceed the holder's token by up to 63.
   */
  readonly token: number | null
  /**
   * How long the holder has held the lock by the server's clock, in milliseconds. The server takes
   * the time from the last token. If its clock was set back, the age can be too small. Null if the
   * lock is free or the time is unknown, as for holders of Redisson and on several masters.
   */
  readonly ageMs: number | null
  /** At least this many clients wait for a release or in the queue. */
  readonly waiters: number
  /** The waiters of `getFairLock` in FIFO order: the first 1,000. */
  readonly queue: readonly QueueEntry[]
  /** The number of waiters in the whole queue. */
  readonly queueLength: number
}

/** A read-write lock as the server stores it. */
export interface ReadWriteFacts {
  /** How the lock is held; null if it is free. */
  readonly mode: 'read' | 'write' | null
  /** The holders: several readers, or one writer. A writer that also reads is listed twice. */
  readonly holders: readonly ReadWriteHolder[]
  /** The last fencing token that the server issued; null if the server stores none. */
  readonly token: number | null
  /** The clients that wait for the read or the upgradable lock; up to 1,000 of each kind. */
  readonly waitingToRead: readonly WaitingClient[]
  /** The clients that wait to write, the next writer first; up to 1,000. */
  readonly waitingToWrite: readonly WaitingClient[]
}

export interface ReadWriteHolder {
  /** The owner as Redis stores it: `<clientId>:<owner>`, for a writer with `:write` at the end. */
  readonly owner: string
  readonly holdCount: number
  /** The remaining time of the lease, in milliseconds; null if the lease never expires. */
  readonly ttlMs: number | null
  /**
   * How long the owner has held the lock by the server's clock, in milliseconds. Null for holds of
   * Redisson, and for readers of old versions of Holdfast, because they do not store the time.
   */
  readonly ageMs: number | null
}

export interface WaitingClient {
  readonly client: string
  /**
   * How long the client has waited by the server's clock, in milliseconds. Null if the client holds
   * the upgradable lock and waits to write. Such a client comes before all others.
   */
  readonly waitedMs: number | null
}

/** A count-down latch as the server stores it. */
export interface LatchFacts {
  /** The count; 0 if the latch is open: its count reached 0, was deleted, or was never set. */
  readonly count: number
  /** At least this many clients await the latch. */
  readonly waiters: number
  /**
   * The id of the round: the server's time in µs when the count was set. A later round has a higher
   * id. Null if the latch is open, or if the server stores no id. Redisson stores none.
   */
  readonly round: number | null
}

/** A semaphore whose permits have no leases, as the server stores it. */
export interface SemaphoreFacts {
  /** False if no client has set the number of permits, or if the semaphore was deleted. */
  readonly isSet: boolean
  /** The number of available permits; below 0 if permits in use were removed. */
  readonly available: number
  /** The clients that wait for permits, in the order in which they get permits; at most 1,000. */
  readonly waiting: readonly WaitingForPermits[]
}

/** A client that waits for permits. */
export interface WaitingForPermits {
  readonly client: string
  /** How long the client's first waiting call has waited by the server's clock, in milliseconds. */
  readonly waitedMs: number
  /** The number of permits that the client's first waiting call wants. */
  readonly permits: number
}

/** The fields of `LockFacts` that describe the holder. */
export type HolderFacts = Pick<LockFacts, 'holder' | 'holdCount' | 'ttlMs' | 'token'>

/** One waiter in the queue of a fair lock. */
export interface QueueEntry {
  /** The owner as Redis stores it: `<clientId>:<owner>`. */
  readonly owner: string
  /** The `label` of the owner's client; null if the client's heartbeat is late. */
  readonly process: string | null
  /** How long the owner has been in the queue by the server's clock, in milliseconds. */
  readonly waitedMs: number
}
