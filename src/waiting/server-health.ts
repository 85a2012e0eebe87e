import type { Clock, Moment } from '../kit/clock.ts'
import { Linked, LinkedList } from '../kit/linked-list.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import { OddAnswer } from '../servers/call-failure.ts'

export class OpenRequest extends Linked<OpenRequest> {
  /** The moment just before the request was sent. */
  readonly sentAt: Moment

  constructor(sentAt: Moment) {
    super()
    this.sentAt = sentAt
  }

  /** Called when the request has settled, with or without an answer. */
  finish(): void {
    this.list?.remove(this)
  }
}

/** Records the open requests of some operations, and the failures since the last answer. */
export class ServerHealth {
  /** The requests that have not settled. The earliest request is first. */
  readonly #open = new LinkedList<OpenRequest>()
  /** The failure for an error message; undefined if no call has failed since the last answer. */
  failure: CallFailure | undefined
  /** The number of calls that have failed since the last answer. */
  failures = 0
  /** When the client sent the first failed call after the last answer, on the monotonic clock. */
  failingSince = 0
  /** When the last failure was recorded, on the monotonic clock; 0 if no call has failed. */
  failedAt = 0
  /** When the last answer was recorded, on the monotonic clock; 0 if no answer has arrived. */
  answeredAt = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Records a request. When the request settles, the caller must call `finish()` of the request.
   */
  sent(request: OpenRequest): OpenRequest {
    this.#open.add(request)
    return request
  }

  /** True if every request has settled, and no call has failed since the last answer. */
  get isClear(): boolean {
    return this.#open.size === 0 && this.failure === undefined
  }

  /**
   * The age of the oldest request that has not settled, in milliseconds; 0 if all requests have
   * settled.
   */
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
    // An odd answer explains more than a later call without an answer, so its failure stays.
    const saysLess = this.failure instanceof OddAnswer && failure.kind === 'unknown'
    if (!saysLess) this.failure = failure
    this.failures += 1
    this.failedAt = this.#clock.monotonic()
  }
}
