import type { AcquirePath } from '../diagnostics.ts'
import type { Timer } from '../kit/clock.ts'
import { Linked } from '../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { WakeEvent } from '../kit/wake-event.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import { type AcquisitionObservation, UNOBSERVED } from '../lock-observer.ts'
import type { LeaseHolder } from '../owner/lease-holder.ts'
import type { Owner } from '../owner/owner.ts'
import type { LastHolder } from '../servers/answers.ts'
import type { Hint } from '../servers/hint.ts'
import type { RemoteLock } from '../servers/lock-server.ts'
import { AbortWatch } from './abort-watch.ts'
import type { RetryBudget } from './retry-budget.ts'
import { type Sight, sightOf } from './sight.ts'

/** One attempt to acquire a lock or permits, with the options of the caller. */
export interface AcquireRequest {
  readonly owner: Owner
  /** The requested lease in milliseconds, which the watchdog may renew. Infinity for permits without a lease. */
  readonly leaseMs: number
  /** How the client uses the lease; undefined for permits without a lease. */
  readonly lease: LeaseUse | undefined
  readonly kind: HoldKind
  /** The longest wait in milliseconds; 0 for no wait, Infinity for no limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** True if an earlier attempt of the same call has found that another owner holds the lock. */
  readonly known?: boolean
  /**
   * True if the waiter gives up after the first refusal, even if `waitMs` is not 0. After split votes it first asks a
   * few times more.
   */
  readonly isSingleAttempt?: boolean
  /** Sends one request for several locks; undefined if this lock has its own request. */
  readonly together?: AcquireSender | undefined
  /** The stack trace of the call; undefined if the waiter records the stack trace itself. */
  readonly calledFrom?: Error | undefined
  readonly caller?: {
    /** Called when the client knows the holder, and the waiter waits for this holder. */
    waitsFor(holder: string): void
    /** Called when the waiter settles without the lock. `reason` is set if its promise rejects. */
    gotNothing(waiter: Waiter, reason?: unknown): void
  }
}

/** An attempt to acquire a lock or permits with a lease. */
export interface LeaseRequest extends AcquireRequest {
  readonly lease: LeaseUse
}

/** How a client uses one lease. */
export interface LeaseUse {
  /** True if the watchdog renews the lease; false for a fixed lease. */
  readonly watched: boolean
  /** How long the watchdog renews the hold, in milliseconds; Infinity for no limit. */
  readonly maxHoldMs: number
  /** How long the client keeps the lock after the release, in milliseconds; 0 means not at all. */
  readonly keepMs: number
  /** Stores the lease, so that `unlock()` finds it. */
  readonly leaseHolder: LeaseHolder
  /** True if `unlock()` must not release the lease, because other code of Holdfast releases it. */
  readonly scoped: boolean
  /** When the call began, on the monotonic clock; Infinity if other calls may have the same owner. */
  readonly calledAt: number
}

/** Returns how long the client keeps the lock after this acquisition, in milliseconds; 0 for not at all. */
export function keepMsOf({ lease }: AcquireRequest): number {
  return lease === undefined ? 0 : lease.keepMs
}

/** Sends the request for one lock, or one request for several locks. */
export type AcquireSender = Pick<RemoteLock, 'acquire'>

/**
 * One acquisition in progress. It settles once, for example by a grant, its wait timeout, an abort or a failure. If a
 * grant arrives later, the client releases the lock.
 */
export abstract class Waiter<Result = unknown> extends Linked<Waiter> {
  readonly request: AcquireRequest
  /** Resolves with null if the waiter gives up. */
  readonly promise: Promise<Result | null>
  readonly retryBudget: RetryBudget
  /** Wakes the waiter when it should send another request, and when it has settled. */
  readonly wakeEvent: WakeEvent
  /** True after `contend` of a racing waiter was called. The waiter then sends its own requests. */
  contending = false
  /** True while the waiter sleeps until a hold of this client ends, or until it is the first in its line. */
  waitsHere = false
  /** True if the client has emitted `wait` for this waiter. */
  announced = false
  /** The owner id of the waiter's requests. Undefined without an id, usually before a request and after a grant. */
  ownerId: string | undefined
  /** True if the queue on the server may contain `ownerId`. */
  queued = false
  /** True while a request of this waiter is in flight. */
  asking = false
  /** Makes the timeout error. Set only while the waiter waits for replicas or for the watchdog thread. */
  notYet: ((what: string) => Error) | undefined
  /** The latest time at which a request with an unknown outcome may run, on the monotonic clock; 0 for none. */
  doubtUntilMs = 0
  /** The last known state of the lock with a holder. Undefined if no holder is known. */
  sight: Sight | undefined
  /** The last known position of the waiter in the queue of a fair lock, from 1; undefined if unknown. */
  queuePosition: number | undefined
  /** True if this lock is part of a multi-lock, and the last refusal concerned another of its locks. */
  isForAnother = false
  /** Receives each step of this call. */
  observation: AcquisitionObservation = UNOBSERVED
  #settled = false
  #resolve!: (result: unknown) => void
  #reject!: (reason: unknown) => void
  readonly #startedAt: number
  #deadline: Timer | undefined
  readonly #abort: AbortWatch | undefined
  readonly #settledIn: { settled(waiter: Waiter): void }

