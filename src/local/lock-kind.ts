import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'

/** How one kind of lock is waited for: handed in, so that nothing here depends on any of them. */
export interface LockKind {
  /** Whether it is served in turn among all who ask so. */
  readonly isFair: boolean
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}
