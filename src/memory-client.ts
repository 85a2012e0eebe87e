import { connectToRecords } from './connect-records.ts'
import { Holdfast } from './holdfast.ts'
import type { HoldfastOptions } from './options/options.ts'
import { MemoryConnection } from './servers/memory/memory-connection.ts'
import type { MemoryLockServer } from './servers/memory/memory-server.ts'
import { nameRule } from './servers/redis/name-rule.ts'

/**
 * The options of a client with locks in memory: all options of `new Holdfast` that need no Redis.
 */
export type MemoryClientOptions = Omit<
  HoldfastOptions,
  'redis' | 'masters' | 'watchdogThread' | 'durability'
>

/** Creates a client of a server in memory. The client has its own connection. */
export function newMemoryClient(
  server: MemoryLockServer,
  options: MemoryClientOptions = {},
): Holdfast {
  const connect = connectToRecords(
    ({ counterTtlMs, label }, events) => new MemoryConnection(server, counterTtlMs, label, events),
    // A server in memory stands for one Redis, so it refuses the same names.
    nameRule(false),
  )
  return new Holdfast(options, connect)
}
