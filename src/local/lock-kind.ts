import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { RemoteKind } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/** What sets one kind of lock apart: handed in, so that nothing here depends on any of them. */
export interface LockKind extends RemoteKind {
  /** Whether those who wait are served in turn: who is to have it soon has to stay among them. */
  readonly waitsInTurn: boolean
  /** Why it cannot be a vote among several, in words that follow its name; left out where it can. */
  readonly whyNoVote?: string
  /** Somebody who wants it: one who races for it, or queues. */
  newWaiter(lock: LocalLock, request: AcquireRequest): Waiter
}
