import type { AcquirePath } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { Confirm } from '../servers/durability.ts'
import { type AcquireRequest, type LeaseRequest, Waiter } from '../waiting/waiter.ts'
import { renewalOf } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'
import { startOthers } from './reenter.ts'
import { releaseOne } from './release.ts'

/** A waiter for a lock of this client. Its kind decides when the waiter sends requests. */
export abstract class LocalWaiter<
  Result,
  Request extends AcquireRequest = LeaseRequest,
> extends Waiter<Result> {
  declare readonly request: Request
  readonly lock: LocalLock
  /** The stack trace of the user's call; undefined if no warning needs the stack trace. */
  declare calledFrom?: Error

  constructor(lock: LocalLock, request: Request) {
    super(request, lock.newSharedBudget(request), lock)
    this.lock = lock
    const { heldWatch } = lock.services
    if (heldWatch !== undefined) this.calledFrom = request.calledFrom ?? heldWatch.trace()
  }

  accept(hold: Hold, path?: AcquirePath): void {
    const { lock, request } = this
    const { holds, waiters } = lock
    holds.startHold(hold)
    lock.handOverBudget.acquired()
    if (this.settled) {
      lock.tasks.run(releaseOne(lock, hold, 0))
      return
    }
    holds.watch(hold, request)
    lock.kept?.acquired(hold, request)
    // The waiter settles before the client emits events. So the caller receives the lease even if a listener aborts the
    // call.
    this.resolve(hold, path)
    holds.report(hold, this.waitedMs, this.observation)
    // A listener may have released the hold.
    if (!hold.live) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queuedWaiters?.wake(request.owner)
    startOthers(lock, hold, this)
  }

  /** Rejects after an unexpected error, and emits it. Otherwise the caller and `close()` would wait forever. */
  protected stepFailed(error: unknown): void {
    this.reject(error)
    this.lock.taskFailed(error as Error)
    this.lock.tasks.finished()
  }

  /** Waits until replicas have confirmed a grant; undefined if grants need no confirmation. */
  get confirm(): Confirm | undefined {
    return renewalOf(this.request, this.lock.services.server).confirm
  }
}
