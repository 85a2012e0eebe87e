import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { RemoteKind } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * Everything that differs between kinds of locks. Kinds are passed in, so this folder imports none
 * of them.
 */
export interface LockKind extends RemoteKind {
  /**
   * True if its waiters are served in FIFO order, so that a waiter must stay queued to keep its
   * place.
   */
  readonly waitsInTurn: boolean
  /**
   * Why a lock of this kind cannot vote in a RedLock, in words that follow its name; undefined if
   * it can.
   */
  readonly whyNoVote?: string
  /** Creates a waiter, which races for the lock or queues. */
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}
