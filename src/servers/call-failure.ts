/** How a call to a server failed. The kinds differ in what may have happened at the server. */
type FailureKind =
  /** It was not sent, so nothing happened. */
  | 'unsent'
  /** It was sent and had no answer. It may have run, or may still run. */
  | 'unknown'
  /** The server answered with an error and changed nothing. */
  | 'refused'
  /** The server is too old. */
  | 'unsupported'
  /** The client was closed, so nothing happened. */
  | 'closed'
  /** The request was invalid, and nothing was changed. */
  | 'misused'

/**
 * Failures that do not pass by themselves. For `refused`, the caller of the constructor decides.
 */
const PERMANENT: readonly FailureKind[] = ['unsupported', 'closed', 'misused']

/** A call to a server without a useful answer. Internal: callers see it as a `cause`. */
export class CallFailure extends Error {
  readonly kind: FailureKind

  /** True if another attempt is pointless until a person changes something. */
  readonly permanent: boolean
  /** True if the server is unreachable, silent, or fails over. Waiters may wait until that ends. */
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

/** An answer that the script never gives. As without an answer, the script may have run. */
export class OddAnswer extends CallFailure {
  constructor(script: string, reply: unknown) {
    const message = `it gave the invalid answer ${shown(reply)} to the script "${script}"`
    super('unknown', message, undefined, false, false)
  }
}

const MOST_SHOWN = 120

/** An answer for a message, shortened. */
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
