import { setTimeout as pause } from 'node:timers/promises'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { abandonName, ask, callMsFor, nameOf } from './ask.ts'
import { RESERVE } from './hand-over-budget.ts'
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
  const hold = lock.holds.of(request.owner, kind)
  if (hold !== undefined) lock.tasks.run(reenter(lock, hold, waiter))
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
    const { holds, waiters } = lock
    holds.begin(hold)
    lock.handOverBudget.acquired()
    if (this.settled) {
      lock.tasks.run(release(lock, hold, false))
      return
    }
    holds.watch(hold, request)
    // Before listeners hear of it: one of them may abort, and its caller has it already.
    this.resolve(hold)
    holds.tell(hold, this.waitedMs)
    // A listener may have released it.
    if (!hold.live) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queued?.wake(request.owner)
    for (const other of waiters.queuedWith(this)) {
      if (other.contending) other.wakeEvent.set()
      else if (lock.holds.of(request.owner, other.request.kind) === hold)
        lock.tasks.run(reenter(lock, hold, other))
    }
  }
}

/** Waits among those of its client, of whatever kind they are, and asks for the lock when its turn among them has come. */
export class RacingWaiter extends LocalWaiter {
  start(): void {
    const { lock } = this
    if (this.asksOnce) {
      lock.tasks.run(this.contend(), this)
      return
    }
    if (lock.waiters.first !== undefined || lock.keepsOut(this.request)) lock.announce(this)
    // Whoever hears of it may abort.
    if (this.settled) return
    lock.waiters.queue(this)
    lock.advance()
  }

  async contend(): Promise<void> {
    this.contending = true
    const { lock, request, wakeEvent } = this
    const { holds, handOverBudget, releases } = lock
    let splits = 0
    while (!this.settled) {
      wakeEvent.reset()
      const own = holds.of(request.owner, request.kind)
      if (own !== undefined) return reenter(lock, own, this)
      if (lock.keepsOut(request) && !this.asksOnce) {
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
        if (this.settled || lock.keepsOut(request)) continue
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
      const remote = lock.remoteOf(request)
      const { together = remote } = request
      const { grant, sentAt, pauseMs } = await ask(lock, this, callMs, () =>
        together.acquire(attempt),
      )
      if (grant?.kind === 'granted') {
        const hold = holds.granted(this, grant, sentAt)
        if (hold !== null) return this.granted(hold)
      } else if (grant !== null && this.asksOnce) {
        if (grant.split?.pauseMs !== undefined && splits < MOST_SPLITS) {
          splits += 1
          await pause(grant.split.pauseMs)
        } else if (holds.of(request.owner, request.kind) === undefined) this.resolve(null)
      } else if (!this.settled) {
        if (grant !== null) lock.announce(this)
        if (grant?.split?.pauseMs !== undefined) {
          // A client that has a majority may pass the lock around while nobody seems to wait.
          releases.listen(remote, grant.ttlMs)
          await pause(grant.split.pauseMs)
          continue
        }
        await wakeEvent.wait(grant === null ? pauseMs : releases.listen(remote, grant.ttlMs))
      }
    }
    // While the lock is on its way to it, it has use for its name.
    if (!this.asking) abandonName(lock, this)
  }
}

export const plainKind: LockKind = {
  isShared: false,
  waitsInTurn: false,
  newWaiter: (lock, request) => new RacingWaiter(lock, request),
}
