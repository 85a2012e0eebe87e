import {
  ClosedError,
  RedisRefusedError,
  RedisUnavailableError,
  UnsupportedServerError,
} from '../errors.ts'
import type { CallFailure } from '../redis/failure.ts'

export interface Limits {
  /** The longest that one call to Redis may take, in milliseconds. */
  readonly commandTimeoutMs: number
  /** How long a silent or refusing Redis is put up with, in milliseconds. */
  readonly outageMs: number
}

/**
 * How long one operation puts up with a Redis that does not answer as it should. Failures that
 * pass are tried again until `outageMs` without a proper answer; others end it at once.
 */
export class Patience {
  readonly #lockName: string
  readonly #limits: Limits
  #failingSince: number | undefined
  #failures = 0
  /** The failure since the last proper answer, or undefined when all is well. */
  failure: CallFailure | undefined

  constructor(lockName: string, limits: Limits) {
    this.#lockName = lockName
    this.#limits = limits
  }

  /** How long the next call may take. */
  get callMs(): number {
    const failingMs = performance.now() - (this.#failingSince ?? performance.now())
    return Math.max(1, Math.min(this.#limits.commandTimeoutMs, this.#limits.outageMs - failingMs))
  }

  /** An answer that is due for this long counts as silence, in milliseconds. */
  get silenceMs(): number {
    return this.#limits.commandTimeoutMs / 2
  }

  answered(): void {
    this.#failingSince = undefined
    this.#failures = 0
    this.failure = undefined
  }

  /**
   * @param sentAt when the failed call began
   * @returns how long to pause before the next try, in milliseconds; null when it is time to give up
   */
  failed(failure: CallFailure, sentAt: number): number | null {
    this.failure = failure
    this.#failingSince ??= sentAt
    this.#failures += 1
    if (failure.permanent) return null
    const left = this.#limits.outageMs - (performance.now() - this.#failingSince)
    if (left <= 1) return null
    return Math.min(
      left,
      Math.min(10 * 2 ** Math.min(this.#failures, 5), 250) * (0.5 + Math.random()),
    )
  }

  /**
   * What to tell the caller: the last failure, in words for people.
   *
   * @param what did not come about
   * @param since when Redis was last known to answer, where no call has failed yet
   */
  error(what: string, since = performance.now()): Error {
    const { failure } = this
    const forMs = Math.round(performance.now() - (this.#failingSince ?? since))
    const lock = `Lock "${this.#lockName}": ${what}`
    if (failure?.kind === 'closed')
      return new ClosedError(`${lock}: the client was closed.`, this.#lockName)
    if (failure === undefined || failure.kind === 'unsent' || failure.kind === 'unknown') {
      return new RedisUnavailableError(
        `${lock}: Redis gave no answer for ${forMs} ms (${failure?.message ?? 'it was still due'}). ` +
          'This says nothing about who holds the lock. Check that Redis is up and can be reached.',
        this.#lockName,
        failure,
      )
    }
    if (failure.kind === 'unsupported') {
      return new UnsupportedServerError(`${lock}: ${failure.message}.`, this.#lockName)
    }
    return new RedisRefusedError(
      `${lock}: Redis answered "${failure.message}"${failure.permanent ? '' : ` for ${forMs} ms`}.`,
      this.#lockName,
      failure.cause ?? failure,
    )
  }
}
