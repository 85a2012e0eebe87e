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
const LEAST_LEFT = 0.25

/**
 * The place of one waiter in the queue of a fair lock, and the last grant to this waiter that the
 * client knows.
 */
export class Place {
  readonly waiter: Waiter
  readonly wireOwner: string
  /**
   * The claim window in milliseconds. A grant ends after this time unless the client confirms the
   * grant.
   */
  readonly claimMs: number
  ticket = ''
  /** True if the server has answered a request of this waiter. Heartbeats do not count. */
  answered = false
  /** True while a heartbeat that lists this place is in flight. */
  beating = false
  /** True until the waiter leaves the queue. */
  inLine = true
  #beaten = false
  /**
   * The time when the newest request with the answer `queued` was sent. Undefined before the first
   * such answer.
   */
  #queuedAt: Moment | undefined
  #path: AcquirePath | undefined
  #lastToken = 0
  #token = 0
  #tokenCameAt = 0
  #checkTimer: Timer | undefined

  constructor(waiter: Waiter, wireOwner: string) {
    this.waiter = waiter
    this.wireOwner = wireOwner
    this.claimMs = Math.min(CLAIM_MS, waiter.request.leaseMs)
  }

  /**
   * Handles the answer `queued`: another owner had the lock.
   *
   * @param sentAt the time when the request was sent
   */
  queued({ lastToken, ttlMs, first }: Omit<Queued, 'kind' | 'ticket'>, sentAt: Moment): void {
    // If a grant was reported before this request was sent, the grant has ended, because the answer
    // is `queued`.
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

  onGrant(token: number, path: AcquirePath = 'granted'): void {
    this.#path = path
    this.#token = Math.max(this.#token, token)
    this.#tokenCameAt = this.waiter.retryBudget.clock.monotonic()
    this.waiter.wakeEvent.set()
  }

  /**
   * Returns the grant if the waiter can use it without a request. The grant's token is newer than
   * the tokens in all `queued` answers, so the grant was made after those requests were sent.
   *
   * @returns the token, and a time before the claim window began. Null if there is no grant, or if
   * too little of the claim window is left
   */
  claim(clock: Clock): { token: number; sentAt: Moment } | null {
    const sentAt = this.#queuedAt
    // If the counter was lost, the client cannot distinguish an old grant from a new grant.
    if (!this.#claimed || sentAt === undefined || this.#lastToken === 0) return null
    const leftMs = validityMs(this.claimMs) - elapsedMs(sentAt, clock.now())
    return leftMs >= this.claimMs * LEAST_LEFT ? { token: this.#token, sentAt } : null
  }

  /** How the waiter acquires the lock; undefined if the waiter did not have to queue. */
  get path(): AcquirePath | undefined {
    return this.#path ?? (this.waiter.announced ? 'granted' : undefined)
  }

  beats(): void {
    this.beating = true
    this.#beaten = true
  }

  /**
   * True if the next heartbeat should list this place: no heartbeat has listed it yet, or its last
   * answer is at least `olderMs` milliseconds old.
   */
  isDue(now: Moment, olderMs: number): boolean {
    if (this.beating || this.#queuedAt === undefined) return false
    return !this.#beaten || now.monotonic - this.#queuedAt.monotonic >= olderMs
  }

  /**
   * True if a request that was sent at `at` or later found the place in the queue. Undefined before
   * the first answer. `at` is a time on the monotonic clock.
   */
  isQueuedSince(at: number): boolean | undefined {
    return this.#queuedAt && this.#queuedAt.monotonic >= at
  }

  removed(): void {
    this.inLine = false
    this.waiter.retryBudget.clock.clear(this.#checkTimer)
  }

  get #claimed(): boolean {
    return this.#token > this.#lastToken
  }
}
