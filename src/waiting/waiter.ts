import type { AcquireFact, AcquirePath } from '../diagnostics.ts'
import type { Moment, Timer } from '../kit/clock.ts'
import { Linked } from '../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { WakeEvent } from '../kit/wake-event.ts'
import type { Hold } from '../lease/hold.ts'
import type { HoldKind } from '../lease/hold-kind.ts'
import type { Lease } from '../lease/lease.ts'
import type { Holder } from '../owner/holder.ts'
import type { Owner } from '../owner/owner.ts'
import type { Seen } from '../servers/answers.ts'
import type { RemoteLock } from '../servers/lock-server.ts'
import { AbortWatch } from './abort-watch.ts'
import { tellFailure, tellResult } from './acquire-trace.ts'
import type { RetryBudget } from './retry-budget.ts'

/** One call to acquire a lock, with the caller's options. */
export interface AcquireRequest {
  readonly owner: Owner
  /** The lease in milliseconds: fixed, or renewed by the watchdog. */
  readonly leaseMs: number
  readonly watched: boolean
  /** How long the watchdog renews the hold at most, in milliseconds; Infinity for no limit. */
  readonly maxHoldMs: number
  readonly kind: HoldKind
  /** The longest wait in milliseconds; 0 for no wait, Infinity for no limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** True if an earlier attempt found another holder. */
  readonly known: boolean
  /** True if the waiter asks only once, although it has time. */
  readonly asksOnce: boolean
  /** Set if the lock is requested together with other locks. */
  readonly together: Asker | undefined
  /** `unlock()` finds the lease under this holder. */
  readonly holder: Holder
  /** True if other code than `unlock()` releases the lease. */
  readonly scoped: boolean
  /** When the call began, on the monotonic clock; Infinity if its owner makes other calls too. */
  readonly askedAt: number
  /** The stack trace of the call, if warnings need it and the waiter cannot take it. */
  readonly calledFrom?: Error | undefined
  readonly askedBy?: {
    /** Called when the waiter waits, and this owner holds the lock. */
    waitsFor(holder: string): void
    /** Called when the waiter ends without the lock, with a reason if it failed. */
    gotNothing(waiter: Waiter, reason?: unknown): void
  }
  /** Set if the diagnostics channel has a listener. */
  fact?: AcquireFact
}

/**
 * The last observation of a lock that another owner holds. Moments are on the monotonic clock,
 * unless both clocks are given.
 */
export interface Sight {
  /** `<clientId>:<owner>` */
  readonly holder: string
  /** When this holder was seen. */
  readonly at: Moment
  /** When the hold began, if known. */
  readonly heldSince: number | null
  /** When the lease ends without a renewal; null if it has no expiry or if that is unknown. */
  readonly endsAt: number | null
  /** Only of a fair lock: the number of its waiters. */
  readonly queueLength: number | null
}

/** Acquires one lock, or several together. */
export type Asker = Pick<RemoteLock, 'acquire'>

/**
 * A request until it settles, once: by a grant, its wait timeout, an abort or a failure. If a grant
 * arrives after that, the code that finds the waiter settled releases the lock.
 */
export abstract class Waiter extends Linked<Waiter> {
  readonly request: AcquireRequest
  readonly promise: Promise<Lease | null>
  readonly retryBudget: RetryBudget
  /** Set when the lock is worth another request. */
  readonly wakeEvent: WakeEvent
  /** True if its turn has come and it asks by itself. */
  contending = false
  /** True while it sleeps until a hold of this client ends, or until it is first. */
  waitsHere = false
  /** True if it was reported that it waits for another owner. */
  announced = false
  /** The owner id of its requests; undefined before the first request. */
  wireOwner: string | undefined
  /** True if this owner id may be in the queue in Redis. */
  queued = false
  /** True while one of its requests is under way. */
  asking = false
  /** Set if it waits for something other than a release: makes its wait timeout error. */
  notYet: ((what: string) => Error) | undefined
  /** Until when a request without an answer could still be granted, on the monotonic clock. */
  doubtUntilMs = 0
  /** The last observation of the holder. */
  sight: Sight | undefined
  /** Only of a fair lock: the place when it joined the queue; 1 when it is next. */
  queuePosition: number | undefined
  /** True if another lock of a multi-lock was not available. */
  isForAnother = false
  #settled = false
  #resolve!: (lease: Lease | null) => void
  #reject!: (reason: unknown) => void
  readonly #startedAt: number
  #deadline: Timer | undefined
  readonly #abort: AbortWatch | undefined
  readonly #settledIn: { settled(waiter: Waiter): void }

