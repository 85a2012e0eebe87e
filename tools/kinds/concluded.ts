import type { JobInfo } from '../../src/index.ts'

/** One holder of a lock or of permits, without its process. */
export interface BareHolder {
  /**
   * The owner id, as the server stores it: `<clientId>:<owner>`. If the owner of a permit is
   * unknown, the id of the permit.
   */
  readonly owner: string
  readonly isRedisson: boolean
  readonly holdCount: number
  /** The ids of the permits of this holder, 32 hex digits each. Empty for a lock. */
  readonly permits: readonly string[]
  /** The remaining time of the lease, in milliseconds. Null if the hold never expires. */
  readonly ttlMs: number | null
  /** How long the owner has held the lock or the permits, in milliseconds. Null if unknown. */
  readonly ageMs: number | null
}

/** One waiter, without its process: a place in a queue, or a client that waits without a place. */
export interface BareWaiter {
  /**
   * The owner id, `<clientId>:<owner>`, for a waiter of a fair lock. Usually only the client id for
   * other waiters.
   */
  readonly owner: string
  readonly waitedMs: number | null
  /**
   * True if the waiter is probably dead: its heartbeat has stopped, or its client no longer reports
   * itself.
   */
  readonly isDead: boolean
  /**
   * The access that the waiter requests: `read`, `write`, `pass` for a barrier or, for example,
   * `2 permits`. Null for a lock or an election, or if the access is unknown.
   */
  readonly wants: string | null
}

/** The counts of a semaphore, of a latch or of a cyclic barrier. */
export interface CountFacts {
  /**
   * For a semaphore: the permits that a client can acquire now, including expired permits. Below 0
   * if more permits are taken than the semaphore has. 0 for other kinds.
   */
  readonly available: number
  /**
   * For permits with leases: the number of held permits. For a barrier: the number of parties that
   * have arrived. Null for other kinds.
   */
  readonly taken: number | null
  /**
   * For a latch: the count-downs until the latch opens. For a barrier: the parties that have not
   * arrived yet. Null for semaphores.
   */
  readonly toGo: number | null
}

/** The state of one lock. The code of its kind reads the state from the answers of the server. */
export interface Concluded {
  readonly holders?: readonly BareHolder[]
  /** The waiters with a place, usually in the order of the queue. */
  readonly queue?: readonly BareWaiter[]
  /**
   * The number of waiters that are not in `queue`, for example because the queue is too long. 0 by
   * default.
   */
  readonly unread?: number
  /** The number of clients that listen to the channel of the lock. 0 by default. */
  readonly listeners?: number
  /** The mode of a read-write lock that is held. */
  readonly mode?: string | undefined
  readonly count?: CountFacts | null
  /** False if the number of permits of a semaphore is not set. True by default. */
  readonly isSet?: boolean
  /** The runs of a job. Undefined for other kinds. */
  readonly job?: JobInfo
}

/** Returns the holder of a lock or of permits on a server without scripts. */
export function holderOf(
  owner: string,
  holdCount: number,
  ttlMs: number | null,
  ageMs: number | null,
): BareHolder {
  return { owner, isRedisson: false, holdCount, permits: [], ttlMs, ageMs }
}
