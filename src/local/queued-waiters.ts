import type { AcquirePath } from '../diagnostics.ts'
import type { Owner } from '../owner/owner.ts'

/**
 * The waiters of this client in the server's queue for one lock. Each waiter has its own place in
 * the queue.
 */
export interface QueuedWaiters {
  readonly isEmpty: boolean
  /** Called when the answer to a release named this owner as the new holder. */
  onGrant(owner: string, token: number, path?: AcquirePath): void
  /** Called when the lock may be free. */
  checkAgain(): void
  /** Called when this owner has acquired the lock, so its other waiters may re-enter. */
  wake(owner: Owner): void
  /** Called when no owner of this client waits for the lock or holds it. */
  stopHeartbeat(): void
}
