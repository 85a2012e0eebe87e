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
  'NOAUTH',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'UNBLOCKED',
])

/**
 * Those of a server that is the wrong one by now: it was a master, or has lost its replicas to
 * another one, or knows nobody any more. Where the address leads elsewhere since, as that of a proxy
 * or of a service does, another connection ends there.
 */
const OF_SERVER = new Set(['MASTERDOWN', 'NOAUTH', 'NOREPLICAS', 'READONLY', 'UNBLOCKED'])

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

  /** Whether another connection may lead to a server that does not refuse it. */
  get isOfServer(): boolean {
    return this.kind === 'refused' && OF_SERVER.has(codeOf(this.message))
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

/**
 * An error from connecting: the server's own words, or those of the network. What a server says of a
 * connection passes: connections end and others are let in, logins are changed, rights are granted.
 */
export function connectionFailure(error: Error): CallFailure {
  if (error instanceof CallFailure) {
    if (error.kind !== 'refused' || !error.permanent) return error
    return new CallFailure('refused', error.message, error.cause, false)
  }
  if (error.name === 'ReplyError') return new CallFailure('refused', error.message, error, false)
  const nested = 'lastNodeError' in error && error.lastNodeError
  const detail = nested instanceof Error ? `${error.message} ${nested.message}` : error.message
  // Ours goes on: see `openClient`.
  const told = detail.replace(' and retry is disabled', '')
  return new CallFailure('unsent', told || error.name, error)
}

/** Why nothing is sent: where a greeting had no answer that is known of all that would have followed it. */
export function unsent(failure: CallFailure): CallFailure {
  return failure.kind === 'unknown' ? new CallFailure('unsent', failure.message, failure) : failure
}

/**
 * Whether ioredis tells of what is nothing by itself: its SELECT was refused, which is sent once more
 * and told of then; or it left a connection that was being made, because Sentinel named another master.
 */
export function isNoNews(error: Error & { command?: { name?: string } }): boolean {
  if (error.name === 'ReplyError') return error.command?.name === 'select'
  return error.message === 'Connection is closed.'
}
