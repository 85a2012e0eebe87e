import { type LeaseLostError, type LossReason, releasedError } from '../errors.ts'
import { type Clock, elapsedMs, type Moment } from '../kit/clock.ts'
import type { Dated } from '../kit/deadlines.ts'
import { leftUntil } from '../kit/left-until.ts'
import { Linked } from '../kit/linked-list.ts'
import type { Owner } from '../owner/owner.ts'
import type { HoldKind } from './hold-kind.ts'
import type { HoldTrace } from './hold-trace.ts'
import { LeaseSignal } from './lease-signal.ts'
import { GONE, howItRanOut, lossOf } from './loss.ts'
import type { Backing, HoldId, Proof, StandIn } from './stand-in.ts'
import { validityMs } from './validity.ts'

/** Called when a hold is lost. */
interface HoldHost {
  lost(hold: Hold, error: LeaseLostError): void
}

/** One owner's hold of one lock: from the first acquisition to the last release or the loss. */
export class Hold extends Linked<Hold> implements Dated {
  /** @internal */
  dueAt = 0
  /** @internal */
  place = -1
  readonly lockName: string
  readonly owner: Owner
  readonly id: HoldId
  /** The fencing token. It rises with each write of an upgradable owner. */
  token: number
  /** The last token that the server reserved with this grant, for hand-overs. */
  readonly lastToken: number
  /** The hold that received the lock from this hold by a hand-over, with the same owner id. */
  heir: Hold | undefined
  /** After a hand-over: when the new holder's call began, on the monotonic clock. Otherwise 0. */
  askedAt = 0
  /** True until a re-entry or `extend()` sends a request with this owner id. */
  untouched = true
  readonly kind: HoldKind
  /** The longest lease that was requested for this hold, in milliseconds. */
  leaseMs: number
  /** The hold count: the number of acquisitions that are not released yet. */
  count = 1
  /** True if the event `acquired` was emitted. Otherwise the release emits no `released`. */
  told = false
  /** The lease to which the watchdog renews the hold, in milliseconds; 0 without renewals. */
  renewMs = 0
  /** The renewed leases of the acquisitions, in milliseconds. The watchdog uses the longest. */
  readonly watched: number[] = []
  /** The sending time of the request for the first acquisition, on the monotonic clock. */
  beganAt: number
  /** The watchdog does not renew the hold beyond this time on the monotonic clock. */
  limitAt = Infinity
  /** The `maxHoldMs` of the hold, counted from its first renewed acquisition or re-entry. */
  limitMs = Infinity
  /** Set if the holder was asked to end: how long the lease is still renewed, in milliseconds. */
  drainMs: number | undefined
  /** The time of the loss, on the monotonic clock. */
  lostAt: number | undefined
  /** The list in which `unlock()` finds the leases. Some time after a loss, it forgets them. */
  keptIn: { lookAfter(): void } | undefined
  /** Set if the diagnostics channel of holds has subscribers. */
  trace: HoldTrace | undefined
  /** A late request with this owner id may take effect until this monotonic time. */
  doubtUntilMs = 0
  readonly #clock: Clock
  readonly #host: HoldHost
  #proof: Proof
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
    const { sentAt, validForMs = validityMs(fields.leaseMs) } = fields
    this.#proof = { sentAt, validForMs }
    this.beganAt = sentAt.monotonic
  }

  inDoubtUntil(ms: number): void {
    this.doubtUntilMs = Math.max(this.doubtUntilMs, ms)
  }

  /** True if the hold is neither released nor known to be lost. It does not read the clocks. */
  get live(): boolean {
    return this.#state === 'live'
  }

  /** The error of a hold that ended before its last release; otherwise undefined. */
  get loss(): Error | undefined {
    if (typeof this.#loss === 'function') this.#loss = this.#loss()
    return this.#loss
  }

  /** The remaining validity in milliseconds, at least 0, by the clock that leaves less. */
  remainingMs(): number {
    if (this.#state !== 'live') return 0
    this.#catchUp()
    return Math.max(0, this.#leftOf(this.#proof))
  }

  #leftOf({ sentAt, validForMs }: Proof): number {
    return validForMs - elapsedMs(sentAt, this.#clock.now())
  }

  /**
   * The remaining validity by the monotonic clock, in milliseconds. If `remainingMs()` is smaller,
   * the clocks disagree, and the client must ask the server.
   */
  remainingMonotonicMs(): number {
    this.#catchUp()
    return this.#proof.validForMs - (this.#clock.now().monotonic - this.#proof.sentAt.monotonic)
  }

  /** The last proof of the lease. A hand-over without a request passes it to the next hold. */
  get proof(): Proof {
    this.#catchUp()
    return this.#proof
  }

  /** This hold, or after hand-overs the hold that now has the lock with this owner id. */
  get current(): Hold {
    return this.heir?.current ?? this
  }

  /** Called when the server confirmed this lease. The hold's limit still applies. */
  proved(leftMs: number, sentAt: Moment): void {
    const leaseMs = this.upToLimit(leftMs, sentAt)
    this.loseIfOver()
    this.leaseMs = Math.max(this.leaseMs, leaseMs)
    const proof = { sentAt, validForMs: validityMs(leaseMs) }
    if (this.#leftOf(proof) <= this.remainingMs()) return
    this.#proof = proof
    const backing = this.#backing
    if (backing && leaseMs >= this.upToLimit(backing.leaseMs, sentAt)) backing.proved(sentAt)
  }

  /** Limits the hold to `maxHoldMs` after `from`, which is a time on the monotonic clock. */
  limit(maxHoldMs: number, from: number): void {
    this.limitMs = maxHoldMs
    this.limitAt = from + maxHoldMs
  }

  /** Returns the lease to request at that time: `leaseMs`, or less near the hold's limit. */
  upToLimit(leaseMs: number, at: Moment): number {
    return leftUntil(this.limitAt, at.monotonic, leaseMs)
  }

  /** From now on, the stand-in renews the hold too, and its proofs count. */
  backBy(standIn: StandIn): void {
    const { renewMs: leaseMs, limitAt } = this
    if (this.#backing?.leaseMs === leaseMs && this.#backing.limitAt === limitAt) return
    this.standAlone()
    const { sentAt } = this.#proof
    this.#backing = { ...standIn.keep(this.id, sentAt, leaseMs, limitAt), leaseMs, limitAt }
  }

  standAlone(): void {
    this.#catchUp()
    this.#backing?.forget()
    this.#backing = undefined
  }

  #catchUp(): void {
    const backing = this.#backing
    const sentAt = backing?.provedAt()
    if (!backing || !sentAt || sentAt.monotonic <= this.#proof.sentAt.monotonic) return
    const later = { sentAt, validForMs: validityMs(this.upToLimit(backing.leaseMs, sentAt)) }
    // The older proof counts if it leaves more time. Its lease may have been longer.
    if (this.#leftOf(later) > this.#leftOf(this.#proof)) this.#proof = later
  }

  /** The signal that aborts at the loss. Each read of its state checks the clocks. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = new LeaseSignal(() => this.loseIfExpired())
      if (this.loss !== undefined) this.#signal.abort(this.loss)
    }
    return this.#signal.signal
  }

  /**
   * Called before requests and after replies. If the lease has expired by the monotonic clock, the
   * hold is lost. If it has expired only by the wall clock, the server's reply decides.
   */
  loseIfOver(): void {
    if (this.live && this.remainingMonotonicMs() <= 0) this.#loseByTime()
  }

  loseIfExpired(): void {
    if (this.live && this.remainingMs() === 0) this.#loseByTime()
  }

  /** Marks the hold as lost. Also called when the last release finds the lock already gone. */
  lose(reason: LossReason, how: string): void {
    if (this.#state === 'lost') return
    const error = lossOf(this, reason, how)
    this.#state = 'lost'
    this.#loss = error
    this.lostAt = this.#clock.monotonic()
    this.#host.lost(this, error)
    this.keptIn?.lookAfter()
    this.#signal?.abort(error)
  }

  /** Returns the error for code that uses the hold after its end. */
  over(): Error {
    return this.loss ?? releasedError(this.lockName, this.kind.words)
  }

  /** Called when the server answered that this owner no longer holds the lock. */
  loseGone(): void {
    this.lose('gone', GONE)
  }

  /** Ends the hold at its last release. A `reason` aborts the signal for code that still runs. */
  end(reason?: Error): void {
    if (!this.live) return
    this.#state = 'ended'
    this.#loss = reason
    if (reason !== undefined) this.#signal?.abort(reason)
  }

  /** An `unlock()`, perhaps of another task, ended the hold. Makes the error if it is read. */
  endedBy(reason: () => Error): void {
    if (this.#state !== 'ended' || this.#loss !== undefined) return
    this.#loss = reason
    this.#signal?.abort(this.over())
  }

  #loseByTime(): void {
    const agoMs = elapsedMs(this.#proof.sentAt, this.#clock.now())
    this.lose('expired', howItRanOut(this, this.#proof, agoMs))
  }
}
