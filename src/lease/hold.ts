import { LeaseLostError, type LossReason, OF_LOCK, releasedError } from '../errors.ts'
import type { Dated } from '../kit/deadlines.ts'
import { Linked } from '../kit/linked-list.ts'
import type { Owner } from '../owner/owner.ts'
import { type Clock, elapsedMs, type Moment } from './clock.ts'
import type { HoldKind } from './hold-kind.ts'
import { LeaseSignal } from './lease-signal.ts'
import type { Backing, HoldId, StandIn } from './stand-in.ts'
import { validityMs } from './validity.ts'

/** Two moments that count: when the request that proved the lease was sent, and for how long. */
interface Proof {
  readonly sentAt: Moment
  readonly validForMs: number
}

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
  readonly token: number
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
  /** How many of them the watchdog keeps. */
  watched = 0
  /** When it was lost, on the monotonic clock. */
  lostAt: number | undefined
  /** Where its leases are kept, which is told when it is lost. */
  keptIn: { lookAfter(): void } | undefined
  #doubtUntilMs = 0
  readonly #clock: Clock
  readonly #host: HoldHost
  #proof: Proof
  #state: 'live' | 'ended' | 'lost' = 'live'
  #loss: Error | (() => Error) | undefined
  #signal: LeaseSignal | undefined
  #backing: (Backing & { readonly leaseMs: number }) | undefined

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
  }

  /**
   * Until when a delayed request in its name could still take the lock or raise a count, on
   * the monotonic clock.
   */
  get doubtUntilMs(): number {
    return this.#doubtUntilMs
  }

  inDoubtUntil(ms: number): void {
    this.#doubtUntilMs = Math.max(this.#doubtUntilMs, ms)
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
    return Math.max(0, this.#proof.validForMs - elapsedMs(this.#proof.sentAt, this.#clock.now()))
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

  /** The server had the lock for `leaseMs` more when it got a request sent at `sentAt`. */
  proved(leaseMs: number, sentAt: Moment): void {
    this.loseIfOver()
    this.leaseMs = Math.max(this.leaseMs, leaseMs)
    const validForMs = validityMs(leaseMs)
    const left = validForMs - elapsedMs(sentAt, this.#clock.now())
    if (left <= this.remainingMs()) return
    this.#proof = { sentAt, validForMs }
    if (leaseMs === this.#backing?.leaseMs) this.#backing.proved(sentAt)
  }

  /** From now on somebody else proves it too, each time for `leaseMs`. */
  backBy(standIn: StandIn, leaseMs: number): void {
    this.#backing ??= { ...standIn.keep(this.id, this.#proof.sentAt), leaseMs }
  }

  standAlone(): void {
    this.#catchUp()
    this.#backing?.forget()
    this.#backing = undefined
  }

  #catchUp(): void {
    const sentAt = this.#backing?.provedAt()
    if (sentAt === undefined || sentAt.monotonic <= this.#proof.sentAt.monotonic) return
    this.#proof = { sentAt, validForMs: validityMs(this.#backing?.leaseMs ?? 0) }
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
    const { noun } = this.kind.words ?? OF_LOCK
    const error = new LeaseLostError(
      `The lease of ${noun.toLowerCase()} "${this.lockName}" (token ${this.token}) was lost: ${how}. ` +
        'Stop the work that it protects; what was done since may have overlapped with another holder.',
      this.lockName,
      reason,
      this.token,
    )
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
    this.lose('gone', 'the server says that its owner does not hold it any more')
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
    const agoMs = Math.round(elapsedMs(this.#proof.sentAt, this.#clock.now()))
    const kind = this.watched > 0 ? 'the watched lease' : 'the fixed lease'
    this.lose(
      'expired',
      `its time ran out; ${kind} of ${this.leaseMs} ms was last confirmed ${agoMs} ms ago`,
    )
  }
}
