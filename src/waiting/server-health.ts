import type { Clock, Moment } from '../kit/clock.ts'
import { Linked, LinkedList } from '../kit/linked-list.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import { OddAnswer } from '../servers/call-failure.ts'

/** A request that has no answer yet. */
export class OpenRequest extends Linked<OpenRequest> {
  /** Just before it was sent. */
  readonly sentAt: Moment

  constructor(sentAt: Moment) {
    super()
    this.sentAt = sentAt
  }

  /** It is answered, or given up. */
  close(): void {
    this.list?.remove(this)
  }
}

/** How Redis does, as far as those who wait for one lock know together. */
export class ServerHealth {
  /** Requests that have no answer yet, earliest first. */
  readonly #open = new LinkedList<OpenRequest>()
  /** The failure since the last proper answer, or undefined. */
  failure: CallFailure | undefined
  /** How many calls have failed since then, when the first of them was sent and the last failed. */
  failures = 0
  failingSince = 0
  failedAt = 0
  answeredAt = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** To be closed when it is settled, in whatever way. */
  sent(request: OpenRequest): OpenRequest {
    this.#open.add(request)
    return request
  }

  /** Whether no answer is due, and nothing has failed. */
  get isClear(): boolean {
    return this.#open.size === 0 && this.failure === undefined
  }

  /** For how long an answer has been due, in milliseconds; 0 when none is. */
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
    // What was answered says more than that there was no answer to the last short try.
    const saysLess = this.failure instanceof OddAnswer && failure.kind === 'unknown'
    if (!saysLess) this.failure = failure
    this.failures += 1
    this.failedAt = this.#clock.monotonic()
  }
}
