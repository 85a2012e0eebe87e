/** The stable codes of all Holdfast errors. */
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
 * The base class of all Holdfast errors. Distinguish errors by `code`, which stays the same between releases.
 * `instanceof` also works between the ESM and the CommonJS copy of the package.
 */
export class HoldfastError extends Error {
  readonly code: HoldfastErrorCode
  /** The name that was given to `getLock` or a similar method; undefined if the error is not about one name. */
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

/** Holdfast refused an argument and sent nothing. The message contains the value. */
export class InvalidArgumentError extends HoldfastError {
  constructor(message: string, lockName?: string) {
    super('HOLDFAST_INVALID_ARGUMENT', message, { lockName })
  }
}

/** Makes the error for a call of a lease that has been released. */
export function releasedError(lockName: string, { noun } = OF_LOCK): InvalidArgumentError {
  return new InvalidArgumentError(
    `The lease of ${noun.toLowerCase()} "${lockName}" was released, by its release() or at the end of using(). ` +
      'Await all work that uses the lease before its release.',
    lockName,
  )
}

/** The owner that called `unlock()` holds nothing. The call changed nothing. */
export class NotHeldError extends HoldfastError {
  constructor(message: string, lockName: string) {
    super('HOLDFAST_NOT_HELD', message, { lockName })
  }
}

/** The reason why a lease was lost. */
export type LossReason =
  /** Its time ended: a fixed lease expired, or no renewal was confirmed in time. */
  | 'expired'
  /** The server answered that the owner no longer holds the lock. */
  | 'gone'
  /**
   * This client ended the hold: by `forceUnlock()`, by an `unlock()` that may belong to another
   * task, or by `release()` or `delete()` of a semaphore.
   */
  | 'forced'

/** The lease ended before its holder released it. Work done since then may have overlapped with the next holder. */
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
 * Some locks of a `MultiLock` were not released as expected. All others were released. If Redis did not confirm a
 * release, the client retries it in the background; that lock ends with its lease at the latest.
 */
export class NotReleasedError extends HoldfastError {
  /** The error of each lock that failed. */
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

/** How a client describes itself to other clients of the same Redis. */
export interface ClientInfo {
  /** The id of the client. The owner ids of its owners begin with it. */
  readonly client: string
  /** The `label` of the client. Its default is host and pid. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /** The version of Holdfast. */
  readonly version: string
  /** When the client was created, in milliseconds since 1970 by the clock of its host. */
  readonly startedAt: number
}

/** Why an attempt to acquire a lock failed, as far as the client knows. */
export interface WhyNotAcquired {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  /**
   * `held`: another owner holds the lock, or is ahead in the queue. `free`: the lock is free now. `unset`: the
   * semaphore has no permits, because no client set their number. `outage`: Redis did not answer. `failed`: another
   * reason, described in `text`.
   */
  readonly outcome: 'held' | 'free' | 'unset' | 'outage' | 'failed'
  /** The holder in the last answer of the server, as `<clientId>:<owner>`; null if unknown. */
  readonly holder: string | null
  /** The client of the holder; null if unknown. */
  readonly process: ClientInfo | null
  /**
   * How long the holder had held the lock at the time `at`, in milliseconds; null if unknown. It is unknown for a
   * majority of masters, for clients of Redisson, and for readers of an older Holdfast. It is also unknown if `why()`
   * had to ask Redis for the current holder.
   */
  readonly ageMs: number | null
  /** The remaining lease at the time `at`, in milliseconds; null if unknown, or if the lock has no expiry. */
  readonly ttlMs: number | null
  /** For a fair lock: the caller's position in the queue then; 1 means the head of the queue. */
  readonly queuePosition: number | null
  /** For a fair lock that was tried once: how many callers queue for it. */
  readonly queueLength: number | null
  /** When the server reported this, in milliseconds since 1970 by the clock of this host. */
  readonly at: number
  /** The explanation in words. */
  readonly text: string
}

/** Redis could not be reached, or did not answer in time. Contention never causes this error. */
export class RedisUnavailableError extends HoldfastError {
  /** For an acquisition: explains who held the lock, if known. */
  declare why?: WhyNotAcquired
  /**
   * For the events `error` and `outage`: the server that is down, for how long in milliseconds, and how many attempts
   * have failed.
   */
  declare outage?: {
    readonly address: string
    readonly durationMs: number
    readonly attempts: number
  }

  constructor(message: string, lockName?: string, cause?: unknown) {
    super('HOLDFAST_UNAVAILABLE', message, { lockName, cause })
  }
}

/** The words of error messages for one sort of object: locks, semaphores or latches. */
export interface Words {
  readonly noun: string
  /** A sentence about the state that is unknown in an outage. */
  readonly unavailable: string
}

export const OF_LOCK: Words = {
  noun: 'Lock',
  unavailable: 'It is unknown who holds the lock.',
}

/** Makes the error of an outage: the step that did not happen, and how Redis failed. */
export function unavailableError(
  lockName: string,
  what: string,
  heard: string,
  cause?: unknown,
  { noun, unavailable } = OF_LOCK,
  step = 'Check that Redis is up and can be reached, with the address, login and TLS of this client.',
): RedisUnavailableError {
  return new RedisUnavailableError(
    `${noun} "${lockName}": ${what}: ${heard}. ${unavailable} ${step}`,
    lockName,
    cause,
  )
}

/**
 * True if the refusal is temporary: the server starts, is full or fails over.
 *
 * @internal
 */
export let refusalPasses: (error: RedisRefusedError) => boolean

/** Redis answered with an error. The message and `cause` contain the text of that error. */
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

/** The server is older than Redis 6.2. */
export class UnsupportedServerError extends HoldfastError {
  constructor(message: string, lockName?: string) {
    super('HOLDFAST_UNSUPPORTED_SERVER', message, { lockName })
  }
}

/** `close()` closed the client before the call, or while the call was waiting. */
export class ClosedError extends HoldfastError {
  constructor(message: string, lockName?: string, cause?: unknown) {
    super('HOLDFAST_CLOSED', message, { lockName, cause })
  }
}
