import { type LeaseLostError, type LossReason, releasedError } from '../errors.ts'
import { type Clock, elapsedMs, type Moment } from '../kit/clock.ts'
import type { Dated } from '../kit/deadlines.ts'
import { Linked } from '../kit/linked-list.ts'
import { remainingUntil } from '../kit/remaining-until.ts'
import { type HoldObservation, UNOBSERVED } from '../lock-observer.ts'
import type { Owner } from '../owner/owner.ts'
import type { HoldKind } from './hold-kind.ts'
import { LeaseSignal } from './lease-signal.ts'
import { GONE, howItRanOut, lossOf } from './loss.ts'
import type { Backing, HoldId, Proof, StandIn } from './stand-in.ts'
import { validityMs } from './validity.ts'

interface HoldHost {
  lost(hold: Hold, error: LeaseLostError): void
}

/** One owner's hold of one lock in this client, from the first acquisition to the last release or the loss. */
export class Hold extends Linked<Hold> implements Dated {
  /** @internal */
  dueAt = 0
  /** @internal */
  heapIndex = -1
  readonly lockName: string
  readonly owner: Owner
  readonly id: HoldId
  /** The fencing token. On an upgradable lock, each write of the owner raises this token. */
  token: number
  /** The last token that the server reserved for hand-overs of this grant. If it is not above `token`, none remains. */
  readonly lastToken: number
  /** The hold that got the lock from this hold without a request; undefined if there is none. */
  heir: Hold | undefined
  /** If not 0, the server must confirm this hold by a request that was sent after this time on the monotonic clock. */
  calledAt = 0
  /** False after a request to re-enter or to extend the hold. A hand-over of this hold then needs a request. */
  untouched = true
  readonly kind: HoldKind
  /** The longest lease that was requested for this hold, in milliseconds. */
  leaseMs: number
  /** The hold count: how many acquisitions are not released yet. */
  count = 1
  /** True if the client has emitted `acquired` for this hold. Otherwise the release does not emit `released`. */
  reported = false
  /** The longest lease that a renewal requests, in milliseconds; 0 if the lease is fixed. */
  renewMs = 0
  /** The leases of the acquisitions that the watchdog renews, in milliseconds. The longest is `renewMs`. */
  watched: readonly number[] = []
  /** When the granted request was sent, or when the waiter got the lock without a request, on the monotonic clock. */
  beganAt: number
  /** No renewed lease lasts beyond this time on the monotonic clock; Infinity for no limit. */
  limitAt = Infinity
  /** The `maxHoldMs` of the hold, in milliseconds; Infinity for no limit. */
  limitMs = Infinity
  /** The `maxDrainMs` of a leader whose term is ending, in milliseconds; undefined for other holds. */
  drainMs: number | undefined
  /** When the hold was lost, on the monotonic clock; undefined if it was not lost. */
  lostAt: number | undefined
  /** The list in which `unlock()` finds the leases of this hold. After a loss, a timer later removes lost leases. */
  keptIn: { sweepLater(): void } | undefined
  /** The observation of this hold and its end. `UNOBSERVED` until the client has reported the hold. */
  observation: HoldObservation = UNOBSERVED
  /** Until when a late request with this owner id may run on the server, on the monotonic clock; 0 if none may run. */
  doubtUntilMs = 0
  readonly #clock: Clock
  readonly #host: HoldHost
  #sentAt: Moment
  #validForMs: number
  #state: 'live' | 'ended' | 'lost' = 'live'
  #loss: Error | (() => Error) | undefined
  #signal: LeaseSignal | undefined
  #backing: (Backing & { readonly leaseMs: number; readonly limitAt: number }) | undefined

  constructor(
    fields: Pick<Hold, 'lockName' | 'owner' | 'id' | 'token' | 'kind' | 'leaseMs'> &
      Pick<Proof, 'sentAt'> &
      Partial<Pick<Proof, 'validForMs'> & Pick<Hold, 'lastToken'>>,
    clock: Clock,
    host: HoldHost,
  ) {
    super()
    this.lockName = fields.lockName
    this.owner = fields.owner
    this.leaseMs = fields.leaseMs
    this.id = fields.id
    this.token = fields.token
    this.lastToken = fields.lastToken ?? fields.token
    this.kind = fields.kind
    this.#clock = clock
    this.#host = host
    this.#sentAt = fields.sentAt
    this.#validForMs = fields.validForMs ?? validityMs(fields.leaseMs)
    this.beganAt = fields.sentAt.monotonic
  }

  inDoubtUntil(ms: number): void {
    this.doubtUntilMs = Math.max(this.doubtUntilMs, ms)
  }

  /** True if the hold is neither released nor known to be lost. This property does not check the clocks. */
  get live(): boolean {
    return this.#state === 'live'
  }

