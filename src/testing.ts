import { InvalidArgumentError } from './errors.ts'
import type { Holdfast } from './holdfast.ts'
import { behind, otherCopy, refuseDetached } from './kit/handle.ts'
import { show } from './kit/show.ts'
import type { Lease } from './lease/lease.ts'
import { LocalLease } from './local/local-lease.ts'
import { type MemoryClientOptions, newMemoryClient } from './memory-client.ts'
import { assertBoolean, optionsOf } from './options/input.ts'
import { MemoryConnection } from './servers/memory/memory-connection.ts'
import { MemoryServer as Server } from './servers/memory/memory-server.ts'
import { VirtualClock } from './servers/memory/virtual-clock.ts'

export type { MemoryClientOptions } from './memory-client.ts'

/** How a server in memory is made. */
export interface MemoryServerOptions {
  /**
   * Whether time stands still, for the server and all of its clients, until {@link MemoryServer.advance} lets it
   * pass; without a real wait, and whatever a test does to the timers of Node.js. By default it is false: they go by
   * `Date.now()`, `performance.now()` and `setTimeout()`, as these are when they are called.
   */
  readonly virtualTime?: boolean
}

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

  /**
   * Lets virtual time pass: leases are renewed and end, and waits are over, each at its time and in order. It
   * first lets everything go on that does not wait for time, and again after each step: so when it resolves nothing
   * of Holdfast is under way, nor what your code did at once in answer. It does not wait for real timers, files or
   * sockets. Calls that overlap are made one after the other.
   *
   * @param ms milliseconds; 0 only lets everything go on
   * @returns rejects with `InvalidArgumentError` for a bad time, and where the server goes by the real time
   */
  advance(ms: number): Promise<void>

  /**
   * Somebody else takes a lock: another client of this server, whose watchdog renews it until you release the lease.
   *
   * @param name of any lock that is free, with the `keyPrefix` of your client if it has one
   * @returns the other's lease. Rejects with `InvalidArgumentError` where the lock is held, and as `lock()` does
   */
  hold(name: string): Promise<Lease>

  /**
   * The lease is lost now, with all acquisitions of its hold, as if the server had given the lock to another: its
   * signal has aborted when this returns, with a `LeaseLostError` for the reason `gone`. The lock is free then, or
   * whose turn it is has it. The lease of a client that was made by {@link newClient}, of a lock or of permits; of
   * several locks one of its `leases`.
   *
   * @throws `InvalidArgumentError` for a lease that is over, for one of another server, and in an outage
   */
  lose(lease: Lease): void

  /**
   * From now on the server cannot be reached, by any client: each call fails at once, as where nobody listens, and is
   * tried again until `outageMs` are over. What it was about to answer is lost, although it was done. It keeps its
   * locks, whose leases run on.
   */
  beginOutage(): void

  /** The server can be reached again, and all clients look at what they hold and wait for. */
  endOutage(): void
}

/**
 * A server for tests: locks and semaphores with leases, tokens, queues and messages, in the memory of this
 * process and for nobody outside of it. Make one for each test, or one for each file.
 *
 * ```ts
 * const server = createMemoryServer({ virtualTime: true })
 * const holdfast = server.newClient()
 * ```
 *
 * @throws `InvalidArgumentError` for options that are unknown or of no use
 */
export function createMemoryServer(options: MemoryServerOptions = {}): MemoryServer {
  const given = optionsOf(options, 'The options of createMemoryServer()', ['virtualTime'])
  const { virtualTime = false } = given as MemoryServerOptions
  assertBoolean(virtualTime, '`virtualTime`')
  return new TestServer(virtualTime ? new VirtualClock() : undefined)
}

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
        'advance(ms): this server goes by the real time. Make it by createMemoryServer({ virtualTime: true }).',
      )
    }
    if (!Number.isSafeInteger(ms) || ms < 0) {
      throw new InvalidArgumentError(
        `advance(ms) takes a whole number of milliseconds, and 0 at least; got ${show(ms)}.`,
      )
    }
    await this.#clock.advance(ms)
  }

  async hold(name: string): Promise<Lease> {
    this.#other ??= this.newClient({ label: 'hold() of the test' })
    const lease = await this.#other.getLock(name).tryLock()
    if (lease !== null) return lease
    throw new InvalidArgumentError(
      `hold(${show(name)}): somebody holds this lock already. Release it first, or lose() its lease.`,
      name,
    )
  }

  lose(given: Lease): void {
    const lease = behind(given, LocalLease)
    if (lease === undefined) {
      const advice = otherCopy(given) ?? 'Of a MultiLease take one of its `leases`'
      throw new InvalidArgumentError(
        `lose(lease) takes a lease of one lock; got ${show(given)}. ${advice}.`,
      )
    }
    const { lock, hold, name } = lease
    const { server } = lock.services
    if (!(server instanceof MemoryConnection && server.server === this.#server)) {
      throw new InvalidArgumentError(
        `lose(lease): the lease of "${name}" is none of this server.`,
        name,
      )
    }
    if (!lease.live) {
      throw new InvalidArgumentError(
        `lose(lease): the lease of "${name}" is over, for it was released or lost before.`,
        name,
      )
    }
    if (this.#server.whyOut !== undefined) {
      throw new InvalidArgumentError(
        `lose(lease): the server is out, and gives "${name}" to nobody. Call endOutage() first.`,
        name,
      )
    }
    const ending = { owner: hold.id.wireOwner, holds: 0, token: hold.lastToken, callMs: 1 }
    lock.remoteOf(hold).release(ending, {
      // Somebody of the same client may have it next, who is told by no message.
      answered: (released) =>
        lock.lookAgain(released.kind === 'freed' ? released.following : undefined),
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
