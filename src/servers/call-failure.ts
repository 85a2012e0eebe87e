/** How a call to a server failed. The kinds differ in what may have happened at the server. */
type FailureKind =
  /** It was not sent, so nothing happened. */
  | 'unsent'
  /** It was sent and had no answer. It may have run, or may still run. */
  | 'unknown'
  /** The server answered with an error and changed nothing. */
  | 'refused'
  /** The server is too old to run the scripts. */
  | 'unsupported'
  /** The client was closed, so nothing happened. */
  | 'closed'
  /** The request was invalid, and nothing was changed. */
  | 'misused'

/**
 * The kinds of failures that remain until a person changes something. For `refused`, the caller of
 * the constructor decides.
 */
const PERMANENT: readonly FailureKind[] = ['unsupported', 'closed', 'misused']

/**
 * The failure of a call to a server. Internal: users see it only as the `cause` of another error.
 */
export class CallFailure extends Error {
  readonly kind: FailureKind

  /** True if another attempt is pointless until a person changes something. */
  readonly permanent: boolean
  /**
   * True if the server is unreachable, silent or failing over. Waiters may wait until that ends.
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

/** The server gave an answer that the script never gives. The script may still have run. */
export class OddAnswer extends CallFailure {
  constructor(script: string, reply: unknown) {
    const message = `it gave the invalid answer ${shown(reply)} to the script "${script}"`
    super('unknown', message, undefined, false, false)
  }
}

/** The grant arrived after its lease had expired, so another owner may hold the lock now. */
export class LateGrant extends CallFailure {
  constructor() {
    super('unknown', 'the lease had run out before the answer arrived', undefined, false, false)
  }
}

const MOST_SHOWN = 120

/** Shortens an answer of a server for an error message. */
function shown(reply: unknown): string {
  const words = asWords(reply)
  return words.length <= MOST_SHOWN ? words : `${words.slice(0, MOST_SHOWN)}…`
}

function asWords(reply: unknown): string {
  if (reply === null || reply === undefined) return 'nil'
  if (typeof reply === 'string') return JSON.stringify(reply)
  if (reply instanceof Error) return `the error ${JSON.stringify(reply.message)}`
  if (!Array.isArray(reply)) return typeof reply === 'object' ? 'a map' : String(reply)
  return `[${reply.slice(0, 10).map(asWords).join(', ')}${reply.length > 10 ? ', …' : ''}]`
}
