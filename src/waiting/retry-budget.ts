import {
  ClosedError,
  InvalidArgumentError,
  OF_LOCK,
  RedisRefusedError,
  UnsupportedServerError,
  unavailableError,
  type Words,
} from '../errors.ts'
import { type Clock, pause } from '../kit/clock.ts'
import { withoutFullStop } from '../kit/without-full-stop.ts'
import { CallFailure } from '../servers/call-failure.ts'
import { NameConflict } from '../servers/name-conflict.ts'
import type { Limits } from './limits.ts'
import { silenceWords } from './no-answer.ts'
import { ServerHealth } from './server-health.ts'

/** If less time than this remains after a failure, in milliseconds, the operation sends no further request. */
const LEAST_CALL_MS = 20

/**
 * Limits how long one operation tolerates failures of the server. The operation retries after temporary failures for
 * `outageMs`, or for `patienceMs` in an outage. A permanent failure ends the operation at once.
 */
export class RetryBudget {
  readonly #lockName: string
  readonly #limits: Limits
  readonly #words: Words
  #health: ServerHealth | undefined
  readonly #startedAt: number
  readonly #patienceMs: number

  /**
   * @param health shared by several operations; by default, this operation has its own `ServerHealth`
   * @param words the words of errors for this kind of lock
   * @param waitMs the longest wait of the call, in milliseconds; 0 means no wait
   */
  constructor(
    lockName: string,
    limits: Limits,
    health?: ServerHealth,
    words = OF_LOCK,
    waitMs = 0,
  ) {
    this.#lockName = lockName
    this.#limits = limits
    this.#health = health
    this.#words = words
    this.#startedAt = limits.clock.monotonic()
    this.#patienceMs = waitMs === 0 ? limits.outageMs : limits.patienceMs(waitMs)
  }

  get clock(): Clock {
    return this.#limits.clock
  }

  get health(): ServerHealth {
    this.#health ??= new ServerHealth(this.clock)
    return this.#health
  }

