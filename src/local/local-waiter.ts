import type { AcquirePath } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import type { Confirm } from '../servers/durability.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { renewalOf } from './kind-verbs.ts'
import { newLease } from './local-lease.ts'
import type { LocalLock } from './local-lock.ts'
import { reenter } from './reenter.ts'
import { release } from './release.ts'

/** A waiter for a lock of this client. */
export abstract class LocalWaiter extends Waiter {
  readonly lock: LocalLock
  /** Where its call came from, if that is wanted. */
  declare calledFrom?: Error

  constructor(lock: LocalLock, request: AcquireRequest) {
    super(request, lock.newSharedBudget(request.kind), lock)
    this.lock = lock
    const { heldWatch } = lock.services
    if (heldWatch !== undefined) this.calledFrom = request.calledFrom ?? heldWatch.trace()
  }

  granted(hold: Hold, path?: AcquirePath): void {
    const { lock, request } = this
    const { holds, waiters } = lock
    holds.begin(hold)
    lock.handOverBudget.acquired()
    if (this.settled) {
      lock.tasks.run(release(lock, hold, 0))
      return
    }
    holds.watch(hold, request)
    // Before listeners hear of it: one of them may abort, and its caller has it already.
    this.resolve(hold, path)
    holds.tell(hold, this.waitedMs, request.fact)
    // A listener may have released it.
    if (!hold.live) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queued?.wake(request.owner)
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

  /** Confirms what it is granted; undefined where that counts without. */
  get confirm(): Confirm | undefined {
    return renewalOf(this.request, this.lock.services.server).confirm
  }

  newLease(hold: Hold): Lease {
    return newLease(this.lock, hold, this.request, this.calledFrom)
  }
}
