import type { Clock, Moment } from '../kit/clock.ts'
import { Linked, LinkedList } from '../kit/linked-list.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import { OddAnswer } from '../servers/call-failure.ts'

/** A request that has no answer yet. */
export class OpenRequest extends Linked<OpenRequest> {
  /** Just before the request was sent. */
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

/** The health of Redis, as the waiters of one lock know it together. */
export class ServerHealth {
  /** Requests that have no answer yet, earliest first. */
  readonly #open = new LinkedList<OpenRequest>()
  /** The failure since the last proper answer, or undefined. */
  failure: CallFailure | undefined
  /**
   * How many calls have failed since the last answer, when the first was sent, and when the last
   * failed.
   */
  failures = 0
  failingSince = 0
  failedAt = 0
  answeredAt = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The caller closes the request when it is settled. */
  sent(request: OpenRequest): OpenRequest {
    this.#open.add(request)
    return request
  }

  /** True if no answer is due and no call has failed. */
  get isClear(): boolean {
    return this.#open.size === 0 && this.failure === undefined
  }

  /** How long the oldest answer has been due, in milliseconds; 0 if none is due. */
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
    // An odd answer says more than the missing answer to a last, short attempt.
    const saysLess = this.failure instanceof OddAnswer && failure.kind === 'unknown'
    if (!saysLess) this.failure = failure
    this.failures += 1
    this.failedAt = this.#clock.monotonic()
  }
}
