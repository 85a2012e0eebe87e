import type { AcquirePath } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import type { Confirm } from '../servers/durability.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { renewalOf } from './kind-verbs.ts'
import { newLease } from './local-lease.ts'
import type { LocalLock } from './local-lock.ts'
import { reenter } from './reenter.ts'
import { releaseOne } from './release.ts'

/** A waiter of a local lock. Subclasses decide when it sends requests. */
export abstract class LocalWaiter extends Waiter {
  readonly lock: LocalLock
  /** The stack trace of the user's call; undefined if no warning needs the stack trace. */
  declare calledFrom?: Error

  constructor(lock: LocalLock, request: AcquireRequest) {
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
    // The waiter settles before the client emits events. So the caller receives the lease even if a listener aborts the
    // call.
    this.resolve(hold, path)
    holds.report(hold, this.waitedMs, this.observation)
    // A listener may have released the hold.
    if (!hold.live) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queuedWaiters?.wake(request.owner)
    const { isShared, isCounted, waitsAside } = request.kind
    if (isShared && !isCounted && !waitsAside) {
      for (const other of waiters.sharedAtFront()) {
        if (other.contending) other.wakeEvent.set()
        else other.contend()
      }
    }
    for (const other of waiters.queuedWith(this)) {
      if (other.contending) other.wakeEvent.set()
      else if (lock.holds.of(request.owner, other.request.kind) === hold) reenter(lock, hold, other)
    }
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

  newLease(hold: Hold): { readonly handle: Lease } {
    return newLease(this.lock, hold, this.request, this.calledFrom)
  }
}