  /** The reason if the hold was lost or ended early. Undefined for a live hold, and after an ordinary release. */
  get loss(): Error | undefined {
    if (typeof this.#loss === 'function') this.#loss = this.#loss()
    return this.#loss
  }

  /** The remaining validity in milliseconds, by the clock that has advanced more; 0 after the end. */
  remainingMs(now = this.#clock.now()): number {
    if (this.#state !== 'live') return 0
    this.#catchUp()
    return Math.max(0, this.#validForMs - elapsedMs(this.#sentAt, now))
  }

  /**
   * The remaining validity in ms, by the monotonic clock alone. The result is negative if the validity is over. If
   * `remainingMs()` is much less, the clocks disagree, and the server must confirm the lease.
   */
  remainingMonotonicMs(now = this.#clock.monotonic()): number {
    this.#catchUp()
    return this.#validForMs - (now - this.#sentAt.monotonic)
  }

  /** The proof that counts now. It may come from the stand-in. */
  get proof(): Proof {
    this.#catchUp()
    return { sentAt: this.#sentAt, validForMs: this.#validForMs }
  }

  /** The hold that has the lock now: this hold, or the last hold after hand-overs without a request. */
  get current(): Hold {
    return this.heir?.current ?? this
  }

  /** Records a confirmed lease of `leftMs` ms from `sentAt`. If the previous lease is over, the hold is lost. */
  proved(leftMs: number, sentAt: Moment, now = this.#clock.now()): void {
    const leaseMs = this.upToLimit(leftMs, sentAt)
    this.loseIfOver(now.monotonic)
    if (leaseMs > this.leaseMs) this.leaseMs = leaseMs
    const validForMs = validityMs(leaseMs)
    if (validForMs - elapsedMs(sentAt, now) <= this.remainingMs(now)) return
    this.#sentAt = sentAt
    this.#validForMs = validForMs
    const backing = this.#backing
    if (backing && leaseMs >= this.upToLimit(backing.leaseMs, sentAt)) backing.proved(sentAt)
  }

  /** Limits the hold to `maxHoldMs` milliseconds after `from`, a time on the monotonic clock. */
  limit(maxHoldMs: number, from: number): void {
    this.limitMs = maxHoldMs
    this.limitAt = from + maxHoldMs
  }

  /** Returns the lease to request at the moment `at`: `leaseMs`, or less if the limit of the hold is near. */
  upToLimit(leaseMs: number, at: Moment): number {
    return remainingUntil(this.limitAt, at.monotonic, leaseMs)
  }

  /** From now on, the stand-in renews the lease too, and the proofs of the stand-in count. */
  backBy(standIn: StandIn): void {
    const { renewMs: leaseMs, limitAt } = this
    if (this.#backing?.leaseMs === leaseMs && this.#backing.limitAt === limitAt) return
    this.standAlone()
    const sentAt = this.#sentAt
    this.#backing = { ...standIn.add(this.id, sentAt, leaseMs, limitAt), leaseMs, limitAt }
  }

  standAlone(): void {
    this.#catchUp()
    this.#backing?.forget()
    this.#backing = undefined
  }

  #catchUp(): void {
    const backing = this.#backing
    const sentAt = backing?.provedAt()
    if (!backing || !sentAt || sentAt.monotonic <= this.#sentAt.monotonic) return
    const validForMs = validityMs(this.upToLimit(backing.leaseMs, sentAt))
    const now = this.#clock.now()
    const leftMs = validForMs - elapsedMs(sentAt, now)
    // If the older lease was longer, its validity may end later. Then the older proof stays.
    if (leftMs <= this.#validForMs - elapsedMs(this.#sentAt, now)) return
    this.#sentAt = sentAt
    this.#validForMs = validForMs
  }

  /** The signal that the leases of this hold share. Each read of its state checks the clocks. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = new LeaseSignal(() => this.loseIfExpired())
      if (this.loss !== undefined) this.#signal.abort(this.loss)
    }
    return this.#signal.signal
  }

  /**
   * Marks the hold as lost if its lease has expired by the monotonic clock. If the lease has expired only by the wall
   * clock, the next answer of the server decides.
   */
  loseIfOver(now = this.#clock.monotonic()): void {
    if (this.live && this.remainingMonotonicMs(now) <= 0) this.#loseByTime()
  }

  loseIfExpired(): void {
    if (this.live && this.remainingMs() === 0) this.#loseByTime()
  }

  /** Marks the hold as lost, even after its release, because the server may have lost the hold before the release. */
  lose(reason: LossReason, how: string): void {
    if (this.#state === 'lost') return
    const error = lossOf(this, reason, how)
    this.#state = 'lost'
    this.#loss = error
    this.lostAt = this.#clock.monotonic()
    this.#host.lost(this, error)
    this.keptIn?.sweepLater()
    this.#signal?.abort(error)
  }

  /** Returns the error for a use of the hold after its end. */
  whyEnded(): Error {
    return this.loss ?? releasedError(this.lockName, this.kind.words)
  }

  /** Marks the hold as lost, because the server answered that this owner does not hold the lock. */
  loseGone(): void {
    this.lose('gone', GONE)
  }

  /** Ends the hold at its last release. If `reason` is given, the signal aborts with this reason. */
  finish(reason?: Error): void {
    if (!this.live) return
    this.#state = 'ended'
    this.#loss = reason
    if (reason !== undefined) this.#signal?.abort(reason)
  }

  /** Called after an `unlock()`, perhaps of another task. Aborts the signal if this `unlock()` has ended the hold. */
  endedBy(reason: () => Error): void {
    if (this.#state !== 'ended' || this.#loss !== undefined) return
    this.#loss = reason
    this.#signal?.abort(this.whyEnded())
  }

  #loseByTime(): void {
    this.lose('expired', howItRanOut(this, this.proof, elapsedMs(this.#sentAt, this.#clock.now())))
  }
}
