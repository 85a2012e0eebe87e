import type { AcquirePath } from '../diagnostics.ts'
import type { Owner } from '../owner/owner.ts'

/**
 * The waiters of this client that wait for one lock in turn. Each has its own place in the server's
 * queue.
 */
export interface QueuedWaiters {
  readonly isEmpty: boolean
  /** A release reported that this owner holds the lock. */
  granted(owner: string, token: number, path?: AcquirePath): void
  /** The lock may be free. */
  lookAgain(): void
  /** The owner acquired the lock, so its other waiters may re-enter. */
  wake(owner: Owner): void
  /** Called when no owner of this client waits for the lock or holds it. */
  close(): void
}
