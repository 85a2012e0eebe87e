import { Command } from 'ioredis'
import type { Connection } from './connection.ts'
import type { CallFailure } from './failure.ts'
import { type Client, isCluster } from './open.ts'

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

/**
 * Runs a script by its hash; a server that does not know it (a restart, SCRIPT FLUSH, a failover,
 * an evicted script) gets the source, once.
 *
 * @param argsNow called each time that it is sent
 * @returns the reply; rejects with a `CallFailure` and nothing else, after `timeoutMs` at most
 */
export function runScript(
  connection: Connection,
  script: Script,
  keys: readonly string[],
  argsNow: () => Args,
  timeoutMs: number,
): Promise<unknown> {
  const endsAt = performance.now() + timeoutMs
  const command = (name: 'evalsha' | 'eval', text: string) => (client: Client) =>
    sendTo(client, name, [text, keys.length, ...keys, ...argsNow()])
  return connection
    .call(timeoutMs, command('evalsha', script.sha1))
    .catch((failure: CallFailure) => {
      if (failure.kind !== 'refused' || !failure.message.startsWith('NOSCRIPT')) throw failure
      const leftMs = Math.max(1, endsAt - performance.now())
      return connection.call(leftMs, command('eval', script.source))
    })
}

/** What `client.evalsha()` does, without its ways to pass arguments, which take their time. */
function sendTo(
  client: Client,
  name: 'evalsha' | 'eval',
  args: [script: string, keys: number, ...others: (string | number)[]],
): Promise<unknown> {
  // A cluster client is of the user's own copy of ioredis.
  if (isCluster(client)) return client[name](...args)
  const command = new Command(name, [], { replyEncoding: 'utf8' })
  command.args = args.map(String)
  return client.sendCommand(command) as Promise<unknown>
}
