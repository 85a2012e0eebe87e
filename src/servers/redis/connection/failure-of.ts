import { withoutFullStop } from '../../../kit/without-full-stop.ts'
import { CallFailure, NotConnected } from '../../call-failure.ts'
import { NameConflict } from '../../name-conflict.ts'
import { hideLogin } from './hide-login.ts'

/** Refusals that may end without the help of a person, for example while the server starts. */
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

/**
 * Refusals while a server or cluster fails over or starts. They usually end within seconds, without
 * help.
 */
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
 * Refusals that a wrong server gives, such as a former master. Another connection may reach the
 * right server, because the address may lead to another server by now.
 */
const OF_SERVER = new Set(['MASTERDOWN', 'NOAUTH', 'NOREPLICAS', 'READONLY', 'UNBLOCKED'])

/** Converts an error of ioredis to a failure. Tests cover each message text that this function reads. */
export function failureOf(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error
  hideLogin(error)
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && error.name === 'ReplyError') return refusal(message, error)
  // In a cluster, ioredis has tried several times, and each node refused the command.
  const [, last] =
    /^Too many Cluster redirections\. Last error: ReplyError: (.*)$/s.exec(message) ?? []
  if (last !== undefined) return refusal(last, error)
  if (message.includes('enableOfflineQueue options is false')) {
    return new NotConnected('unsent', 'the connection was down', error)
  }
  // The message of ioredis mentions retries, but there are none.
  const why = message.includes('max retries per request') ? '' : ` (${message})`
  return new NotConnected('unknown', `the connection broke before the answer${why}`, error)
}

/** The server answered with an error. */
export class Refusal extends CallFailure {
  constructor(reply: string, cause: unknown, permanent: boolean, isOutage = false) {
    super('refused', reply, cause, permanent, isOutage)
  }

  /** The code that decides the advice for the user, such as `OOM`. */
  get code(): string {
    const { message } = this
    // Redis 6.2 names no code for a missing right inside a script.
    if (/executing the script can't run this command/.test(message)) return 'NOPERM'
    if (/unknown command/i.test(message)) return UNKNOWN_COMMAND
    return (/@user_script: ?\d+: -?([A-Z]+) /.exec(message) ?? /^(\S*)/.exec(message))?.[1] ?? ''
  }
}

/** The code of a command that the server does not have. */
export const UNKNOWN_COMMAND = 'unknown command'

/** Converts an error reply of the server to a failure. */
export function refusal(reply: string, cause?: unknown): CallFailure {
  const [, conflict] = /^WRONGTYPE (an? .* has (?:this|the) name.*)$/s.exec(reply) ?? []
  if (conflict !== undefined) {
    return new NameConflict(withoutFullStop(conflict), reply, hideLogin(cause))
  }
  const code = codeOf(reply)
  return new Refusal(reply, hideLogin(cause), !PASSING.has(code), FAILING_OVER.has(code))
}

/** True if another connection may lead to a server that does not refuse the request. */
export function isWrongServer({ kind, message }: CallFailure): boolean {
  return kind === 'refused' && OF_SERVER.has(codeOf(message))
}

/** True if the server or cluster is not ready for any client. */
export function isNotReady({ kind, message }: CallFailure): boolean {
  const code = codeOf(message)
  return kind === 'refused' && (code === 'LOADING' || code === 'CLUSTERDOWN')
}

/**
 * Returns the code of an error reply, such as `WRONGTYPE` or `OOM`. Usually, the first word is the
 * code. Redis 6.2 puts a position in the script before the code:
 * `ERR Error running script (…): @user_script:9: @user_script: 9: -OOM …`.
 */
export function codeOf(reply: string): string {
  return (/@user_script: \d+: -([A-Z]+) /.exec(reply) ?? /^(\S*)/.exec(reply))?.[1] ?? ''
}

/** Matches the codes of network errors. For a Sentinel, ioredis puts the code only into the message. */
const OF_NETWORK = /\bE(?:CONN|HOST|NET|PIPE)[A-Z]+|ENOTFOUND|EAI_|ETIMEDOUT/

/**
 * Converts an error of an attempt to connect. A refusal always counts as temporary, because other
 * clients may close their connections, and people may change logins and rights.
 */
export function connectionFailure(error: Error): CallFailure {
  if (error instanceof CallFailure) {
    if (error.kind !== 'refused' || !error.permanent) return error
    return new Refusal(error.message, error.cause, false)
  }
  hideLogin(error)
  if (error.name === 'ReplyError') return new Refusal(error.message, error, false)
  const nested = 'lastNodeError' in error && error.lastNodeError
  const detail = nested instanceof Error ? `${error.message} ${nested.message}` : error.message
  // ioredis says that retry is disabled, but Holdfast does retry: see `openClient`.
  const reported = detail.replace(' and retry is disabled', '').trim()
  const isOfNetwork = OF_NETWORK.test(reported)
  return new (isOfNetwork ? NotConnected : CallFailure)('unsent', reported || error.name, error)
}

/**
 * Converts the failure of the handshake to the failure of a command. The client sends no command
 * before the answer to the handshake.
 */
export function unsent(failure: CallFailure): CallFailure {
  return failure.kind === 'unknown' ? new CallFailure('unsent', failure.message, failure) : failure
}

/**
 * True for two errors of ioredis that the client does not report. The first is a refused SELECT,
 * which Holdfast repeats. The second ends an attempt to connect, because Sentinel named another
 * master.
 */
export function isNoNews(error: Error & { command?: { name?: string } }): boolean {
  if (error.name === 'ReplyError') return error.command?.name === 'select'
  return error.message === 'Connection is closed.'
}
