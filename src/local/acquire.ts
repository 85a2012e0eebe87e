import { setTimeout as pause } from 'node:timers/promises'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { abandonName, ask, callMsFor, nameOf } from './ask.ts'
import { RESERVE } from './hand-over-budget.ts'
import { newLease } from './local-lease.ts'
import type { LocalLock } from './local-lock.ts'
import type { LockKind } from './lock-kind.ts'
import { reenter } from './reenter.ts'
import { release } from './release.ts'

/** A waiter that does not wait asks again so often where the votes were split: maybe nobody has the lock. */
const MOST_SPLITS = 3

/** @returns the lease, or null when it was not to be had in the time given */
export function acquire(
  lock: LocalLock,
  kind: LockKind,
  request: AcquireRequest,
): Promise<Lease | null> {
  const waiter = kind.newWaiter(lock, request)
  lock.waiters.enter(waiter)
  const { hold } = lock.current
  if (hold?.owner === request.owner) lock.tasks.run(reenter(lock, hold, waiter))
  else waiter.start()
  return waiter.promise
}

/** A waiter for a lock of this client. */
export abstract class LocalWaiter extends Waiter {
  readonly lock: LocalLock

  constructor(lock: LocalLock, request: AcquireRequest) {
    super(request, lock.newSharedBudget(), lock)
    this.lock = lock
  }

  granted(hold: Hold): void {
    const { lock, request } = this
    const { current, waiters } = lock
    current.begin(hold)
    lock.handOverBudget.acquired()
    if (this.settled) {
      lock.tasks.run(release(lock, hold, false))
      return
    }
    current.watch(hold, request)
    // Before listeners hear of it: one of them may abort, and its caller has it already.
    this.resolve(hold)
    current.tell(hold, this.waitedMs)
    // A listener may have released it.
    if (current.hold !== hold) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queued?.wake(request.owner)
    for (const other of waiters.queuedWith(this)) {
      if (other.contending) other.wakeEvent.set()
      else lock.tasks.run(reenter(lock, hold, other))
    }
  }

  newLease(hold: Hold): Lease {
    return newLease(this.lock, hold, this.request)
  }
}

/** Waits among those of its client, and asks for the lock when its turn among them has come. */
class RacingWaiter extends LocalWaiter {
  start(): void {
    const { lock } = this
    if (this.asksOnce) {
      lock.tasks.run(this.contend(), this)
      return
    }
    if (lock.waiters.first !== undefined || lock.isOccupied) lock.announce(this)
    // Whoever hears of it may abort.
    if (this.settled) return
    lock.waiters.queue(this)
    lock.advance()
  }

  async contend(): Promise<void> {
    this.contending = true
    const { lock, request, wakeEvent } = this
    const { current, handOverBudget, releases } = lock
    let splits = 0
    while (!this.settled) {
      wakeEvent.reset()
      const { hold: own } = current
      if (own?.owner === request.owner) return reenter(lock, own, this)
      if (lock.isOccupied && !this.asksOnce) {
        await wakeEvent.wait()
        continue
      }
      const awayMs = this.asksOnce ? 0 : handOverBudget.awayMs
      if (awayMs > 0) {
        await wakeEvent.wait(awayMs)
        continue
      }
      if (!this.asksOnce && handOverBudget.isPolite) {
        await handOverBudget.stepBack()
        if (this.settled || lock.isOccupied) continue
      }
      if (this.retryBudget.isUsedUp) {
        this.reject(this.retryBudget.error('not acquired'))
        break
      }
      const callMs = callMsFor(this)
      const attempt = {
        owner: nameOf(this),
        leaseMs: request.leaseMs,
        reserve: lock.waiters.isShared ? RESERVE : 0,
        callMs,
      }
      const { together = lock.remote } = request
      const { grant, sentAt, pauseMs } = await ask(lock, this, callMs, () =>
        together.acquire(attempt),
      )
      if (grant?.kind === 'granted') {
        const hold = current.granted(this, grant, sentAt)
        if (hold !== null) return this.granted(hold)
      } else if (grant !== null && this.asksOnce) {
        if (grant.split?.pauseMs !== undefined && splits < MOST_SPLITS) {
          splits += 1
          await pause(grant.split.pauseMs)
        } else if (current.hold?.owner !== request.owner) this.resolve(null)
      } else if (!this.settled) {
        if (grant !== null) lock.announce(this)
        if (grant?.split?.pauseMs !== undefined) {
          // A client that has a majority may pass the lock around while nobody seems to wait.
          releases.listen(grant.ttlMs)
          await pause(grant.split.pauseMs)
          continue
        }
        await wakeEvent.wait(grant === null ? pauseMs : releases.listen(grant.ttlMs))
      }
    }
    // While the lock is on its way to it, it has use for its name.
    if (!this.asking) abandonName(lock, this)
  }
}

export const plainKind: LockKind = {
  isFair: false,
  newWaiter: (lock, request) => new RacingWaiter(lock, request),
}
