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
  /** The server is too old to run the scripts. */
  | 'unsupported'
  /** The client was closed before it sent the request, so the server did nothing. */
  | 'closed'
  /** The request was invalid, so the server changed nothing. */
  | 'misused'

/**
 * The kinds after which a retry is pointless. For `refused`, the code that creates the failure
 * decides.
 */
const PERMANENT: readonly FailureKind[] = ['unsupported', 'closed', 'misused']

/** The failure of a call to a server. Users see it only as the `cause` of another error. */
export class CallFailure extends Error {
  readonly kind: FailureKind

  /** True if a retry fails too, until a person changes something. */
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

/** The server gave an answer that the script never gives. The server may have run the script. */
export class OddAnswer extends CallFailure {
  constructor(script: string, reply: unknown) {
    const message = `it gave the invalid answer ${shown(reply)} to the script "${script}"`
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

const MOST_SHOWN = 120

/** Returns an answer of a server as short text for an error message. */
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
