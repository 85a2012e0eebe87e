import type { AcquirePath } from '../../diagnostics.ts'
import { type Clock, elapsedMs, type Moment, type Timer } from '../../kit/clock.ts'
import { validityMs } from '../../lease/validity.ts'
import type { Queued } from '../../servers/answers.ts'
import { CLAIM_MS } from '../../servers/fair-server.ts'
import type { Waiter } from '../../waiting/waiter.ts'

/**
 * If less than this share of the claim window remains, the waiter sends a request before it uses
 * the grant.
 */
export const LEAST_LEFT = 0.25

/** A grant to a waiter of this client, as a message or an answer reports it. */
export interface ReportedGrant {
  readonly token: number
  /**
   * The owners of this client behind the waiter in the queue. The grant has reserved a token below
   * `token` for each of them. Undefined for none.
   */
  readonly run?: readonly string[]
}

export interface OwnGrant extends ReportedGrant {
  readonly owner: string
}

/** A release of this client that granted the lock to another waiter of this client. */
export interface OwnRelease {
  /** When the client sent the release; undefined if unknown. */
  readonly releasedAt: Moment | undefined
}

/** A grant that the waiter can use without a request. */
export interface KnownGrant extends Required<ReportedGrant> {
  /** A time before the grant was made. */
  readonly sentAt: Moment
  /** True if the server has granted the whole lease, so the grant needs no confirmation. */
  readonly isWhole: boolean
}

/**
 * The place of one waiter in the queue of a fair lock. Contains the last known grant to this
 * waiter.
 */
export class Place {
  readonly waiter: Waiter
  readonly ownerId: string
  /**
   * The claim window in milliseconds. A grant ends after this time unless the client confirms the
   * grant.
   */
  readonly claimMs: number
  ticket = ''
  /** True if the server has answered a request of this waiter. Heartbeats do not count. */
  answered = false
  /** True if the waiter may send its first request, or has sent it, and the server has not answered. */
  asking = false
  /** True while a heartbeat that lists this place is in flight. */
  isListed = false
  /** True until the waiter leaves the queue. */
  inLine = true
  #wasListed = false
  /**
   * When the client sent the newest request or heartbeat that found the waiter in the queue.
   * Undefined before the first such answer.
   */
  #queuedAt: Moment | undefined
  #path: AcquirePath | undefined
  #lastToken = 0
  #token = 0
  #tokenCameAt = 0
  /**
   * When this client sent the release that made the grant `#token`. Undefined if no release of this client is known to
   * have made this grant.
   */
  #releasedAt: Moment | undefined
  #run: readonly string[] = []
  #checkTimer: Timer | undefined

  constructor(waiter: Waiter, ownerId: string) {
    this.waiter = waiter
    this.ownerId = ownerId
    this.claimMs = Math.min(CLAIM_MS, waiter.request.leaseMs)
  }

  /**
   * Handles the answer to a request or a heartbeat that found the waiter in the queue.
   *
   * @param sentAt the time when this request or heartbeat was sent
   */
  queued({ lastToken, ttlMs, first }: Omit<Queued, 'kind' | 'ticket'>, sentAt: Moment): void {
    // If a grant was reported before this request was sent, the grant has ended, because the waiter
    // still is in the queue.
    if (this.#tokenCameAt < sentAt.monotonic) this.#token = 0
    if (this.#queuedAt === undefined || sentAt.monotonic > this.#queuedAt.monotonic) {
      this.#queuedAt = sentAt
    }
    this.#lastToken = lastToken === 0 ? 0 : Math.max(this.#lastToken, lastToken)
    this.waiter.retryBudget.clock.clear(this.#checkTimer)
    // If the holder's lease ends soon, the head of the queue checks the lock at that time. The
    // other waiters do not check the lock.
    if (first && ttlMs <= 2 * CLAIM_MS) {
      const { retryBudget, wakeEvent } = this.waiter
      this.#checkTimer = retryBudget.clock.after(ttlMs + 1, () => wakeEvent.set()).unref()
    }
  }

  /** @param byRelease the release of this client that made the grant; undefined if none is known */
  onGrant({ token, run = [] }: ReportedGrant, byRelease?: OwnRelease): void {
    this.#path = byRelease === undefined ? 'granted' : 'local'
    if (token > this.#token) {
      this.#releasedAt = byRelease?.releasedAt
      this.#run = run
    }
    this.#token = Math.max(this.#token, token)
    this.#tokenCameAt = this.waiter.retryBudget.clock.monotonic()
    this.waiter.wakeEvent.set()
  }

  /**
   * Returns the grant if the waiter can use it without a request. `sentAt` of the result is the newest known moment
   * before the grant. At this moment the client sent the last request or heartbeat that found the waiter in the queue,
   * or the release that made the grant.
   *
   * @returns null if no grant is certain, or if too little of the claim window is left
   */
  usableGrant(clock: Clock): KnownGrant | null {
    const queuedAt = this.#queuedAt
    // If the server has lost the counter of the tokens, the client cannot distinguish an old grant
    // from a new grant.
    if (!this.#hasNewGrant || queuedAt === undefined || this.#lastToken === 0) return null
    const releasedAt = this.#releasedAt
    const isLater = releasedAt !== undefined && releasedAt.monotonic > queuedAt.monotonic
    const sentAt = isLater ? releasedAt : queuedAt
    const leftMs = validityMs(this.claimMs) - elapsedMs(sentAt, clock.now())
    if (leftMs < this.claimMs * LEAST_LEFT) return null
    const isWhole = isLater && this.claimMs === this.waiter.request.leaseMs
    return { token: this.#token, run: this.#run, sentAt, isWhole }
  }

  /** How the waiter acquires the lock; undefined if the waiter did not have to queue. */
  get path(): AcquirePath | undefined {
    return this.#path ?? (this.waiter.announced ? 'granted' : undefined)
  }

  listedNow(): void {
    this.isListed = true
    this.#wasListed = true
  }

  /**
   * True if the next heartbeat should list this place. A place in the queue is due if no heartbeat
   * has listed it. It is also due if the last answer about it is `olderMs` milliseconds old. A place is
   * not due while a heartbeat that lists it is in flight.
   */
  isDue(now: Moment, olderMs: number): boolean {
    if (this.isListed || this.#queuedAt === undefined) return false
    return !this.#wasListed || now.monotonic - this.#queuedAt.monotonic >= olderMs
  }

  /**
   * True if a request that was sent at `at` or later found the place in the queue. Undefined before
   * the first answer. `at` is in milliseconds on the monotonic clock.
   */
  isQueuedSince(at: number): boolean | undefined {
    return this.#queuedAt && this.#queuedAt.monotonic >= at
  }

  removed(): void {
    this.inLine = false
    this.waiter.retryBudget.clock.clear(this.#checkTimer)
  }

  get #hasNewGrant(): boolean {
    return this.#token > this.#lastToken
  }
}
