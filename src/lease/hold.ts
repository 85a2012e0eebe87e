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

/** Receives the loss of a hold. */
interface HoldHost {
  lost(hold: Hold, error: LeaseLostError): void
}

/** From the first acquisition of an owner to its last release or its loss. */
export class Hold extends Linked<Hold> implements Dated {
  /** @internal */
  dueAt = 0
  /** @internal */
  place = -1
  readonly lockName: string
  readonly owner: Owner
  readonly id: HoldId
  /** The fencing token. Each write of an upgradable owner raises it. */
  token: number
  /** The last token that the server reserved with this grant, for hand-overs. */
  readonly lastToken: number
  /** The hold that received the lock by a hand-over, with the same name in Redis. */
  heir: Hold | undefined
  /** After a hand-over: when its caller called, on the monotonic clock. Otherwise 0. */
  askedAt = 0
  /** True until a re-entry or `extend()` sends a request with this owner name. */
  untouched = true
  readonly kind: HoldKind
  /** The longest lease that was requested so far, in milliseconds. */
  leaseMs: number
  /** The hold count: acquisitions that are not released yet. */
  count = 1
  /** True if `acquired` was emitted. Only then the release emits `released`. */
  told = false
  /** The lease to which the watchdog renews the hold, in milliseconds; 0 without renewals. */
  renewMs = 0
  /** The renewed leases of its acquisitions, in milliseconds. The longest one counts. */
  readonly watched: number[] = []
  /** When the request of its first acquisition was sent, on the monotonic clock. */
  beganAt: number
  /** When it ends at the latest, on the monotonic clock. */
  limitAt = Infinity
  /** Its `maxHoldMs`. It counts from the first renewed acquisition, which may be a re-entry. */
  limitMs = Infinity
  /** Set if the holder was asked to end: how long renewals continue, in milliseconds. */
  drainMs: number | undefined
  /** When it was lost, on the monotonic clock. */
  lostAt: number | undefined
  /** Keeps its leases for `unlock()`, and forgets them some time after a loss. */
  keptIn: { lookAfter(): void } | undefined
  /** Set if the diagnostics channel of holds has subscribers. */
  trace: HoldTrace | undefined
  /** A late request with this name may take effect until then, on the monotonic clock. */
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

  /** True if it is neither released nor known to be lost. It does not check the time. */
  get live(): boolean {
    return this.#state === 'live'
  }

  /** Why the hold ended before its last release, or undefined. */
  get loss(): Error | undefined {
    if (typeof this.#loss === 'function') this.#loss = this.#loss()
    return this.#loss
  }

  /** The remaining validity in milliseconds, at least 0. The clock that leaves less decides. */
  remainingMs(): number {
    if (this.#state !== 'live') return 0
    this.#catchUp()
    return Math.max(0, this.#leftOf(this.#proof))
  }

  #leftOf({ sentAt, validForMs }: Proof): number {
    return validForMs - elapsedMs(sentAt, this.#clock.now())
  }

  /**
   * The validity that the monotonic clock leaves, in milliseconds. If it is more than
   * `remainingMs()`, the clocks disagree, and the server must decide.
   */
  remainingMonotonicMs(): number {
    this.#catchUp()
    return this.#proof.validForMs - (this.#clock.now().monotonic - this.#proof.sentAt.monotonic)
  }

  /** The last proof of the lease. A hand-over passes it to the next hold. */
  get proof(): Proof {
    this.#catchUp()
    return this.#proof
  }

  /** The hold that has the lock under this name now: this one, or the last after hand-overs. */
  get current(): Hold {
    return this.heir?.current ?? this
  }

  /** The server confirmed `leftMs` for a request sent at `sentAt`. The limit still applies. */
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

  /** The hold ends `maxHoldMs` after `from`, on the monotonic clock. */
  limit(maxHoldMs: number, from: number): void {
    this.limitMs = maxHoldMs
    this.limitAt = from + maxHoldMs
  }

  /** The lease to request at `at`, in milliseconds: `leaseMs`, or less near the limit. */
  upToLimit(leaseMs: number, at: Moment): number {
    return leftUntil(this.limitAt, at.monotonic, leaseMs)
  }

  /** From now on the stand-in proves the hold too, for the lease of its renewals. */
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
    // The older proof counts if it leaves more time, because its lease was longer.
    if (this.#leftOf(later) > this.#leftOf(this.#proof)) this.#proof = later
  }

  /** Aborts at the loss. Reading it checks the clocks. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = new LeaseSignal(() => this.loseIfExpired())
      if (this.loss !== undefined) this.#signal.abort(this.loss)
    }
    return this.#signal.signal
  }

  /**
   * Called before requests and after replies. An expiry on the monotonic clock is final. After an
   * expiry on the wall clock alone, the reply decides.
   */
  loseIfOver(): void {
    if (this.live && this.remainingMonotonicMs() <= 0) this.#loseByTime()
  }

  loseIfExpired(): void {
    if (this.live && this.remainingMs() === 0) this.#loseByTime()
  }

  /** Also called when the final release finds the lock already gone. */
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

  /** The error for code that uses a hold which is over. */
  over(): Error {
    return this.loss ?? releasedError(this.lockName, this.kind.words)
  }

  /** The server answered that the hold is over. */
  loseGone(): void {
    this.lose('gone', GONE)
  }

  /** The last release. A `reason` aborts the signal, for code that still works. */
  end(reason?: Error): void {
    if (!this.live) return
    this.#state = 'ended'
    this.#loss = reason
    if (reason !== undefined) this.#signal?.abort(reason)
  }

  /** An `unlock()` ended it, perhaps for another task. The error is made only if it is read. */
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
