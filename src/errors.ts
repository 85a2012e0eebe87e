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

/** The identity of a client, as the client reports it to other clients of the same Redis. */
export interface ClientInfo {
  /** The id of the client. Every owner id of the client begins with this id. */
  readonly client: string
  /** The `label` of the client; by default the host name and the process id. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /** The version of Holdfast that the client runs. */
  readonly version: string
  /** When the client was created, in milliseconds since 1970 by the clock of its host. */
  readonly startedAt: number
}

/** Why an attempt to acquire a lock failed, as far as the client knows the reason. */
export interface WhyNotAcquired {
  /** The name that was given to `getLock` or a similar method. */
  readonly name: string
  /**
   * `held`: another owner holds the lock, or is before the caller in the queue. `free`: the lock is free now. `unset`:
   * the semaphore has no permits, because no client set their number. `outage`: Redis did not answer. `failed`: another
   * reason, which `text` describes.
   */
  readonly outcome: 'held' | 'free' | 'unset' | 'outage' | 'failed'
  /** The holder in the last answer of the server, as `<clientId>:<owner>`; null if unknown. */
  readonly holder: string | null
  /** The client to which the holder belongs; null if unknown. */
  readonly process: ClientInfo | null
  /**
   * How long the holder had held the lock at the time `at`, in milliseconds; null if unknown. The time is unknown if a
   * majority of masters holds the lock, or if `why()` had to ask Redis for the holder. The time is also unknown if the
   * holder uses Redisson, or is a reader of an older Holdfast.
   */
  readonly ageMs: number | null
  /** The remaining time of the lease at the time `at`, in ms; null if unknown, or if the lease never expires. */
  readonly ttlMs: number | null
  /** The last known position of the caller in the queue of a fair lock; 1 is the head. Null for other locks. */
  readonly queuePosition: number | null
  /** The number of clients that wait for a semaphore, or of waiters of a fair lock if the call did not queue; else null. */
  readonly queueLength: number | null
  /** When the lock was in this state, in milliseconds since 1970 by the clock of this host. */
  readonly at: number
  /** The reason as text for people. */
  readonly text: string
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
 * Makes the error of an outage. `what` is the step that did not happen, `answer` says how the server failed, and `step`
 * is the advice for the user.
 */
export function unavailableError(
  lockName: string,
  what: string,
  answer: string,
  step: string,
  cause?: unknown,
  { noun, unavailable } = OF_LOCK,
): RedisUnavailableError {
  return new RedisUnavailableError(
    `${noun} "${lockName}": ${what}: ${answer}. ${unavailable} ${step}`,
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

/** `close()` was called, before the call or during its wait. The client closes or is closed. */
export class ClosedError extends HoldfastError {
  constructor(message: string, lockName?: string, cause?: unknown) {
    super('HOLDFAST_CLOSED', message, { lockName, cause })
  }
}
