/** How a call to Redis failed; what matters is what may have happened on the server. */
type FailureKind =
  /** It was never sent: nothing happened. */
  | 'unsent'
  /** It was sent and no answer came: it may have run, or may run yet. */
  | 'unknown'
  /** The server answered with an error: nothing was changed. */
  | 'refused'
  /** The server is too old to work with. */
  | 'unsupported'
  /** The client was closed: nothing happened. */
  | 'closed'
  /** What was asked for makes no sense: nothing was changed. */
  | 'misused'

/** Refusals that pass by themselves: a server that starts, is full, fails over or is busy. */
const PASSING = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'UNBLOCKED',
])

/** A call to Redis that brought no answer of use. Internal: callers see it as a `cause`. */
export class CallFailure extends Error {
  readonly kind: FailureKind

  /** Whether trying again is pointless until somebody changes something. */
  readonly permanent: boolean

  constructor(
    kind: FailureKind,
    message: string,
    cause?: unknown,
    permanent = isPermanent(kind, message),
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CallFailure'
    this.kind = kind
    this.permanent = permanent
  }
}

function isPermanent(kind: FailureKind, message: string): boolean {
  if (kind === 'unsupported' || kind === 'closed' || kind === 'misused') return true
  return kind === 'refused' && !PASSING.has(codeOf(message))
}

/**
 * The first word of an error reply: `WRONGTYPE`, `OOM`, … Redis 6.2 puts the place in the script in
 * front of it: `ERR Error running script (…): @user_script:9: @user_script: 9: -OOM …`.
 */
function codeOf(message: string): string {
  return (/@user_script: \d+: -([A-Z]+) /.exec(message) ?? /^(\S*)/.exec(message))?.[1] ?? ''
}

/** What ioredis rejected with, as a failure. Every message of its own that is listed is tested. */
export function failureOf(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && error.name === 'ReplyError') {
    return new CallFailure('refused', message, error)
  }
  if (message.includes('enableOfflineQueue options is false')) {
    return new CallFailure('unsent', 'the connection was down', error)
  }
  // ioredis speaks of its retries, of which there are none.
  const why = message.includes('max retries per request') ? '' : ` (${message})`
  return new CallFailure('unknown', `the connection broke before the answer${why}`, error)
}

/** An error from connecting: the server's own words, or those of the network. */
export function connectionFailure(error: Error): CallFailure {
  if (error.name === 'ReplyError') return new CallFailure('refused', error.message, error)
  const nested = 'lastNodeError' in error && error.lastNodeError
  const detail = nested instanceof Error ? `${error.message} ${nested.message}` : error.message
  return new CallFailure('unsent', detail || error.name, error)
}