  /** @param settledIn called when the waiter settles, in any way */
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
      this.#resolve = resolve
      this.#reject = reject
    })
    const { waitMs, signal, holder } = request
    holder.began()
    this.#abort = signal && new AbortWatch(signal, this)
    if (waitMs > 0 && waitMs !== Infinity) this.#armDeadline()
  }

  /** Starts to wait, or to ask. */
  abstract start(): void

  /** Asks and waits until the waiter holds the lock or is settled. */
  abstract contend(): void

  /** Called when the waiter holds the lock. @param path as in `resolve` */
  abstract granted(hold: Hold, path?: AcquirePath): void

  /** The caller gets the handle of this lease. */
  abstract newLease(hold: Hold): { readonly handle: Lease }

  /** True if the lock is worth another request after this message. */
  isMeant(_message?: string): boolean {
    return true
  }

  get settled(): boolean {
    return this.#settled
  }

  /** True if it does not wait for other holders. */
  get asksOnce(): boolean {
    return this.request.waitMs === 0 || this.request.asksOnce
  }

  get waitedMs(): number {
    return this.retryBudget.clock.monotonic() - this.#startedAt
  }

  /** The rest of `waitMs` in milliseconds; Infinity if the call does not wait or waits forever. */
  get leftMs(): number {
    const { waitMs } = this.request
    return waitMs === 0 ? Infinity : Math.max(1, waitMs - this.waitedMs)
  }

  /** @param path how the lock was acquired, if `announced` does not show that */
  resolve(hold: Hold | null, path?: AcquirePath): void {
    if (!this.#settle(hold !== null)) return
    if (hold === null) this.request.askedBy?.gotNothing(this)
    this.#resolve(hold && this.newLease(hold).handle)
    const { fact } = this.request
    if (fact !== undefined) tellResult(fact, this, hold, path)
  }

  reject(reason: unknown): void {
    if (!this.#settle(false)) return
    this.request.askedBy?.gotNothing(this, reason)
    this.#reject(reason)
    const { fact } = this.request
    if (fact !== undefined) tellFailure(fact, this, reason)
  }

  /** Records the holder that the waiter waits for, if known. */
  saw(seen: Seen): void {
    this.queuePosition = seen.position ?? this.queuePosition
    this.isForAnother = seen.isOther === true
    const { holder, ageMs = null, ttlMs = -1, length } = seen
    if (!holder) return
    const at = this.retryBudget.clock.now()
    // An answer without an age keeps the earlier facts about the same holder.
    const before = this.sight?.holder === holder ? this.sight : undefined
    this.sight = {
      holder,
      at,
      heldSince: ageMs === null ? (before?.heldSince ?? null) : at.monotonic - ageMs,
      endsAt: ttlMs < 0 ? (before?.endsAt ?? null) : at.monotonic + ttlMs,
      queueLength: length ?? before?.queueLength ?? null,
    }
    const { fact, askedBy } = this.request
    if (fact !== undefined) fact.holder = holder
    if (!this.asksOnce) askedBy?.waitsFor(holder)
  }

  #settle(gotLease: boolean): boolean {
    if (this.#settled) return false
    this.#settled = true
    this.request.holder.ended(gotLease)
    this.retryBudget.clock.clear(this.#deadline)
    this.#abort?.stop()
    this.#settledIn.settled(this)
    this.wakeEvent.set()
    return true
  }

  /** After a blocked event loop, a request may time out before its waiter, which goes first. */
  endIfTimeIsUp(): void {
    if (this.leftMs <= 1) this.#timeIsUp()
  }

  #armDeadline(): void {
    const ms = this.request.waitMs - this.waitedMs
    const { clock } = this.retryBudget
    this.#deadline = clock.after(Math.min(ms, LONGEST_TIMER_MS), () => {
      if (this.request.waitMs - this.waitedMs > 1) this.#armDeadline()
      // After a blocked event loop, the grant may have arrived without being read yet.
      else clock.nextTurn(() => this.#timeIsUp())
    })
  }

  // Null says that the lock was not available in time. If Redis is silent for longer than usual,
  // that is unknown.
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
