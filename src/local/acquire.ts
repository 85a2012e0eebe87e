import { setTimeout as pause } from 'node:timers/promises'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import type { AcquireAnswer } from '../servers/answers.ts'
import { type AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { type Asked, Asking, abandonName, callMsFor, nameOf } from './ask.ts'
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
  const hold = lock.holds.of(request.owner, kind)
  if (hold !== undefined) reenter(lock, hold, waiter)
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
      else if (lock.holds.of(request.owner, other.request.kind) === hold) reenter(lock, hold, other)
    }
  }

  newLease(hold: Hold): Lease {
    return newLease(this.lock, hold, this.request)
  }
}

/** Waits among those of its client, of whatever kind, and asks for the lock when its turn has come. */
export class RacingWaiter extends LocalWaiter {
  #splits = 0

  start(): void {
    const { lock } = this
    if (this.asksOnce) {
      this.contend()
      return
    }
    if (lock.waiters.first !== undefined || lock.keepsOut(this.request)) lock.announce(this)
    // Whoever hears of it may abort.
    if (this.settled) return
    lock.waiters.queue(this)
    lock.advance()
  }

  /** Asks at once where nothing speaks against it: most locks are free, which takes no loop. */
  contend(): void {
    this.contending = true
    this.wakeEvent.reset()
    const { tasks } = this.lock
    if (!this.#mayAsk) {
      tasks.run(this.#contendOn(), this)
      return
    }
    tasks.begin()
    this.#send((asked) => {
      if (!this.#takes(asked)) tasks.run(this.#contendOn(asked), this)
      tasks.end()
    })
  }

  get #mayAsk(): boolean {
    const { lock, request } = this
    if (lock.holds.of(request.owner, request.kind) !== undefined) return false
    if (this.retryBudget.isUsedUp) return false
    if (this.asksOnce) return true
    const { awayMs, isPolite } = lock.handOverBudget
    return !lock.keepsOut(request) && awayMs === 0 && !isPolite
  }

  /** @param asked what came of its first request, if it has made one */
  async #contendOn(asked: Asked<AcquireAnswer> | null = null): Promise<void> {
    const { lock, request, wakeEvent } = this
    const { holds, handOverBudget } = lock
    if (asked !== null) await this.#pauseAfter(asked)
    while (!this.settled) {
      wakeEvent.reset()
      const own = holds.of(request.owner, request.kind)
      if (own !== undefined) {
        reenter(lock, own, this)
        return
      }
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
      const answer = await new Promise<Asked<AcquireAnswer>>((resolve) => this.#send(resolve))
      if (this.#takes(answer)) return
      await this.#pauseAfter(answer)
    }
    // While the lock is on its way to it, it has use for its name.
    if (!this.asking) abandonName(lock, this)
  }

  #send(then: (asked: Asked<AcquireAnswer>) => void): void {
    const { lock, request } = this
    const callMs = callMsFor(this)
    const attempt = {
      owner: nameOf(this),
      leaseMs: request.leaseMs,
      reserve: lock.waiters.isShared ? RESERVE : 0,
      callMs,
    }
    const { together = lock.remoteOf(request) } = request
    together.acquire(attempt, new Asking(lock, this, callMs, then))
  }

  /** @returns whether it has the lock now, or had it granted in time and has passed it on */
  #takes({ grant, sentAt }: Asked<AcquireAnswer>): boolean {
    if (grant?.kind !== 'granted') return false
    const hold = this.lock.holds.granted(this, grant, sentAt)
    if (hold !== null) this.granted(hold)
    return hold !== null
  }

  /** Resolves when it is worth asking again, or it is settled. */
  async #pauseAfter({ grant, pauseMs }: Asked<AcquireAnswer>): Promise<void> {
    if (this.settled || grant?.kind === 'granted') return
    const { lock, wakeEvent, request } = this
    const { releases } = lock
    const splitMs = grant?.split?.pauseMs
    if (grant === null) {
      await wakeEvent.wait(pauseMs)
    } else if (this.asksOnce) {
      if (splitMs !== undefined && this.#splits < MOST_SPLITS) {
        this.#splits += 1
        await pause(splitMs)
      } else if (lock.holds.of(request.owner, request.kind) === undefined) this.resolve(null)
    } else {
      lock.announce(this)
      const listenMs = releases.listen(lock.remoteOf(request), grant.ttlMs)
      // A client that has a majority may pass the lock around while nobody seems to wait.
      if (splitMs === undefined) await wakeEvent.wait(listenMs)
      else await pause(splitMs)
    }
  }
}

export const plainKind: LockKind = {
  isShared: false,
  waitsInTurn: false,
  newWaiter: (lock, request) => new RacingWaiter(lock, request),
}