  /** @param settledIn notified once, when the waiter settles with or without the lock */
  constructor(
    request: AcquireRequest,
    retryBudget: RetryBudget,
    settledIn: { settled(waiter: Waiter): void },
  ) {
    super()
    this.request = request
    this.retryBudget = retryBudget
    this.wakeEvent = new WakeEvent(retryBudget.clock)
    this.#startedAt = retryBudget.clock.monotonic()
    this.#settledIn = settledIn
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve as (result: unknown) => void
      this.#reject = reject
    })
    const { waitMs, signal } = request
    request.lease?.leaseHolder.began()
    this.#abort = signal && new AbortWatch(signal, this)
    if (waitMs > 0 && waitMs !== Infinity) this.#armDeadline()
  }

  /** Begins to wait, or sends the first request. */
  abstract start(): void

  /** Sends requests and waits, until the waiter holds the lock or has settled. */
  abstract contend(): void

  /** Called when the waiter gets the lock. `path` says how the lock was acquired, as in `resolve`. */
  abstract accept(hold: Hold, path?: AcquirePath): void

  /** Returns what the caller receives for a granted hold, for example its lease. */
  abstract resultOf(hold: Hold): Result

  /** True if the waiter should send another request after this hint. */
  isMeant(_hint: Hint): boolean {
    return true
  }

  get settled(): boolean {
    return this.#settled
  }

  /** True if the waiter gives up when another owner holds the lock. */
  get isSingleAttempt(): boolean {
    return this.request.waitMs === 0 || this.request.isSingleAttempt === true
  }

  get waitedMs(): number {
    return this.retryBudget.clock.monotonic() - this.#startedAt
  }

  /** The rest of `waitMs` in milliseconds, at least 1; Infinity if `waitMs` is 0 or Infinity. */
  get leftMs(): number {
    const { waitMs } = this.request
    return waitMs === 0 ? Infinity : Math.max(1, waitMs - this.waitedMs)
  }

  /** @param path how the lock was acquired; by default `raced` after a wait, otherwise `free` */
  resolve(hold: Hold | null, path?: AcquirePath): void {
    if (!this.#finish(hold !== null)) return
    if (hold === null) this.request.caller?.gotNothing(this)
    this.#resolve(hold && this.resultOf(hold))
    this.observation.resolved(this, hold, path)
  }

  reject(reason: unknown): void {
    if (!this.#finish(false)) return
    this.request.caller?.gotNothing(this, reason)
    this.#reject(reason)
    this.observation.rejected(this, reason)
  }

  /** Records what an answer says about the holder and the queue. */
  saw(seen: LastHolder): void {
    this.queuePosition = seen.position ?? this.queuePosition
    this.isForAnother = seen.isOther === true
    const { holder } = seen
    if (!holder) return
    this.sight = sightOf(holder, seen, this.retryBudget.clock.now(), this.sight)
    this.observation.heldBy(holder)
    if (!this.isSingleAttempt) this.request.caller?.waitsFor(holder)
  }

  #finish(gotLease: boolean): boolean {
    if (this.#settled) return false
    this.#settled = true
    this.request.lease?.leaseHolder.callEnded(gotLease)
    this.retryBudget.clock.clear(this.#deadline)
    this.#abort?.stop()
    this.#settledIn.settled(this)
    this.wakeEvent.set()
    return true
  }

  /** Settles the waiter if its time is up. A later failure of its request then has no effect. */
  endIfTimeIsUp(): void {
    if (this.leftMs <= 1) this.#timeIsUp()
  }

  #armDeadline(): void {
    const ms = this.request.waitMs - this.waitedMs
    const { clock } = this.retryBudget
    this.#deadline = clock.after(Math.min(ms, LONGEST_TIMER_MS), () => {
      if (this.request.waitMs - this.waitedMs > 1) this.#armDeadline()
      // If the event loop was blocked, a grant may have arrived unread. The client reads this grant before the next
      // turn.
      else clock.nextTurn(() => this.#timeIsUp())
    })
  }

  // Resolves with null, because another owner held the lock for too long. Rejects in an outage, because the holder is
  // then unknown. Also rejects if the waiter waits for replicas or for the watchdog thread.
  #timeIsUp(): void {
    if (this.#settled) return
    const { notYet, retryBudget } = this
    if (notYet !== undefined || retryBudget.isOutage(this.announced || this.request.known)) {
      const what = `not acquired within ${Math.round(this.request.waitMs)} ms`
      this.reject(notYet?.(what) ?? retryBudget.error(what))
    } else {
      this.resolve(null)
    }
  }
}
