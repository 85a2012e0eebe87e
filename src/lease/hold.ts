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

/** Who is told of the loss of a hold. */
interface HoldHost {
  lost(hold: Hold, error: LeaseLostError): void
}

/** A lock in somebody's hands: from the first acquisition to the last release, or to its loss. */
export class Hold extends Linked<Hold> implements Dated {
  /** @internal */
  dueAt = 0
  /** @internal */
  place = -1
  readonly lockName: string
  readonly owner: Owner
  readonly id: HoldId
  /** Of a shared hold it rises to the token with which its owner has written. */
  token: number
  /** The last of the tokens that Redis gave together with it, for those who follow in its name. */
  readonly lastToken: number
  /** Whom it was passed on to under the same name. */
  heir: Hold | undefined
  /** When its caller asked, on the monotonic clock, where it was passed on; else 0. */
  askedAt = 0
  /** Whether nothing was asked in its name since it was acquired. */
  untouched = true
  readonly kind: HoldKind
  /** The longest lease that was asked for, in milliseconds. */
  leaseMs: number
  /** Acquisitions not yet released: the hold count. */
  count = 1
  /** Whether its acquisition was told to listeners: so will be its release. */
  told = false
  /** To which lease the watchdog renews it, in milliseconds; 0 where it does not. */
  renewMs = 0
  /** The leases of those of its acquisitions that the watchdog keeps, in milliseconds: the longest counts. */
  readonly watched: number[] = []
  /** When the request was sent that its lease counts from at first, on the monotonic clock. */
  beganAt: number
  /** When it ends at the latest, on the monotonic clock. */
  limitAt = Infinity
  /** For how long it is renewed after its holder was asked to end, in milliseconds, if that is its limit. */
  drainMs: number | undefined
  /** When it was lost, on the monotonic clock. */
  lostAt: number | undefined
  /** Where its leases are kept, which is told when it is lost. */
  keptIn: { lookAfter(): void } | undefined
  /** Set where somebody hears of it. */
  trace: HoldTrace | undefined
  /** Until when a delayed request in its name could still take the lock or raise a count, on the monotonic clock. */
  doubtUntilMs = 0
  readonly #clock: Clock
  readonly #host: HoldHost
  #proof: Proof
  #state: 'live' | 'ended' | 'lost' = 'live'
  #loss: Error | (() => Error) | undefined
  #signal: LeaseSignal | undefined
  #backing: (Backing & { readonly leaseMs: number; readonly limitAt: number }) | undefined

  constructor(
    fields: Pick<Hold, 'lockName' | 'owner' | 'id' | 'token' | 'kind' | 'leaseMs'> & {
      sentAt: Moment
      validForMs?: number
      lastToken?: number
    },
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

  /** Neither released nor known to be lost; says nothing of the time. */
  get live(): boolean {
    return this.#state === 'live'
  }

  /** Why the hold ended before its last release, or undefined. */
  get loss(): Error | undefined {
    if (typeof this.#loss === 'function') this.#loss = this.#loss()
    return this.#loss
  }

  /** What is left of the validity on the worse of the two clocks, in milliseconds, at least 0. */
  remainingMs(): number {
    if (this.#state !== 'live') return 0
    this.#catchUp()
    return Math.max(0, this.#leftOf(this.#proof))
  }

  #leftOf({ sentAt, validForMs }: Proof): number {
    return validForMs - elapsedMs(sentAt, this.#clock.now())
  }

  /**
   * What is left on the monotonic clock alone. Where it says more than `remainingMs` the clocks
   * disagree, and the server should be asked.
   */
  remainingMonotonicMs(): number {
    this.#catchUp()
    return this.#proof.validForMs - (this.#clock.now().monotonic - this.#proof.sentAt.monotonic)
  }

  /** What is known of the lease: also of use to whoever has it next under the same name. */
  get proof(): Proof {
    this.#catchUp()
    return this.#proof
  }

  /** Whoever has the lock under that name now: those whom it was passed on to, or this one. */
  get current(): Hold {
    return this.heir?.current ?? this
  }

  /** The server had the lock for `leftMs` more when it got a request sent then: that counts up to the limit. */
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

  /** It is held for so long from then, in milliseconds, and no longer. */
  limit(maxHoldMs: number, from: number): void {
    this.beganAt = from
    this.limitAt = from + maxHoldMs
  }

  /** The lease to ask for at that moment, where so long a one is wanted: it ends at the limit. */
  upToLimit(leaseMs: number, at: Moment): number {
    return leftUntil(this.limitAt, at.monotonic, leaseMs)
  }

  /** From now on somebody else proves it too, each time for the lease to which it is renewed. */
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
    // One of a longer lease may be worth more still.
    if (this.#leftOf(later) > this.#leftOf(this.#proof)) this.#proof = later
  }

  /** Aborts at the loss; reading it looks at the clock. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = new LeaseSignal(() => this.loseIfExpired())
      if (this.loss !== undefined) this.#signal.abort(this.loss)
    }
    return this.#signal.signal
  }

  /**
   * For those who are about to ask the server, or have heard from it: what ran out on the monotonic
   * clock stays lost, whoever looks first; where only the wall clock says so the answer counts.
   */
  loseIfOver(): void {
    if (this.live && this.remainingMonotonicMs() <= 0) this.#loseByTime()
  }

  loseIfExpired(): void {
    if (this.live && this.remainingMs() === 0) this.#loseByTime()
  }

  /** Also after the last release, when that finds out that there was nothing left to release. */
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

  /** What to tell who relies on a hold that is over. */
  over(): Error {
    return this.loss ?? releasedError(this.lockName, this.kind.words)
  }

  /** The server answered that the hold is over. */
  loseGone(): void {
    this.lose('gone', GONE)
  }

  /** The last release: nothing was lost, unless a reason is given for those who still work. */
  end(reason?: Error): void {
    if (!this.live) return
    this.#state = 'ended'
    this.#loss = reason
    if (reason !== undefined) this.#signal?.abort(reason)
  }

  /** It was released by somebody who may not be the one that relies on it: mostly it was, and nobody asks why. */
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
