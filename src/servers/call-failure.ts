/** How a call to a server failed. Each kind says what the server may have done. */
type FailureKind =
  /** The client did not send the request, so the server did nothing. */
  | 'unsent'
  /**
   * The client sent the request and received no answer. The server may have run the request, or may
   * still run it.
   */
  | 'unknown'
  /** The server answered with an error and changed nothing. */
  | 'refused'
  /** The server is too old. */
  | 'unsupported'
  /** The client was closed before it sent the request, so the server did nothing. */
  | 'closed'
  /** The request was invalid, so the server changed nothing. */
  | 'misused'

/**
 * By default, a failure of one of these kinds is permanent: a retry is pointless. The argument
 * `permanent` overrides this default.
 */
const PERMANENT: readonly FailureKind[] = ['unsupported', 'closed', 'misused']

/**
 * The failure of a call to a server. Users usually see this error as the `cause` of another error.
 */
export class CallFailure extends Error {
  readonly kind: FailureKind

  /** True if every retry fails until a person changes something. */
  readonly permanent: boolean
  /**
   * True if the server is unreachable, silent or failing over. Waiters may wait until the outage
   * ends.
   */
  readonly isOutage: boolean

  constructor(kind: Exclude<FailureKind, 'refused'>, message: string, cause?: unknown)
  constructor(
    kind: FailureKind,
    message: string,
    cause: unknown,
    permanent: boolean,
    isOutage?: boolean,
  )
  constructor(
    kind: FailureKind,
    message: string,
    cause?: unknown,
    permanent = PERMANENT.includes(kind),
    isOutage = kind === 'unsent' || kind === 'unknown',
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CallFailure'
    this.kind = kind
    this.permanent = permanent
    this.isOutage = isOutage
  }
}

/** The client has no connection to the server, or lost the connection before the answer. */
export class NotConnected extends CallFailure {
  constructor(kind: 'unsent' | 'unknown', message: string, cause?: unknown) {
    super(kind, message, cause)
  }
}

/** The server sent no answer in time. */
export class NoAnswer extends CallFailure {
  constructor(kind: 'unsent' | 'unknown', message: string) {
    super(kind, message)
  }
}

/** The server sent an invalid answer. The server may have run the request. */
export class OddAnswer extends CallFailure {
  constructor(message: string) {
    super('unknown', message, undefined, false, false)
  }
}

/**
 * The failure of a grant that arrived after its lease had expired. Another owner may hold the lock
 * now.
 */
export class LateGrant extends CallFailure {
  constructor() {
    super('unknown', 'the lease had run out before the answer arrived', undefined, false, false)
  }
}
