import type { SemaphoreFacts } from './answers.ts'
import type { RemotePool } from './permit-pool.ts'

/**
 * For how long the client tries to give back unused permits, in milliseconds. After this time, the
 * permits are lost.
 */
export const GIVING_BACK_MS = 600_000

/** The semaphores of a server whose permits have no owner and no lease, for one client. */
export interface SemaphoreServer {
  semaphore(rawName: string): RemoteSemaphore
}

/**
 * One semaphore without leases. As long as a request may be sent again, the server stores under the
 * owner name how many permits the request took. So a repeat neither takes nor gives back permits
 * again. The result of a change is stored in the same way, under the id of the change.
 */
export interface RemoteSemaphore extends RemotePool {
  /**
   * Adds permits, even if another owner took them, and wakes the next client.
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
  /**
   * The id of the request. If the client sends several copies, the server adds the permits once.
   */
  readonly id: string
  readonly permits: number
  /** True to change nothing if the semaphore does not exist. */
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
