import type { SemaphoreFacts } from './facts.ts'
import type { PermitAnswer, PermitAttempt, RemotePool } from './permit-pool.ts'
import type { Reply } from './reply.ts'
import type { ServerKind } from './server-kind.ts'

/**
 * For how long the client tries to give back permits that it does not use, in milliseconds. After
 * this time, the permits are lost.
 */
export const GIVING_BACK_MS = 600_000

/** The semaphores without leases, as one client uses them. */
export interface SemaphoreServer {
  semaphore(rawName: string): RemoteSemaphore
  /** Returns the id with which an owner acquires permits. The caller must not use `id` again. */
  ownerId(id: string, permits: number): string
}

/**
 * One semaphore without leases. The server stores the result of each request while the client may
 * send a copy. So a copy changes nothing.
 */
export interface RemoteSemaphore extends RemotePool {
  /**
   * Adds to the number of available permits. Wakes the next waiting client.
   *
   * @returns false if `ifExists` is true and the semaphore does not exist
   */
  add(change: Addition, callMs: number): Promise<boolean>
  /**
   * Does what `add` does, and then acquires permits for a waiter of this client, in one request. The
   * waiter gets the permits only if its client is next.
   *
   * @param attempt its `callMs` is the time limit of the request
   * @param acquired receives the answer to the attempt
   */
  addAndAcquire(
    change: Addition,
    attempt: PermitAttempt,
    acquired: Reply<PermitAnswer>,
  ): Promise<boolean>
  /** Repeats an addition with an unknown outcome in the background. */
  addLater(change: Addition): void
  /** @returns the number that {@link SemaphoreChange} describes */
  change(change: SemaphoreChange, callMs: number): Promise<number>
  /** @param most the largest number of waiting clients to list */
  inspect(most: number, callMs: number): Promise<SemaphoreFacts>
}

export interface Addition {
  /** The id of the request. All copies have this id, so the server adds the permits once. */
  readonly id: string
  readonly permits: number
  /** If true, the request changes nothing when the semaphore does not exist. */
  readonly ifExists: boolean
}

/**
 * A change of a semaphore, and its answer. `set` creates the semaphore and answers 1, or 0 if the
 * semaphore exists. `add` answers the new number of available permits. `drain` removes all
 * available permits and answers their number. `delete` answers 1, or 0 if the semaphore does not
 * exist.
 */
export interface SemaphoreChange {
  /** The id of the request. All copies have this id, so the server makes the change once. */
  readonly id: string
  readonly what: 'set' | 'add' | 'drain' | 'delete'
  readonly permits: number
  /** How long after `set` the semaphore lives, in milliseconds; 0 means forever. */
  readonly ttlMs: number
}

export const SEMAPHORE: ServerKind<SemaphoreServer> = {
  name: 'semaphore',
  what: 'a semaphore without leases',
}
