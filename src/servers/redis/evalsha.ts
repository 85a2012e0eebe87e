import { Command } from 'ioredis'
import type { CallFailure } from '../call-failure.ts'
import { OddAnswer } from '../call-failure.ts'
import { type Client, isCluster } from './open-client.ts'
import { readOr } from './replies.ts'
import type { Args, Read, Script } from './scripts/script.ts'

/** What sends to one server, and waits for the answer. */
interface Sender {
  call<T>(timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T>
}

/**
 * Runs a script by its hash; a server that does not know it (a restart, SCRIPT FLUSH, a failover,
 * an evicted script) gets the source, once.
 *
 * @param argsNow called each time that it is sent
 * @returns what was read. Where there is no answer of use it rejects with a `CallFailure` and nothing
 * else, after `timeoutMs` at most
 */
export function runScript<T>(
  connection: Sender,
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
