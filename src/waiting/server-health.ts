import type { Clock, Moment } from '../kit/clock.ts'
import { Linked, LinkedList } from '../kit/linked-list.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import { OddAnswer } from '../servers/call-failure.ts'

/** A request that has no answer yet. */
export class OpenRequest extends Linked<OpenRequest> {
  /** The moment just before the request was sent. */
  readonly sentAt: Moment

  constructor(sentAt: Moment) {
    super()
    this.sentAt = sentAt
  }

  /** Called when the request is answered or given up. */
  close(): void {
    this.list?.remove(this)
  }
}

/** The health of Redis, according to the answers and failures of all waiters of one lock. */
export class ServerHealth {
  /** Requests that have no answer yet, earliest first. */
  readonly #open = new LinkedList<OpenRequest>()
  /** The failure since the last proper answer, or undefined. */
  failure: CallFailure | undefined
  /**
   * The number of calls that have failed since the last answer. `failingSince` is the sending time
   * of the first of them, `failedAt` is the time of the last failure.
   */
  failures = 0
  failingSince = 0
  failedAt = 0
  answeredAt = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records a request. The caller must close it when the request is settled. */
  sent(request: OpenRequest): OpenRequest {
    this.#open.add(request)
    return request
  }

  /** True if no request is unanswered and no call has failed since the last answer. */
  get isClear(): boolean {
    return this.#open.size === 0 && this.failure === undefined
  }

  /** The time since the oldest unanswered request was sent, in milliseconds; 0 if there is none. */
  get silentMs(): number {
    const { first } = this.#open
    return first === undefined ? 0 : this.#clock.monotonic() - first.sentAt.monotonic
  }

  answered(): void {
    this.failure = undefined
    this.failures = 0
    this.answeredAt = this.#clock.monotonic()
  }

  failed(failure: CallFailure, sentAt: number): void {
    if (this.failure === undefined) this.failingSince = sentAt
    // An odd answer explains more than a missing answer to a later, short attempt, so it is kept.
    const saysLess = this.failure instanceof OddAnswer && failure.kind === 'unknown'
    if (!saysLess) this.failure = failure
    this.failures += 1
    this.failedAt = this.#clock.monotonic()
  }
}
