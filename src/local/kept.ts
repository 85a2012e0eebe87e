import type { Hold } from '../lease/hold.ts'
import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'

/**
 * Says if the waiters of a client pause after a release, so that other clients can ask first. `never`: no pause.
 * `always`: a pause. `forOthers`: a pause if another client listens. `briefly`: a pause of some milliseconds.
 */
export type StaysAway = 'never' | 'always' | 'forOthers' | 'briefly'

/** One lock that its client may keep between two holds. `KeptLock` implements this interface. */
export interface Kept {
  /** The owner id of the kept hold; undefined if this client does not keep the lock now. */
  readonly owner: string | undefined
  /** For how long this client has kept the lock without use, in milliseconds; undefined if it does not keep it. */
  readonly keptMs: number | undefined
  /** Says if the waiters of this client pause after the release for which `keepAfter` returned false. */
  readonly staysAway: StaysAway
  /** Returns how many tokens the request reserves; undefined if the request has no `keepMs`. */
  reserveFor(request: AcquireRequest): number | undefined
  /** Called when a waiter of this client got the lock, with or without a request. */
  acquired(hold: Hold, request: AcquireRequest): void
  /**
   * Passes the kept hold to the waiter. Returns undefined if no hold is kept, or if the hold does not fit the request.
   * Also returns undefined if too much of the lease has passed, or if the connection is down.
   */
  passTo(waiter: Waiter): Hold | undefined
  /** Called after the last release of the hold. Returns true if the client keeps the lock. */
  keepAfter(hold: Hold): boolean
  /**
   * Called when another call wants the lock. Resolves with true if the lock was kept and is free now. Resolves with
   * false if an owner holds the lock. The client then frees the lock after the release.
   */
  wanted(): Promise<boolean>
  /**
   * Frees the lock if it is kept. Resolves when the server has answered, or when the client retries in the background.
   */
  free(): Promise<boolean>
  /** Called after `forceUnlock()` of this client ended the hold of this owner id. */
  forced(owner: string): void
  /** Frees the lock if it is kept, and never keeps it again. */
  stopKeeping(): void
}
