import type { SemaphoreFacts } from './answers.ts'
import type { RemotePool } from './permit-pool.ts'

/**
 * For how long the client tries to give back unused permits, in milliseconds. After that they are
 * lost.
 */
export const GIVING_BACK_MS = 600_000

/** The semaphores of a server whose permits have no owner and no lease, for one client. */
export interface SemaphoreServer {
  semaphore(rawName: string): RemoteSemaphore
}

/**
 * One such semaphore. The server stores what was taken under an owner name, as long as a request in
 * that name may be sent again. So permits are taken once and given back once. A change is stored in
 * the same way, under its id.
 */
export interface RemoteSemaphore extends RemotePool {
  /**
   * Adds permits, whichever owner took them, and wakes the next client.
   *
   * @returns false if `ifExists` is set and there is no such semaphore
   */
  add(change: Addition, callMs: number): Promise<boolean>
  /** Adds the permits in the background, after an unknown outcome. */
  addLater(change: Addition): void
  /** @returns see {@link SemaphoreChange} */
  change(change: SemaphoreChange, callMs: number): Promise<number>
  /** @param most the largest number of waiting clients to list */
  inspect(most: number, callMs: number): Promise<SemaphoreFacts>
}

export interface Addition {
  /** The id of the request. The server carries it out once, however often it is sent. */
  readonly id: string
  readonly permits: number
  /** True if nothing is done without an existing semaphore. */
  readonly ifExists: boolean
}

/**
 * `set` creates a semaphore, and returns 1, or 0 if there is one. `add` changes how many permits
 * are available, and returns how many are available then. `drain` takes all available permits, and
 * returns how many. `delete` deletes the semaphore, and returns 1, or 0 if there is none.
 */
export interface SemaphoreChange {
  /** As in {@link Addition}. */
  readonly id: string
  readonly what: 'set' | 'add' | 'drain' | 'delete'
  readonly permits: number
  /** How long a new semaphore lives, in milliseconds; 0 means forever. */
  readonly ttlMs: number
}
