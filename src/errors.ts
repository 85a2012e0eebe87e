/** The stable codes of all errors that Holdfast rejects with. */
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
 * The base of all errors of Holdfast. Tell them apart by `code`, which stays the same between
 * releases; `instanceof` also holds between the ESM and the CommonJS copy of the package.
 */
export class HoldfastError extends Error {
  readonly code: HoldfastErrorCode
  /** The name in question, as it was given to `getLock` or the like; undefined when it was none. */
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

/** An argument was refused before anything was sent. The message has the value it got. */
export class InvalidArgumentError extends HoldfastError {
  constructor(message: string, lockName?: string) {
    super('HOLDFAST_INVALID_ARGUMENT', message, { lockName })
  }
}

/** What was asked of a lease comes after its release. */
export function releasedError(lockName: string, { noun } = OF_LOCK): InvalidArgumentError {
  return new InvalidArgumentError(
    `The lease of ${noun.toLowerCase()} "${lockName}" was released, by its release() or at the end of using(). ` +
      'Wait for all of the work inside.',
    lockName,
  )
}

/** `unlock()` was called by an owner who holds nothing. Nothing was changed. */
export class NotHeldError extends HoldfastError {
  constructor(message: string, lockName: string) {
    super('HOLDFAST_NOT_HELD', message, { lockName })
  }
}

/** How a lease was lost. */
export type LossReason =
  /** Its time ran out: a fixed lease was outlived, or no renewal was confirmed in time. */
  | 'expired'
  /** The server answered that the owner does not hold the lock any more. */
  | 'gone'
  /**
   * `forceUnlock()` of this client took it away, or an `unlock()` that may have been another task's
   * ended it.
   */
  | 'forced'

/** The lease ended before its holder released it. What was done since may have overlapped. */
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
 * Several locks of a `MultiLock` were not released as they should be. The others were; those that
 * Redis did not confirm are tried on in the background, and end with their leases at the latest.
 */
export class NotReleasedError extends HoldfastError {
  /** What happened to each. */
  readonly errors: readonly Error[]

  constructor(errors: readonly Error[], lockName: string, cause?: unknown, more = '') {
    const each = errors.map(({ message }) => message).join('\n')
    super(
      'HOLDFAST_NOT_RELEASED',
      `${errors.length} locks of "${lockName}" were not released as they should be:\n${each}${more}`,
      {
        lockName,
        cause: cause ?? new AggregateError(errors),
      },
    )
    this.errors = errors
  }
}

/** Who a client is, as it tells others at the same place. */
export interface ClientInfo {
  /** Its id: the first part of the names of its owners. */
  readonly client: string
  /** Its `label`: host and pid, unless it was given another. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /** Of Holdfast. */
  readonly version: string
  /** When the client was made, by the clock of its host, in milliseconds since 1970. */
  readonly startedAt: number
}

/** Why an attempt to acquire a lock came to nothing, as far as it is known without asking for it. */
export interface WhyNotAcquired {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  /**
   * `held`: somebody has it, or goes before. `free`: nobody has it, by now. `unset`: nobody has set how many
   * permits a semaphore has. `outage`: Redis could not tell. `failed`: something else, as the `text` has it.
   */
  readonly outcome: 'held' | 'free' | 'unset' | 'outage' | 'failed'
  /** Who had it when that was last seen, as `<clientId>:<owner>`; null where that is not known. */
  readonly holder: string | null
  /** Who the client of the holder is; null where that is not known. */
  readonly process: ClientInfo | null
  /**
   * For how long the holder had it then, in milliseconds. Null where nothing tells: if `why()` had to ask who has it
   * now, of a majority of masters, of clients of Redisson, and of readers of an older Holdfast.
   */
  readonly ageMs: number | null
  /** What was left of its lease then, in milliseconds; null where that is not known, or it has no expiry. */
  readonly ttlMs: number | null
  /** Of a fair lock, the place in its queue when it came to that, or 1 where it was seen to be the next. */
  readonly queuePosition: number | null
  /** Of a fair lock that was tried once, how many queue for it. */
  readonly queueLength: number | null
  /** When that was seen, by the clock of this host, in milliseconds since 1970. */
  readonly at: number
  /** All of that in a sentence. */
  readonly text: string
}

/** Redis could not be reached or gave no answer in time. Never used for contention. */
export class RedisUnavailableError extends HoldfastError {
  /** Of an acquisition: who was seen to have the lock before, if anybody. */
  declare why?: WhyNotAcquired
  /**
   * For the events `error` and `outage`: which server is out, for how long in milliseconds, and how many attempts have
   * failed.
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

/** How errors speak of what a name is that of. */
export interface Words {
  readonly noun: string
  /** What an outage leaves open. */
  readonly unavailable: string
}

export const OF_LOCK: Words = {
  noun: 'Lock',
  unavailable: 'This says nothing about who holds the lock.',
}

/** An outage, in words for people: what did not come about, and what was heard of Redis. */
export function unavailableError(
  lockName: string,
  what: string,
  heard: string,
  cause?: unknown,
  { noun, unavailable } = OF_LOCK,
  step = 'Check that Redis is up and can be reached, with this address, login and TLS.',
): RedisUnavailableError {
  return new RedisUnavailableError(
    `${noun} "${lockName}": ${what}: ${heard}. ${unavailable} ${step}`,
    lockName,
    cause,
  )
}

/**
 * Whether the refusal passes by itself: of a server that starts, is full or fails over.
 *
 * @internal
 */
export let refusalPasses: (error: RedisRefusedError) => boolean

/** Redis answered with an error; its words are in the message and in `cause`. */
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

/** The client was closed with `close()`: before the call, or while it was waiting. */
export class ClosedError extends HoldfastError {
  constructor(message: string, lockName?: string, cause?: unknown) {
    super('HOLDFAST_CLOSED', message, { lockName, cause })
  }
}
