/** How a call to a place failed; what matters is what may have happened there. */
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

/** Those that do not pass by themselves. Whether a refusal does is known to the place alone. */
const PERMANENT: readonly FailureKind[] = ['unsupported', 'closed', 'misused']

/** A call to a place that brought no answer of use. Internal: callers see it as a `cause`. */
export class CallFailure extends Error {
  readonly kind: FailureKind

  /** Whether trying again is pointless until somebody changes something. */
  readonly permanent: boolean
  /** Whether the place cannot be reached, is silent, or fails over: those who wait may outlast that. */
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

/** An answer that is none of those that a script gives: whether it ran is as unknown as without one. */
export class OddAnswer extends CallFailure {
  /** @param script its name */
  constructor(script: string, reply: unknown) {
    const message = `it gave the invalid answer ${shown(reply)} to the script "${script}"`
    super('unknown', message, undefined, false, false)
  }
}

const MOST_SHOWN = 120

/** An answer in words, and in short. */
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
