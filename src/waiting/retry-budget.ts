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
import { CallFailure, OddAnswer } from '../servers/call-failure.ts'
import { nextStep, stepOfMasters } from './next-step.ts'
import type { ResponseTime } from './response-time.ts'
import { ServerHealth } from './server-health.ts'

/** What bounds every call of one client. */
export interface Limits {
  readonly clock: Clock
  /** The longest that one call to Redis may take, in milliseconds. */
  readonly commandTimeoutMs: number
  /** How long a silent or refusing Redis is put up with, in milliseconds. */
  readonly outageMs: number
  /** The same in an outage, for a call that waits so long at most: 0 is not at all, Infinity without an end. */
  readonly patienceMs: (waitMs: number) => number
  /** How long its answers take. */
  readonly responseTime: ResponseTime
  /** Why the connection is down; undefined when it is up, or nothing is known. */
  readonly whyDown: () => CallFailure | undefined
}

/** A call with less time than this is not worth sending, in milliseconds. */
const LEAST_CALL_MS = 20

/**
 * How long one operation puts up with a Redis that does not answer as it should. Failures that
 * pass are tried again until it has had `outageMs` of them, or as many as a call that waits puts up with; others end it
 * at once.
 */
export class RetryBudget {
  readonly #lockName: string
  readonly #limits: Limits
  readonly #words: Words
  #health: ServerHealth | undefined
  readonly #startedAt: number
  readonly #patienceMs: number

  /**
   * @param health what it shares with others; left out when it is alone
   * @param words of what the name is
   * @param waitMs how long its call waits at most, in milliseconds; 0 is not at all
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

  /** That of its client. */
  get clock(): Clock {
    return this.#limits.clock
  }

  get health(): ServerHealth {
    this.#health ??= new ServerHealth(this.clock)
    return this.#health
  }

  /** How long the next call may take. */
  get callMs(): number {
    return Math.max(1, Math.min(this.#limits.commandTimeoutMs, this.#leftMs))
  }

  /** Whether it is time to give up. */
  get isUsedUp(): boolean {
    const failure = this.#failure
    return failure !== undefined && (failure.permanent || this.#leftMs < LEAST_CALL_MS)
  }

  /**
   * Whether nobody can tell by now who has the lock.
   *
   * @param known whether it was known at the start
   */
  isOutage(known: boolean): boolean {
    if (this.#failure !== undefined) return true
    const { silentMs, answeredAt } = this.health
    const longMs = this.#limits.commandTimeoutMs / 2
    if (known || answeredAt >= this.#startedAt) return silentMs >= longMs
    // Nobody has told who has it. Where the answer is not later than usual nothing is wrong.
    if (this.#limits.whyDown() !== undefined) return true
    return this.isUnusual(silentMs)
  }

  /** Whether answers do not take so long as a rule. */
  isUnusual(silentMs: number): boolean {
    return silentMs > Math.min(this.#limits.commandTimeoutMs / 2, this.#limits.responseTime.usualMs)
  }

  /** A proper answer came to a request that was sent then. */
  answered(sentAt: number): void {
    this.health.answered()
    this.#limits.responseTime.took(sentAt, this.health.answeredAt)
  }

  /**
   * @param sentAt when the failed call began
   * @returns how long to pause before the next try, in milliseconds; null when it is time to give up
   */
  failed(failure: CallFailure, sentAt: number): number | null {
    this.health.failed(failure, sentAt)
    if (this.isUsedUp) return null
    const pauseMs =
      Math.min(10 * 2 ** Math.min(this.health.failures, 5), 250) * (0.5 + Math.random())
    return this.#leftMs - pauseMs < LEAST_CALL_MS ? null : pauseMs
  }

  /**
   * Calls until there is an answer. A failure that stays rejects with what to tell the caller; whatever is no
   * failure of a call rejects as it is.
   *
   * @param whatFailed what did not come about, after that failure
   */
  async ask<T>(
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
   * Pauses before the next try; throws what to tell the caller when it is time to give up.
   *
   * @param what did not come about
   * @param giveUp called before it throws
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
   * What to tell the caller: the last failure, in words for people.
   *
   * @param what did not come about
   * @param due what there is no answer of, where nothing has failed
   */
  error(what: string, due = 'the answer was still due'): Error {
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
      // Of several masters some may have answered: each has its reason.
      const said = isOfMasters(why)
        ? `for ${forMs} ms ${why}`
        : `Redis gave no ${failure instanceof OddAnswer ? 'valid ' : ''}answer for ${forMs} ms (${why})`
      const step = isOfMasters(why) ? stepOfMasters(why) : undefined
      return unavailableError(this.#lockName, what, said, causeOf(failure), this.#words, step)
    }
    if (failure.kind === 'unsupported') {
      return new UnsupportedServerError(`${lock}: ${failure.message}.`, this.#lockName)
    }
    const words = failure.message.replace(/\.$/, '')
    const named = /^WRONGTYPE (.* has (?:this|the) name.*)$/s.exec(words)?.[1]
    if (named !== undefined) {
      const message = `${lock}: ${named} (WRONGTYPE). Use another name for one of the two.`
      return new RedisRefusedError(message, this.#lockName, causeOf(failure))
    }
    // Of several masters each has its words.
    const said = isOfMasters(words) ? words : `Redis answered "${words}"`
    return new RedisRefusedError(
      `${lock}: ${said}${failure.permanent ? '' : ` for ${forMs} ms`}.${nextStep(words)}`,
      this.#lockName,
      causeOf(failure),
      !failure.permanent,
    )
  }

  /** A failure from before this operation began is not its own. */
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
    // A client that never had an answer has the wrong address rather than an outage.
    const isPatient = failure.isOutage && this.#limits.responseTime.hasAnswer
    return (isPatient ? this.#patienceMs : this.#limits.outageMs) - this.#failingMs
  }
}

const isOfMasters = (words: string): boolean => words.startsWith('no majority')

/** What ioredis or the network said, from under our own words for it. */
function causeOf(failure: unknown): unknown {
  let cause = failure
  while (cause instanceof CallFailure && cause.cause !== undefined) cause = cause.cause
  return cause
}
