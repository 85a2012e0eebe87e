import type { AcquirePath } from '../../diagnostics.ts'
import { type Clock, elapsedMs, type Moment, type Timer } from '../../kit/clock.ts'
import { validityMs } from '../../lease/validity.ts'
import type { Queued } from '../../servers/answers.ts'
import { CLAIM_MS } from '../../servers/fair-server.ts'
import type { Waiter } from '../../waiting/waiter.ts'

/** A grant is confirmed before its use if less than this part of its claim window is left. */
const LEAST_LEFT = 0.25

/** The place of one waiter in the queue of a fair lock, with what is known about a grant. */
export class Place {
  readonly waiter: Waiter
  readonly wireOwner: string
  /** How long a grant stands before it is confirmed, in milliseconds. */
  readonly claimMs: number
  ticket = ''
  /** True if its request to queue was answered. */
  answered = false
  /** True while a heartbeat for it is in flight. */
  beating = false
  /** True while the waiter wants the lock. */
  inLine = true
  #beaten = false
  /** When the last request was sent that was answered `queued`; undefined before the first. */
  #queuedAt: Moment | undefined
  #path: AcquirePath | undefined
  #lastToken = 0
  #token = 0
  #tokenCameAt = 0
  #look: Timer | undefined

  constructor(waiter: Waiter, wireOwner: string) {
    this.waiter = waiter
    this.wireOwner = wireOwner
    this.claimMs = Math.min(CLAIM_MS, waiter.request.leaseMs)
  }

  /** A request sent at `sentAt` was answered `queued`, because another owner had the lock. */
  queued({ lastToken, ttlMs, first }: Omit<Queued, 'kind' | 'ticket'>, sentAt: Moment): void {
    // An earlier grant is over.
    if (this.#tokenCameAt < sentAt.monotonic) this.#token = 0
    if (this.#queuedAt === undefined || sentAt.monotonic > this.#queuedAt.monotonic) {
      this.#queuedAt = sentAt
    }
    this.#lastToken = lastToken === 0 ? 0 : Math.max(this.#lastToken, lastToken)
    this.waiter.retryBudget.clock.clear(this.#look)
    // The head of the queue checks the lock when the lease of the holder ends. The others leave
    // that to the head.
    if (first && ttlMs >= 0 && ttlMs <= 2 * CLAIM_MS) {
      const { retryBudget, wakeEvent } = this.waiter
      this.#look = retryBudget.clock.after(ttlMs + 1, () => wakeEvent.set()).unref()
    }
  }

  /** Another client or this client reports a grant with this token. */
  granted(token: number, path: AcquirePath = 'granted'): void {
    this.#path = path
    this.#token = Math.max(this.#token, token)
    this.#tokenCameAt = this.waiter.retryBudget.clock.monotonic()
    this.waiter.wakeEvent.set()
  }

  /**
   * Returns a grant that can be used without a request. It was made after the last request with the
   * answer `queued` was sent, because that answer knew only older tokens.
   *
   * @returns its token, and a moment before its claim window began. Null if there is no grant, or
   *   too little of its window is left
   */
  claim(clock: Clock): { token: number; sentAt: Moment } | null {
    const sentAt = this.#queuedAt
    // If the counter was lost, the client cannot tell an old grant from a new grant.
    if (!this.#claimed || sentAt === undefined || this.#lastToken === 0) return null
    const leftMs = validityMs(this.claimMs) - elapsedMs(sentAt, clock.now())
    return leftMs >= this.claimMs * LEAST_LEFT ? { token: this.#token, sentAt } : null
  }

  /** How the lock was acquired; undefined if the waiter did not have to queue. */
  get path(): AcquirePath | undefined {
    return this.#path ?? (this.waiter.announced ? 'granted' : undefined)
  }

  beats(): void {
    this.beating = true
    this.#beaten = true
  }

  /** True if no heartbeat listed it yet, or if its last answer is at least `olderMs` old. */
  isDue(now: Moment, olderMs: number): boolean {
    if (this.beating || this.#queuedAt === undefined) return false
    return !this.#beaten || now.monotonic - this.#queuedAt.monotonic >= olderMs
  }

  /** True if it was in the queue at or after `at`; undefined before its first answer. */
  isQueuedSince(at: number): boolean | undefined {
    return this.#queuedAt && this.#queuedAt.monotonic >= at
  }

  leave(): void {
    this.inLine = false
    this.waiter.retryBudget.clock.clear(this.#look)
  }

  get #claimed(): boolean {
    return this.#token > this.#lastToken
  }
}
