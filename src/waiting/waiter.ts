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

/** One call to acquire a lock, as its caller meant it. */
export interface AcquireRequest {
  readonly owner: Owner
  /** The lease in milliseconds: a fixed one, or the watchdog's. */
  readonly leaseMs: number
  readonly watched: boolean
  /** For how long the watchdog keeps it at most, in milliseconds; Infinity without an end. */
  readonly maxHoldMs: number
  readonly kind: HoldKind
  /** How long to wait in milliseconds: 0 is not at all, Infinity without an end. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** Whether somebody else was found to have it before. */
  readonly known: boolean
  /** Whether it asks once although it has time. */
  readonly asksOnce: boolean
  /** Set where it is asked for together with others. */
  readonly together: Asker | undefined
  /** Under whom the lease is kept for `unlock()`. */
  readonly holder: Holder
  /** Whether somebody else than `unlock()` releases the lease. */
  readonly scoped: boolean
  /** When its call began, on the monotonic clock, if it is an owner of its own; else Infinity. */
  readonly askedAt: number
  /** Where its call came from, if that is wanted and known to who makes the request alone. */
  readonly calledFrom?: Error | undefined
  readonly askedBy?: {
    /** It waits, and that owner has the lock. */
    waitsFor(holder: string): void
    /** It comes to nothing, and why if it fails. */
    gotNothing(waiter: Waiter, reason?: unknown): void
  }
  /** Set where somebody hears of it. */
  fact?: AcquireFact
}

/** What was last seen of a lock that somebody else holds. Moments are on the monotonic clock, unless both are given. */
export interface Sight {
  /** `<clientId>:<owner>` */
  readonly holder: string
  /** When it was seen to be held by that one. */
  readonly at: Moment
  /** Since when it is held, if that is known. */
  readonly heldSince: number | null
  /** When the lease ends, unless it is renewed; null if it has no expiry, or that is not known. */
  readonly endsAt: number | null
  /** Of a fair lock, how many queue for it. */
  readonly queueLength: number | null
}

/** Takes one lock, or several together. */
export type Asker = Pick<RemoteLock, 'acquire'>

/**
 * A request until it is settled: by a grant, by the end of its time, by an abort, by a failure, and
 * only once. A grant that comes afterwards is passed on by whoever finds the waiter settled.
 */
export abstract class Waiter extends Linked<Waiter> {
  readonly request: AcquireRequest
  readonly promise: Promise<Lease | null>
  readonly retryBudget: RetryBudget
  /** Rings when it is worth looking at the lock again. */
  readonly wakeEvent: WakeEvent
  /** Whether its turn has come and it looks after itself. */
  contending = false
  /** Whether it sleeps until this client has the lock no more, or until it is the first here. */
  waitsHere = false
  /** Whether it is known, and was told, that it has to wait for somebody else. */
  announced = false
  /** The name that it asks under, once it has asked. */
  wireOwner: string | undefined
  /** Whether it may stand in the queue in Redis under that name. */
  queued = false
  /** Whether a request on its behalf is under way. */
  asking = false
  /** What to tell where its time ends while it waits for something else than that somebody lets go of the lock. */
  notYet: ((what: string) => Error) | undefined
  /** Until when a request that was given up could still be granted, on the monotonic clock. */
  doubtUntilMs = 0
  /** Who was last seen to have it. */
  sight: Sight | undefined
  /** Of a fair lock: its place when it came to the queue, or 1 since it is the next. */
  queuePosition: number | undefined
  /** Whether it is another one of several locks that was not to be had. */
  isForAnother = false
  #settled = false
  #resolve!: (lease: Lease | null) => void
  #reject!: (reason: unknown) => void
  readonly #startedAt: number
  #deadline: Timer | undefined
  readonly #abort: AbortWatch | undefined
  readonly #settledIn: { settled(waiter: Waiter): void }

  /** @param settledIn told when it is settled, of whatever kind */
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

  /** Begins to wait, or to ask. */
  abstract start(): void

  /** Asks and waits until it has the lock or is settled. */
  abstract contend(): void

  /** It has the lock. @param path as with `resolve` */
  abstract granted(hold: Hold, path?: AcquirePath): void

  /** What its caller gets for a hold is the handle of this. */
  abstract newLease(hold: Hold): { readonly handle: Lease }

  /** Whether it is worth asking after that message, if it was told by one. */
  isMeant(_message?: string): boolean {
    return true
  }

  get settled(): boolean {
    return this.#settled
  }

  /** Whether it does not wait for those who have the lock. */
  get asksOnce(): boolean {
    return this.request.waitMs === 0 || this.request.asksOnce
  }

  get waitedMs(): number {
    return this.retryBudget.clock.monotonic() - this.#startedAt
  }

  /** What is left of its time, in milliseconds; Infinity when it has no end of its own. */
  get leftMs(): number {
    const { waitMs } = this.request
    return waitMs === 0 ? Infinity : Math.max(1, waitMs - this.waitedMs)
  }

  /** @param path how it was got, where that is not seen by whether it had to wait */
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

  /** Who has what it waits for, where that is known. */
  saw(seen: Seen): void {
    this.queuePosition = seen.position ?? this.queuePosition
    this.isForAnother = seen.isOther === true
    const { holder, ageMs = null, ttlMs = -1, length } = seen
    if (!holder) return
    const at = this.retryBudget.clock.now()
    // An answer without an age says no less of the same holder than the one before.
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

  /** After a blocked event loop the end of its call may be seen before its own, which comes first. */
  endIfTimeIsUp(): void {
    if (this.leftMs <= 1) this.#timeIsUp()
  }

  #armDeadline(): void {
    const ms = this.request.waitMs - this.waitedMs
    const { clock } = this.retryBudget
    this.#deadline = clock.after(Math.min(ms, LONGEST_TIMER_MS), () => {
      if (this.request.waitMs - this.waitedMs > 1) this.#armDeadline()
      // After a blocked event loop the grant may have arrived and not been read yet.
      else clock.nextTurn(() => this.#timeIsUp())
    })
  }

  // Null says that it was not to be had in the time given. Where Redis is silent for longer than usual
  // nobody can know that.
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
