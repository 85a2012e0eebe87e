import { InvalidArgumentError } from './errors.ts'
import type { Holdfast } from './holdfast.ts'
import { behind, otherCopy, refuseDetached } from './kit/handle.ts'
import { show } from './kit/show.ts'
import type { Lease } from './lease/lease.ts'
import { LocalLease } from './local/local-lease.ts'
import { type MemoryClientOptions, newMemoryClient } from './memory-client.ts'
import { boolean } from './options/input.ts'
import { or, shape } from './options/shape.ts'
import { MemoryConnection } from './servers/memory/memory-connection.ts'
import { MemoryLockServer as Server } from './servers/memory/memory-server.ts'
import { VirtualClock } from './servers/memory/virtual-clock.ts'

export type { MemoryClientOptions } from './memory-client.ts'

/** The options of `createMemoryServer`. */
export interface MemoryServerOptions {
  /**
   * With true, time stands still for the server and for all of its clients, until {@link MemoryServer.advance} moves
   * time forward. No call waits for real time, and fake timers of a test have no effect. With false, the server and its
   * clients use `Date.now()`, `performance.now()` and `setTimeout()`, or the functions with which a test replaces them.
   * False by default.
   */
  readonly virtualTime?: boolean
}

/** A server for the tests of one process. It needs no Redis, and opens no connection. */
export interface MemoryServer {
  /**
   * Returns a client of this server. Each client stands for a separate process, so its locks exclude the locks of the
   * other clients. The client behaves like a client of one Redis, but its locks cannot be votes of a RedLock. Like
   * every client, it keeps a process alive only while it has pending work.
   *
   * @throws `InvalidArgumentError` for unknown or invalid options
   */
  newClient(options?: MemoryClientOptions): Holdfast

  /**
   * Moves virtual time forward. Meanwhile the watchdog renews leases, and leases and waits end, each at its time and in
   * order. Before each step, and at the end, the call lets all work run that does not wait for time.
   *
   * When the promise resolves, all work of Holdfast that is due has ended, and your code has run its immediate
   * reactions. The call does not wait for real timers, files or sockets. Overlapping calls run one after the other.
   *
   * @param ms milliseconds; 0 only runs the work that does not wait for time
   * @returns rejects with `InvalidArgumentError` for an invalid time, and if the server uses real time
   */
  advance(ms: number): Promise<void>

  /**
   * Acquires a lock as another client of this server. The watchdog renews the lease until you release it.
   *
   * @param name the name of a free lock. If your client has a `keyPrefix`, the name begins with this prefix
   * @returns the lease of the other client. Rejects with `InvalidArgumentError` if the lock is held, and for the same
   * reasons as `lock()`
   */
  hold(name: string): Promise<Lease>

  /**
   * Ends the lease now, with all acquisitions of its hold, as if the server had granted the lock to another owner. When
   * the call returns, the signal of the lease has aborted with a `LeaseLostError` for the reason `gone`. The lock is
   * then free, or the head of the queue holds it.
   *
   * Pass the lease of a lock or of permits, from a client of {@link newClient}. For a `MultiLease`, pass one of its
   * `leases`.
   *
   * @throws `InvalidArgumentError` if the lease is over or belongs to another server, and during an outage
   */
  lose(lease: Lease): void

  /**
   * Makes the server unreachable for all clients. Each call fails at once, as with a refused connection, and the client
   * retries it as in a real outage. Pending answers are lost, although the server has executed their requests. The
   * server keeps its locks, and their leases continue.
   */
  beginOutage(): void

  /**
   * Makes the server reachable again. All clients then check the locks that they hold, and the locks that they wait
   * for.
   */
  endOutage(): void
}

/**
 * Creates a server for tests, in the memory of this process only. The server supports locks, semaphores, latches,
 * barriers and elections. Create one server for each test or for each file.
 *
 * ```ts
 * const server = createMemoryServer({ virtualTime: true })
 * const holdfast = server.newClient()
 * ```
 *
 * @throws `InvalidArgumentError` for unknown or invalid options
 */
export function createMemoryServer(options: MemoryServerOptions = {}): MemoryServer {
  const { virtualTime } = readOptions(options)
  return new TestServer(virtualTime ? new VirtualClock() : undefined)
}

const readOptions = shape('The options of createMemoryServer()', {
  virtualTime: or(boolean, false),
})

class TestServer implements MemoryServer {
  readonly #clock: VirtualClock | undefined
  readonly #server: Server
  #other: Holdfast | undefined

  constructor(clock: VirtualClock | undefined) {
    this.#clock = clock
    this.#server = clock === undefined ? new Server() : new Server(() => clock.wall, clock)
  }

  newClient(options?: MemoryClientOptions): Holdfast {
    return newMemoryClient(this.#server, options)
  }

  async advance(ms: number): Promise<void> {
    if (this.#clock === undefined) {
      throw new InvalidArgumentError(
        'advance(ms): this server uses real time. Create it with createMemoryServer({ virtualTime: true }).',
      )
    }
    if (!Number.isSafeInteger(ms) || ms < 0) {
      throw new InvalidArgumentError(
        `advance(ms) takes a whole number of milliseconds, at least 0; got ${show(ms)}.`,
      )
    }
    await this.#clock.advance(ms)
  }

  async hold(name: string): Promise<Lease> {
    this.#other ??= this.newClient({ label: 'hold() of the test' })
    const lease = await this.#other.getLock(name).tryLock()
    if (lease !== null) return lease
    throw new InvalidArgumentError(
      `hold(${show(name)}): this lock is already held. Release it first, or lose() its lease.`,
      name,
    )
  }

  lose(given: Lease): void {
    const lease = behind(given, LocalLease)
    if (lease === undefined) {
      const advice = otherCopy(given, 'The lease') ?? 'For a MultiLease, pass one of its `leases`'
      throw new InvalidArgumentError(
        `lose(lease) takes a lease of one lock; got ${show(given)}. ${advice}.`,
      )
    }
    const { lock, hold, name } = lease
    const { server } = lock.services
    if (!(server instanceof MemoryConnection && server.server === this.#server)) {
      throw new InvalidArgumentError(
        `lose(lease): the lease of "${name}" belongs to another server.`,
        name,
      )
    }
    if (!lease.live) {
      throw new InvalidArgumentError(
        `lose(lease): the lease of "${name}" is over, because it was released or lost before.`,
        name,
      )
    }
    if (this.#server.whyOut !== undefined) {
      throw new InvalidArgumentError(
        `lose(lease): the server is down, so "${name}" cannot be lost to another owner. Call endOutage() first.`,
        name,
      )
    }
    const ending = { owner: hold.id.ownerId, holds: 0, token: hold.lastToken, callMs: 1 }
    lock.remoteOf(hold).lower(ending, {
      // The next holder may be a waiter of the same client. The server sends no message to this client, so `checkAgain`
      // wakes the waiter.
      answered: (released) =>
        lock.checkAgain(released.kind === 'freed' ? released.following : undefined),
      failed: () => {},
    })
    hold.loseGone()
  }

  beginOutage(): void {
    this.#server.beginOutage()
  }

  endOutage(): void {
    this.#server.endOutage()
  }
}

refuseDetached(TestServer, 'server')
