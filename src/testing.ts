import { Holdfast } from './holdfast.ts'
import type { HoldfastOptions } from './options.ts'
import { MemoryConnection } from './servers/memory/memory-connection.ts'
import { MemoryServer as Server } from './servers/memory/memory-server.ts'

/** The options of a client whose locks live in memory: those of `new Holdfast` that need no Redis. */
export type MemoryClientOptions = Omit<HoldfastOptions, 'redis' | 'masters' | 'watchdogThread'>

/** Where locks live for the tests of one process: it needs no Redis, and opens no connection. */
export interface MemoryServer {
  /**
   * A client of this server. It has all methods of a client of Redis and all kinds of locks but
   * RedLocks, and behaves as they do; its locks exclude those of the other clients of this server.
   * Each client stands for a process of its own. Close it, or leave it: it keeps no process alive
   * that has nothing under way.
   *
   * @throws `InvalidArgumentError` for options that are unknown or of no use
   */
  newClient(options?: MemoryClientOptions): Holdfast
}

/**
 * A server for tests: locks with leases, tokens, queues and messages, in the memory of this process
 * and for nobody outside of it. Make one for each test, or one for each file.
 *
 * Its leases end by `Date.now()`.
 */
export function createMemoryServer(): MemoryServer {
  const server = new Server()
  return { newClient: (options = {}) => clientOf(server, options) }
}

/**
 * A client of a server in memory.
 *
 * @internal
 */
export function clientOf(server: Server, options: MemoryClientOptions): Holdfast {
  return new Holdfast(options, ({ counterTtlMs }) => {
    const connection = new MemoryConnection(server, counterTtlMs)
    return {
      server: connection,
      keyPrefix: '',
      clustered: false,
      close: async () => connection.close(),
    }
  })
}
