import type { Connection } from './connection.ts'
import { failureOf } from './failure.ts'
import type { Client } from './open.ts'

/** A Lua script as the generator writes it down from its header. */
export interface Script {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly sha1: string
  readonly source: string
}

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
  argsNow: () => readonly (string | number)[],
  timeoutMs: number,
): Promise<unknown> {
  return connection.call(timeoutMs, (client: Client) => {
    const sent = client.evalsha(script.sha1, keys.length, ...keys, ...argsNow())
    return sent.catch((error: unknown) => {
      if (!failureOf(error).message.startsWith('NOSCRIPT')) throw error
      return client.eval(script.source, keys.length, ...keys, ...argsNow())
    })
  })
}
