import type { CallFailure } from '../redis/failure.ts'

/** How Redis does, as far as those who wait for one lock know together. */
export class Health {
  /** When each request that has no answer yet was sent, earliest first. */
  readonly #open = new Set<{ readonly sentAt: number }>()
  /** The failure since the last proper answer, or undefined. */
  failure: CallFailure | undefined
  /** How many calls have failed since then, when the first of them was sent and the last failed. */
  failures = 0
  failingSince = 0
  failedAt = 0
  answeredAt = 0

  /** A request is sent; call the result when it is settled in whatever way. */
  asks(): () => void {
    const request = { sentAt: performance.now() }
    this.#open.add(request)
    return () => this.#open.delete(request)
  }

  /** For how long an answer has been due, in milliseconds; 0 when none is. */
  get silentMs(): number {
    const earliest = this.#open.values().next().value
    return earliest === undefined ? 0 : performance.now() - earliest.sentAt
  }

  answered(): void {
    this.failure = undefined
    this.failures = 0
    this.answeredAt = performance.now()
  }

  failed(failure: CallFailure, sentAt: number): void {
    if (this.failure === undefined) this.failingSince = sentAt
    this.failure = failure
    this.failures += 1
    this.failedAt = performance.now()
  }
}
