import { CallFailure } from '../../call-failure.ts'
import { hideLogin } from './hide-login.ts'

/** Refusals that pass by themselves: a server that starts, is full, fails over or is busy, or slots that move. */
const PASSING = new Set([
  'ASK',
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOAUTH',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'UNBLOCKED',
])

/** Those of a server, or a cluster, that fails over or starts: they end within seconds, and without anybody's help. */
const FAILING_OVER = new Set([
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'NOREPLICAS',
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

/** What ioredis rejected with, as a failure. Every message of its own that is listed is tested. */
export function failureOf(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error
  hideLogin(error)
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && error.name === 'ReplyError') return refusal(message, error)
  // Of a cluster, where each node refused it: ioredis tries 16 times.
  const [, last] =
    /^Too many Cluster redirections\. Last error: ReplyError: (.*)$/s.exec(message) ?? []
  if (last !== undefined) return refusal(last, error)
  if (message.includes('enableOfflineQueue options is false')) {
    return new CallFailure('unsent', 'the connection was down', error)
  }
  // ioredis speaks of its retries, of which there are none.
  const why = message.includes('max retries per request') ? '' : ` (${message})`
  return new CallFailure('unknown', `the connection broke before the answer${why}`, error)
}

/** An error reply of the server, as a failure. */
export function refusal(reply: string, cause?: unknown): CallFailure {
  const code = codeOf(reply)
  return new CallFailure(
    'refused',
    reply,
    hideLogin(cause),
    !PASSING.has(code),
    FAILING_OVER.has(code),
  )
}

/** Whether another connection may lead to a server that does not refuse it. */
export function isWrongServer({ kind, message }: CallFailure): boolean {
  return kind === 'refused' && OF_SERVER.has(codeOf(message))
}

/** Whether the server, or the cluster, serves nobody yet. */
export function isNotReady({ kind, message }: CallFailure): boolean {
  const code = codeOf(message)
  return kind === 'refused' && (code === 'LOADING' || code === 'CLUSTERDOWN')
}

/**
 * The first word of an error reply: `WRONGTYPE`, `OOM`, … Redis 6.2 puts the place in the script in
 * front of it: `ERR Error running script (…): @user_script:9: @user_script: 9: -OOM …`.
 */
export function codeOf(reply: string): string {
  return (/@user_script: \d+: -([A-Z]+) /.exec(reply) ?? /^(\S*)/.exec(reply))?.[1] ?? ''
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
  hideLogin(error)
  if (error.name === 'ReplyError') return new CallFailure('refused', error.message, error, false)
  const nested = 'lastNodeError' in error && error.lastNodeError
  const detail = nested instanceof Error ? `${error.message} ${nested.message}` : error.message
  // Ours goes on: see `openClient`.
  const told = detail.replace(' and retry is disabled', '').trim()
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
