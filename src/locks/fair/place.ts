import type { AcquirePath } from '../../diagnostics.ts'
import { type Clock, elapsedMs, type Moment, type Timer } from '../../kit/clock.ts'
import { validityMs } from '../../lease/validity.ts'
import type { Queued } from '../../servers/answers.ts'
import { CLAIM_MS } from '../../servers/fair-server.ts'
import type { Waiter } from '../../waiting/waiter.ts'

/** A grant with less than this part of its claim window left is confirmed before it is used. */
const LEAST_LEFT = 0.25

/** One waiter's place in the queue of a fair lock, and what is known of a grant to it. */
export class Place {
  readonly waiter: Waiter
  readonly wireOwner: string
  /** How long a grant to it stands before it is confirmed, in milliseconds. */
  readonly claimMs: number
  ticket = ''
  /** Whether its request to queue was answered. */
  answered = false
  /** Whether a heartbeat for it is under way. */
  beating = false
  /** Whether it still wants the lock. */
  inLine = true
  #beaten = false
  /** When the last request was sent that was answered "queued"; undefined before the first. */
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

  /** A request sent at that moment was answered "queued" while another had the lock. */
  queued({ lastToken, ttlMs, first }: Omit<Queued, 'kind' | 'ticket'>, sentAt: Moment): void {
    // What was known of a grant before is over.
    if (this.#tokenCameAt < sentAt.monotonic) this.#token = 0
    if (this.#queuedAt === undefined || sentAt.monotonic > this.#queuedAt.monotonic) {
      this.#queuedAt = sentAt
    }
    this.#lastToken = lastToken === 0 ? 0 : Math.max(this.#lastToken, lastToken)
    this.waiter.retryBudget.clock.clear(this.#look)
    // Whoever heads the queue looks when the holder's lease ends; others leave it to that one.
    if (first && ttlMs >= 0 && ttlMs <= 2 * CLAIM_MS) {
      const { retryBudget, wakeEvent } = this.waiter
      this.#look = retryBudget.clock.after(ttlMs + 1, () => wakeEvent.set()).unref()
    }
  }

  /** Somebody says that it was granted the lock under this token: by another client, or by this one. */
  granted(token: number, path: AcquirePath = 'granted'): void {
    this.#path = path
    this.#token = Math.max(this.#token, token)
    this.#tokenCameAt = this.waiter.retryBudget.clock.monotonic()
    this.waiter.wakeEvent.set()
  }

  /**
   * A grant that can be relied on without asking: it was made after the last request that was
   * answered "queued" was sent, for that one was told of older tokens only.
   *
   * @returns its token, and the moment that its claim window counts from at the latest; null when
   * there is none, or too little of it is left to be sure
   */
  claim(clock: Clock): { token: number; sentAt: Moment } | null {
    const sentAt = this.#queuedAt
    // Where the counter was lost nothing tells an old grant from a new one.
    if (!this.#claimed || sentAt === undefined || this.#lastToken === 0) return null
    const leftMs = validityMs(this.claimMs) - elapsedMs(sentAt, clock.now())
    return leftMs >= this.claimMs * LEAST_LEFT ? { token: this.#token, sentAt } : null
  }

  /** How the lock was got, if it is; undefined where it did not have to queue. */
  get path(): AcquirePath | undefined {
    return this.#path ?? (this.waiter.announced ? 'granted' : undefined)
  }

  beats(): void {
    this.beating = true
    this.#beaten = true
  }

  /** Whether it was not heard of for so long, or never by a heartbeat. */
  isDue(now: Moment, olderMs: number): boolean {
    if (this.beating || this.#queuedAt === undefined) return false
    return !this.#beaten || now.monotonic - this.#queuedAt.monotonic >= olderMs
  }

  /** Whether it was found in the queue since; undefined before it was found there at all. */
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
