import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { RemoteKind } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * The properties and functions that differ between kinds of locks. The kinds are passed in, so this
 * folder imports none of them.
 */
export interface LockKind extends RemoteKind {
  /**
   * True if the server serves waiters in FIFO order. A waiter must then stay in the queue to keep
   * its place.
   */
  readonly waitsInTurn: boolean
  /** Why locks of this kind cannot vote in a RedLock. The error puts these words after the name. */
  readonly whyNoVote?: string
  /** Creates a waiter, which races for the lock or queues. */
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}
