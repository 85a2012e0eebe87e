import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { RemoteKind } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * Everything that differs between kinds of locks. Kinds are passed in, so this folder imports none
 * of them.
 */
export interface LockKind extends RemoteKind {
  /** True if waiters are served in FIFO order. A waiter then must stay queued to keep its place. */
  readonly waitsInTurn: boolean
  /** Why locks of this kind cannot vote in a RedLock, in words that follow the name. */
  readonly whyNoVote?: string
  /** Creates a waiter, which races for the lock or queues. */
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}
