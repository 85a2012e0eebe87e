import type { Holdfast } from './holdfast.ts'
import { type MemoryClientOptions, newMemoryClient } from './memory-client.ts'
import { MemoryServer as Server } from './servers/memory/memory-server.ts'

export type { MemoryClientOptions } from './memory-client.ts'

/** Where locks live for the tests of one process: it needs no Redis, and opens no connection. */
export interface MemoryServer {
  /**
   * A client of this server, which stands for a process of its own: its locks exclude those of the
   * other clients of this server. It has all that a client of one Redis has and behaves as that does,
   * but its locks are no votes of a RedLock. Like every client it keeps no process alive that has
   * nothing under way.
   *
   * @throws `InvalidArgumentError` for options that are unknown or of no use
   */
  newClient(options?: MemoryClientOptions): Holdfast
}

/**
 * A server for tests: locks and semaphores with leases, tokens, queues and messages, in the memory of this
 * process and for nobody outside of it. Make one for each test, or one for each file.
 *
 * ```ts
 * const server = createMemoryServer()
 * const holdfast = server.newClient()
 * ```
 *
 * Its clock is `Date.now()`; its clients have `performance.now()` and timers as well. Where a test
 * replaces all of these, its fake time counts for both.
 */
export function createMemoryServer(): MemoryServer {
  const server = new Server()
  return { newClient: (options) => newMemoryClient(server, options) }
}
