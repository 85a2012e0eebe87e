import type { Lease } from '../lease/lease.ts'
import type { AcquireRequest, LeaseRequest, Waiter } from '../waiting/waiter.ts'
import type { RemoteKind } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * A kind of lock that creates waiters for leases, or for another `Result`. This folder imports no kind, because callers
 * pass the kind.
 */
export interface LockKind<Result = Lease, Request extends AcquireRequest = LeaseRequest>
  extends RemoteKind {
  /**
   * True if the server serves the waiters in FIFO order. Such a waiter loses its place if it leaves
   * the queue.
   */
  readonly waitsInTurn: boolean
  /**
   * Why a lock of this kind cannot vote in a RedLock. The error has these words after the lock's
   * name. Undefined if the kind can vote.
   */
  readonly whyNoVote?: string
  newWaiter(lock: LocalLock, request: Request): Waiter<Result>
}
