import type { SemaphoreFacts } from './answers.ts'
import type { RemotePool } from './permit-pool.ts'

/** It is tried for so long to give back what nobody uses, in milliseconds: then it is lost. */
export const GIVING_BACK_MS = 600_000

/**
 * What a place must be able to do where semaphores live whose permits have no owner and no lease, as one client
 * sees it.
 */
export interface SemaphoreServer {
  /** One semaphore there. */
  semaphore(rawName: string): RemoteSemaphore
}

/**
 * One such semaphore at its place. What was taken in an owner's name is remembered for as long as that name may be
 * asked for again, or given back, and no longer: so it is taken once, and given back once. The same goes for each
 * change by its id.
 */
export interface RemoteSemaphore extends RemotePool {
  /**
   * Adds permits, whoever had taken them, and tells who is next.
   *
   * @returns whether there is such a semaphore: always, but where nothing is done without
   */
  add(change: Addition, callMs: number): Promise<boolean>
  /** Goes on adding them in the background, where it is not known whether they are there. */
  addLater(change: Addition): void
  /** @returns what is said of `change` */
  change(change: SemaphoreChange, callMs: number): Promise<number>
  /** @param most how many of those who wait are wanted, at the most */
  inspect(most: number, callMs: number): Promise<SemaphoreFacts>
}

export interface Addition {
  /** The name of the request, as that of an owner: however often it is sent it is carried out once. */
  readonly id: string
  readonly permits: number
  /** Whether nothing is done where there is no such semaphore. */
  readonly ifExists: boolean
}

/**
 * `set` makes a semaphore where there is none, and tells 1, else 0; `add` makes more or fewer available, and tells
 * how many there are then; `drain` takes all that are available, and tells how many; `delete` deletes the semaphore,
 * and tells 1 if there was one, else 0.
 */
export interface SemaphoreChange {
  /** As with {@link Addition}. */
  readonly id: string
  readonly what: 'set' | 'add' | 'drain' | 'delete'
  readonly permits: number
  /** How long a new semaphore lives, in milliseconds; 0 is for good. */
  readonly ttlMs: number
}
