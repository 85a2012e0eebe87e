import type { WhyNotAcquired } from './why-not-acquired.ts'

/** The codes of all Holdfast errors. A code does not change between releases. */
export type HoldfastErrorCode =
  | 'HOLDFAST_INVALID_ARGUMENT'
  | 'HOLDFAST_NOT_HELD'
  | 'HOLDFAST_WAIT_TIMEOUT'
  | 'HOLDFAST_LEASE_LOST'
  | 'HOLDFAST_UPGRADE'
  | 'HOLDFAST_RESIGNED'
  | 'HOLDFAST_RELEASE_REQUESTED'
  | 'HOLDFAST_NOT_RELEASED'
  | 'HOLDFAST_UNAVAILABLE'
  | 'HOLDFAST_NOT_DURABLE'
  | 'HOLDFAST_REFUSED'
  | 'HOLDFAST_UNSUPPORTED_SERVER'
  | 'HOLDFAST_CLOSED'

const brand = Symbol.for('holdfast.error')

/**
 * The base class of all Holdfast errors. Use `code` to find out which error occurred: a code does not change between
 * releases. `instanceof` also works between the ESM and the CommonJS copy of the package.
 */
export class HoldfastError extends Error {
  readonly code: HoldfastErrorCode
  /** The `name` of the lock or other object. Undefined if the error is not about exactly one object. */
  readonly lockName: string | undefined

  constructor(
    code: HoldfastErrorCode,
    message: string,
    options: { lockName?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.lockName = options.lockName
    Object.defineProperty(this, brand, { value: new.target.name })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false
    const name: unknown = (value as { [brand]?: unknown })[brand]
    return this === HoldfastError ? name !== undefined : name === this.name
  }
}

/** Holdfast refused an argument or a call, usually without a request. The message usually has the refused value. */
export class InvalidArgumentError extends HoldfastError {
  constructor(message: string, lockName?: string) {
    super('HOLDFAST_INVALID_ARGUMENT', message, { lockName })
  }
}

/** Makes the error for the use of a lease that was released before. */
export function releasedError(lockName: string, { noun } = OF_LOCK): InvalidArgumentError {
  return new InvalidArgumentError(
    `The lease of ${noun.toLowerCase()} "${lockName}" was released, by its release() or at the end of using(). ` +
      'Await all work that uses the lease before its release.',
    lockName,
  )
}

/** The caller of `unlock()` does not hold the lock. The call changed nothing. */
export class NotHeldError extends HoldfastError {
  constructor(message: string, lockName: string) {
    super('HOLDFAST_NOT_HELD', message, { lockName })
  }
}

/** Why a lease was lost. */
export type LossReason =
  /** The lease expired: it was fixed, no renewal was confirmed in time, or `maxHoldMs` or `maxDrainMs` was over. */
  | 'expired'
  /** The server answered that the owner no longer holds the lock. */
  | 'gone'
  /**
   * This client ended the hold: by `forceUnlock()`, by an `unlock()` that may belong to another task, or by `release()`
   * or `delete()` of a semaphore.
   */
  | 'forced'

/** The lease ended before its holder released it. Work since then may have overlapped with the next holder's work. */
export class LeaseLostError extends HoldfastError {
  readonly reason: LossReason
  /** The fencing token of the lost lease. */
  readonly token: number

  constructor(
    message: string,
    lockName: string,
    reason: LossReason,
    token: number,
    cause?: unknown,
  ) {
    super('HOLDFAST_LEASE_LOST', message, { lockName, cause })
    this.reason = reason
    this.token = token
  }
}

/**
 * Some locks of a `MultiLock` were not released as expected. All other locks were released. If Redis did not confirm a
 * release, the client retries this release in the background. The lock is free at the latest when its lease ends.
 */
export class NotReleasedError extends HoldfastError {
  /** One error for each lock that was not released as expected. */
  readonly errors: readonly Error[]

  constructor(errors: readonly Error[], lockName: string, cause?: unknown, more = '') {
    const each = errors.map(({ message }) => message).join('\n')
    const count = errors.length === 1 ? '1 lock' : `${errors.length} locks`
    super(
      'HOLDFAST_NOT_RELEASED',
      `Not released as expected: ${count} of "${lockName}":\n${each}${more}`,
      {
        lockName,
        cause: cause ?? new AggregateError(errors),
      },
    )
    this.errors = errors
  }
}

/** Redis could not be reached, or did not answer in time. A lock that another owner holds never causes this error. */
export class RedisUnavailableError extends HoldfastError {
  /** The known facts about the lock when an acquisition failed. Undefined for permits, and for other calls. */
  declare why?: WhyNotAcquired
  /** In the events `error` and `outage`: the server's address, how long it has been down, and the failed attempts. */
  declare outage?: {
    readonly address: string
    readonly durationMs: number
    readonly attempts: number
  }

  constructor(message: string, lockName?: string, cause?: unknown) {
    super('HOLDFAST_UNAVAILABLE', message, { lockName, cause })
  }
}

/** The words that error messages use for one kind of object, such as locks or latches. */
export interface Words {
  readonly noun: string
  /** A sentence that says what is unknown during an outage. */
  readonly unavailable: string
}

export const OF_LOCK: Words = {
  noun: 'Lock',
  unavailable: 'It is unknown who holds the lock.',
}

/**
 * Makes the error of an outage. `what` says what was not done, such as `not acquired`. `answer` says how the server
 * failed, and `advice` says what the user can do.
 */
export function unavailableError(
  lockName: string,
  what: string,
  answer: string,
  advice: string,
  cause?: unknown,
  { noun, unavailable } = OF_LOCK,
): RedisUnavailableError {
  return new RedisUnavailableError(
    `${noun} "${lockName}": ${what}: ${answer}. ${unavailable} ${advice}`,
    lockName,
    cause,
  )
}

/**
 * True if the server refused the request for a temporary reason: the server is starting, is full or fails over.
 *
 * @internal
 */
export let refusalPasses: (error: RedisRefusedError) => boolean

/** Redis answered with an error. Usually the message and `cause` contain the text of the answer. */
export class RedisRefusedError extends HoldfastError {
  readonly #passes: boolean

  static {
    refusalPasses = (error) => #passes in error && error.#passes
  }

  constructor(message: string, lockName?: string, cause?: unknown, passes = false) {
    super('HOLDFAST_REFUSED', message, { lockName, cause })
    this.#passes = passes
  }
}

/** The server is older than Redis 6.2, so it cannot run the scripts. */
export class UnsupportedServerError extends HoldfastError {
  constructor(message: string, lockName?: string) {
    super('HOLDFAST_UNSUPPORTED_SERVER', message, { lockName })
  }
}

/** The client is closing or is closed. `close()` was called before the rejected call, or while that call waited. */
export class ClosedError extends HoldfastError {
  constructor(message: string, lockName?: string, cause?: unknown) {
    super('HOLDFAST_CLOSED', message, { lockName, cause })
  }
}
