import type { AcquirePath } from '../diagnostics.ts'
import type { Owner } from '../owner/owner.ts'

/** Those of this client who wait for the lock in turn, each at a place of its own in the queue there. */
export interface QueuedWaiters {
  readonly isEmpty: boolean
  /** A release says that this owner has the lock. */
  granted(owner: string, token: number, path?: AcquirePath): void
  /** The lock may be free. */
  lookAgain(): void
  /** Somebody's acquisition may make those of the same owner re-entries. */
  wake(owner: Owner): void
  /** Nobody of this client waits for the lock or has it. */
  close(): void
}