  /** The time limit of the next request, in milliseconds. */
  get callMs(): number {
    return Math.max(1, Math.min(this.#limits.commandTimeoutMs, this.#leftMs))
  }

  /** True if the operation must stop: its last failure was permanent, or too little time remains. */
  get isUsedUp(): boolean {
    const failure = this.#failure
    return failure !== undefined && (failure.permanent || this.#leftMs < LEAST_CALL_MS)
  }

  /**
   * True if the server does not answer now, so that the client does not know the state of the lock.
   *
   * @param known true if an answer has shown the state. Then only a failure or a long silence is an outage
   */
  isOutage(known: boolean | undefined): boolean {
    if (this.#failure !== undefined) return true
    const { silentMs, answeredAt } = this.health
    const longMs = this.#limits.commandTimeoutMs / 2
    if (known || answeredAt >= this.#startedAt) return silentMs >= longMs
    // No answer has arrived since the operation began. The silence is an outage if the connection is down, or if the
    // silence is longer than usual.
    if (this.#limits.whyDown() !== undefined) return true
    return this.isUnusual(silentMs)
  }

  /** True if a silence of this length is longer than usual, or longer than half of `commandTimeoutMs`. */
  isUnusual(silentMs: number): boolean {
    return silentMs > Math.min(this.#limits.commandTimeoutMs / 2, this.#limits.responseTime.usualMs)
  }

  /** Records an answer to a request that was sent at `sentAt`, on the monotonic clock. */
  answered(sentAt: number): void {
    this.health.answered()
    this.#limits.responseTime.took(sentAt, this.health.answeredAt)
  }

  /**
   * Records the failure of a request.
   *
   * @param sentAt when the failed request was sent, on the monotonic clock
   * @returns the pause before the next attempt in milliseconds; null if the operation must stop
   */
  failed(failure: CallFailure, sentAt: number): number | null {
    this.health.failed(failure, sentAt)
    if (this.isUsedUp) return null
    const pauseMs =
      Math.min(10 * 2 ** Math.min(this.health.failures, 5), 250) * (0.5 + Math.random())
    return this.#leftMs - pauseMs < LEAST_CALL_MS ? null : pauseMs
  }

  /**
   * Repeats the call until an answer arrives. After a permanent failure, or if the retry budget is used up, rejects
   * with the error for the user. An error that is not a `CallFailure` stays unchanged.
   *
   * @param call sends one request, with this time limit in milliseconds
   * @param whatFailed returns the failed step, as words for the error
   */
  async retry<T>(
    call: (callMs: number) => Promise<T>,
    whatFailed: (failure: CallFailure) => string,
  ): Promise<T> {
    for (;;) {
      const sentAt = this.clock.monotonic()
      try {
        return await call(this.callMs)
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error
        await this.pauseAfter(error, sentAt, whatFailed(error))
      }
    }
  }

  /**
   * Records the failure, and pauses. Throws the error for the user instead if the operation must stop.
   *
   * @param sentAt when the failed request was sent, on the monotonic clock
   * @param what the failed step, as words for the error
   * @param giveUp called before the error is thrown
   */
  async pauseAfter(
    failure: CallFailure,
    sentAt: number,
    what: string,
    giveUp?: () => void,
  ): Promise<void> {
    const pauseMs = this.failed(failure, sentAt)
    if (pauseMs === null) {
      giveUp?.()
      throw this.error(what)
    }
    await pause(this.clock, pauseMs)
  }

  /**
   * Makes the error for the user, with the last failure in plain words.
   *
   * @param what the failed step
   * @param due the words for a missing answer, if no request has failed
   */
  error(what: string, due = 'the answer had not arrived yet'): Error {
    const own = this.#failure
    const failure = own ?? this.#limits.whyDown()
    const forMs = Math.round(own === undefined ? this.health.silentMs : this.#failingMs)
    const lock = `${this.#words.noun} "${this.#lockName}": ${what}`
    if (failure?.kind === 'misused') {
      return new InvalidArgumentError(`${lock}: ${failure.message}.`, this.#lockName)
    }
    if (failure?.kind === 'closed') {
      return new ClosedError(`${lock}: the client was closed.`, this.#lockName)
    }
    if (failure === undefined || failure.kind === 'unsent' || failure.kind === 'unknown') {
      const why = failure?.message ?? due
      const { answer, step } = silenceWords(this.#limits, failure, why, forMs)
      return unavailableError(this.#lockName, what, answer, step, causeOf(failure), this.#words)
    }
    if (failure.kind === 'unsupported') {
      return new UnsupportedServerError(`${lock}: ${failure.message}.`, this.#lockName)
    }
    const { words: server } = this.#limits
    if (failure instanceof NameConflict) {
      const code = server.conflictCode === '' ? '' : ` (${server.conflictCode})`
      const message = `${lock}: ${failure.words}${code}. Use another name for one of the two.`
      return new RedisRefusedError(message, this.#lockName, causeOf(failure))
    }
    const words = withoutFullStop(failure.message)
    // The message of several masters already quotes each master.
    const isOfMasters = server.stepOfMasters?.(failure) !== undefined
    const said = isOfMasters ? words : `${server.name} answered "${words}"`
    return new RedisRefusedError(
      `${lock}: ${said}${failure.permanent ? '' : ` for ${forMs} ms`}.${server.stepAfter(failure)}`,
      this.#lockName,
      causeOf(failure),
      !failure.permanent,
    )
  }

  /** The last failure since this operation began. Undefined if no request failed, or if an answer arrived later. */
  get #failure(): CallFailure | undefined {
    const health = this.#health
    return health !== undefined && health.failedAt >= this.#startedAt ? health.failure : undefined
  }

  get #failingMs(): number {
    return this.clock.monotonic() - Math.max(this.health.failingSince, this.#startedAt)
  }

  get #leftMs(): number {
    const failure = this.#failure
    if (failure === undefined) return this.#limits.outageMs
    // If the client has never received an answer, a wrong address is more likely than an outage. So `outageMs` applies,
    // even if `patienceMs` is longer.
    const isPatient = failure.isOutage && this.#limits.responseTime.hasAnswer
    return (isPatient ? this.#patienceMs : this.#limits.outageMs) - this.#failingMs
  }
}

/** Returns the original error of the server or of the network. */
function causeOf(failure: unknown): unknown {
  let cause = failure
  while (cause instanceof CallFailure && cause.cause !== undefined) cause = cause.cause
  return cause
}
