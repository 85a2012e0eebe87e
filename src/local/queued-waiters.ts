import type { Moment } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import type { Owner } from '../owner/owner.ts'
import type { NextHolder } from '../servers/answers.ts'
import type { Waiter } from '../waiting/waiter.ts'

/**
 * The waiters of this client in the server's queue for one lock. Each waiter has its own place in
 * the queue.
 */
export interface QueuedWaiters {
  readonly isEmpty: boolean
  /**
   * Called when this client released the lock, and the server named an owner of this client as the
   * new holder.
   *
   * @param releasedAt when the release was sent; undefined if unknown
   */
  onOwnRelease(following: NextHolder, releasedAt?: Moment): void
  /**
   * Called when a hold ends. Hands the lock over to the next waiter without a request, if the server
   * has chosen this waiter.
   *
   * @returns the waiter and its hold; null if the client must send a release
   */
  passOn(hold: Hold): { readonly waiter: Waiter; readonly following: Hold } | null
  /** Called when the lock may be free. */
  checkAgain(): void
  /** Called when this owner has acquired the lock. Its other waiters may then re-enter. */
  wake(owner: Owner): void
  /** Called when no owner of this client waits for the lock or holds it. */
  stopHeartbeat(): void
}
