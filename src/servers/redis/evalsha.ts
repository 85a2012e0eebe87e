import { Command } from 'ioredis'
import type { CallFailure } from '../call-failure.ts'
import type { Connection } from './connection.ts'
import { type Client, isCluster } from './open-client.ts'
import { OddAnswer, readOr } from './replies.ts'

/** A Lua script as the generator writes it down from its header. */
export interface Script {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly sha1: string
  readonly source: string
}

/** What a script is given beside its keys. */
export type Args = readonly (string | number)[]

/** What to make of an answer as soon as it comes. It may ask again; what it throws rejects the call. */
export type Read<T> = (reply: unknown) => T | Promise<T>

/**
 * Runs a script by its hash; a server that does not know it (a restart, SCRIPT FLUSH, a failover,
 * an evicted script) gets the source, once.
 *
 * @param argsNow called each time that it is sent
 * @returns what was read. Where there is no answer of use it rejects with a `CallFailure` and nothing
 * else, after `timeoutMs` at most
 */
export function runScript<T>(
  connection: Connection,
  script: Script,
  keys: readonly string[],
  argsNow: () => Args,
  timeoutMs: number,
  read: Read<T>,
): Promise<T> {
  const endsAt = performance.now() + timeoutMs
  const heard = (reply: unknown) => readOr(script.name, reply, read)
  const failed = (failure: CallFailure): never => {
    throw isOfServer(failure) ? failure : new OddAnswer(script.name, failure)
  }
  const bySource = (failure: CallFailure) => {
    if (failure.kind !== 'refused' || !failure.message.startsWith('NOSCRIPT')) failed(failure)
    const leftMs = Math.max(1, endsAt - performance.now())
    const send = (client: Client) => sendTo(client, 'eval', script.source, keys, argsNow())
    return connection.call(leftMs, send).then(heard, failed)
  }
  const byHash = (client: Client) => sendTo(client, 'evalsha', script.sha1, keys, argsNow())
  return connection.call(timeoutMs, byHash).then(heard, bySource)
}

/** Errors of Redis begin with a code. Of another it is not known what became of the script. */
function isOfServer({ kind, message }: CallFailure): boolean {
  return (
    kind !== 'refused' || /^-?[A-Z][A-Z0-9_]*\b/.test(message) || message.includes('user_script')
  )
}

/** What `client.evalsha()` does, without its ways to pass arguments, which take their time. */
function sendTo(
  client: Client,
  name: 'evalsha' | 'eval',
  text: string,
  keys: readonly string[],
  args: Args,
): Promise<unknown> {
  // A cluster client is of the user's own copy of ioredis.
  if (isCluster(client)) return client[name](text, keys.length, ...keys, ...args)
  const command = new Command(name, [], { replyEncoding: 'utf8' })
  const all = [text, String(keys.length), ...keys]
  for (const arg of args) all.push(String(arg))
  command.args = all
  return client.sendCommand(command) as Promise<unknown>
}
