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

/** An answer that is none of those that a script gives: whether it ran is as unknown as without one. */
export class OddAnswer extends CallFailure {
  /** @param script its name */
  constructor(script: string, reply: unknown) {
    super('unknown', `it answered ${shown(reply)} to the script "${script}", which makes no sense`)
  }
}

const MOST_SHOWN = 120

/** An answer in words, and in short. */
export function shown(reply: unknown): string {
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
