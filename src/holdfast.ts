import { nanoid } from 'nanoid'
import { ClientEmitter } from './client-emitter.ts'
import { ClientParts, newClient } from './client-parts.ts'
import type { HoldfastEvents } from './events.ts'
import { refuseDetached } from './kit/handle.ts'
import { clientInfo } from './local/client-info.ts'
import type { CutOffHold, Holdings } from './local/holdings.ts'
import { PlaceEvents } from './local/place-events.ts'
import { plainKind } from './local/racing-waiter.ts'
import type { CountDownLatch } from './locks/latch/count-down-latch.ts'
import type { LeaderElection } from './locks/leader/leader-election.ts'
import type { LeaderElectionOptions } from './locks/leader/leader-options.ts'
import { HoldfastLock, handleOf, type Lock } from './locks/lock/holdfast-lock.ts'
import { HoldfastMultiLock, type MultiLock } from './locks/multi/multi-lock.ts'
import type { ReadWriteLock } from './locks/read-write/read-write-lock.ts'
import type { PermitSemaphoreOptions } from './locks/semaphore/permit-options.ts'
import type { Semaphore } from './locks/semaphore/semaphore.ts'
import { OneServer } from './one-server.ts'
import { type CloseOptions, drainMsOf } from './options/close-options.ts'
import { assertFunction } from './options/input.ts'
import type { GetLockOptions, HoldfastOptions } from './options/options.ts'
import { resolveOptions } from './options/settings.ts'
import { type OwnerHandle as Owner, ownerOf } from './owner/owner.ts'
import { majorityOf, type NewPlace, newRedisPlace } from './places.ts'
import type { MasterHealth } from './servers/master-health.ts'
import type { ClientInfo } from './servers/presence.ts'

/**
 * The client: locks on one Redis. It connects at the first use, and never keeps a program alive that has nothing
 * under way.
 *
 * It emits the events of {@link HoldfastEvents}.
 */
export class Holdfast extends ClientEmitter implements AsyncDisposable {
  /** Unique among all clients: the first part of every owner in Redis. */
  readonly id: string = nanoid()
  readonly #parts: ClientParts
  readonly #oneServer: OneServer

  /** @throws `InvalidArgumentError` for options that are unknown or of no use */
  constructor(options: HoldfastOptions)
  /**
   * @param newPlace where its locks live, instead of in Redis
   * @internal
   */
  constructor(options: Omit<HoldfastOptions, 'redis' | 'masters'>, newPlace: NewPlace)
  constructor(options: HoldfastOptions, newPlace?: NewPlace) {
    super()
    const settings = resolveOptions(options, newPlace !== undefined)
    const client = newClient(this, this.id, settings)
    const place = (newPlace ?? newRedisPlace)(settings, new PlaceEvents(client))
    this.#parts = new ClientParts(client, place, (servers, nameOf) =>
      majorityOf(servers, settings, nameOf),
    )
    this.#oneServer = new OneServer(this.#parts, settings)
  }

  /** As logs and JSON have it: no login. */
  toJSON(): Record<string, unknown> {
    return { id: this.id, ...this.#parts.facts }
  }

  /** @internal */
  protected listensToRequests(): void {
    this.#parts.listenerAdded()
  }

  /**
   * A re-entrant lock.
   *
   * @param name any non-empty string; a `{tag}` in it decides the cluster slot, and in a cluster a `}` needs one
   * @throws `InvalidArgumentError` for a name that is of no use
   */
  getLock(name: string, options: GetLockOptions = {}): Lock {
    const owner = ownerOf(options, this.id)
    const { registry } = this.#parts.backend
    return handleOf(new HoldfastLock(name, this.#parts.rawName(name), owner, registry, plainKind))
  }

  /**
   * A re-entrant lock that is granted in the order of the calls, across all clients. It excludes `getLock` of the same
   * name, whose callers do not queue, as those of Redisson do not: they may take it when it is free.
   *
   * A process keeps its place while it lives. A crashed process is passed over. A frozen process whose turn comes delays
   * the queue by 1.5 s, and keeps its place.
   *
   * @param name any non-empty string; a `{tag}` in it decides the cluster slot, and in a cluster a `}` needs one
   * @throws `InvalidArgumentError` for a name that is of no use
   */
  getFairLock(name: string, options: GetLockOptions = {}): Lock {
    return handleOf(this.#oneServer.fairLock(name, options))
  }

  /**
   * A lock that many may have at once to read, or one to write.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name, and with `masters`: one server has to know all waiters
   */
  getReadWriteLock(name: string, options: GetLockOptions = {}): ReadWriteLock {
    return this.#oneServer.readWriteLock(name, options)
  }

  /**
   * A latch that many await, and that opens when it has been counted down to zero.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for an invalid name, and with `masters`: one server has to have the count
   */
  getCountDownLatch(name: string): CountDownLatch
  getCountDownLatch(name: string, ...others: unknown[]): CountDownLatch {
    return this.#oneServer.countDownLatch(name, others)
  }

  /**
   * A number of permits that clients share, each taken with a lease: those of a process that crashed are
   * available again when it ends.
   *
   * @param name as for {@link getLock}
   * @param options `permits`: how many there are in all, which the first acquisition sets if nobody has
   * @throws `InvalidArgumentError` for an invalid name or option, and with `masters`: one server has to have the number
   */
  getPermitExpirableSemaphore(name: string, options?: PermitSemaphoreOptions) {
    return this.#oneServer.permitExpirableSemaphore(name, options)
  }

  /**
   * A number of permits that clients share, without owners and without leases.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` as {@link getPermitExpirableSemaphore} does
   */
  getSemaphore(name: string): Semaphore
  getSemaphore(name: string, ...others: unknown[]): Semaphore {
    return this.#oneServer.semaphore(name, others)
  }

  /**
   * A lock that a majority of the servers of several clients holds, as Redisson's `RedissonRedLock`: each of the plain
   * locks is one vote. It has the methods of every lock, and outlives any minority of the servers.
   *
   * The client on which you call this gives owners, `leaseMs`, `longestLeaseMs`, `newDeployment` and events, and its
   * `close()` releases the lock. Another client that is closed counts as a server that is down.
   *
   * It excludes every RedLock that shares a majority of its locks, in whatever order they are given. It does not exclude
   * a plain lock on a minority of the servers. If two clients turn out to use the same server, acquiring rejects with
   * `InvalidArgumentError`.
   *
   * @param locks one of `getLock()` from each of the clients, each of a server of its own; the names may differ
   * @throws `InvalidArgumentError` without any, for two of one client, for fair locks, for those of a cluster or of a
   * majority, and for what is no lock
   */
  getRedLock(...locks: Lock[]): Lock {
    return handleOf(this.#parts.redLocks.of(locks))
  }

  /**
   * Several locks as one: all of them or none. They may be of any kind, of any client and server,
   * and are taken in an order of their own, whatever the order in which they are given.
   *
   * @throws `InvalidArgumentError` for none, and for what is no lock of Holdfast
   */
  getMultiLock(...locks: (Lock | MultiLock)[]): MultiLock {
    return new HoldfastMultiLock(locks).handle
  }

  /**
   * A candidate of an election. Its lock is the fair lock of that name: the holder of that lock leads.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for bad input, and where locks are held by a majority of masters: there is no queue
   */
  getLeaderElection(name: string, options: LeaderElectionOptions = {}): LeaderElection {
    return this.#oneServer.leaderElection(name, options)
  }

  /** A new owner, for locks that are to re-enter one another anywhere: `getLock(name, { owner })`. */
  owner(): Owner {
    return this.#parts.owners.next().handle
  }

  /**
   * Runs `fn` in a frame: bare `lock()` and `unlock()` inside behave as on a thread of its own, at any depth of calls.
   * The frame ends when `fn` returns, or when the promise that it returned settles; what it holds at the end stays held.
   *
   * @returns what `fn` returns; for a promise another one, which settles in the same way
   */
  run<T>(fn: () => T): T {
    assertFunction(fn)
    return this.#parts.frames.run(this.#parts.owners.next(), fn)
  }

  /**
   * Who a client is, which tells that unless its option `presence` is off.
   *
   * @param clientOrOwner its `id`, or an owner as `inspect()` shows it: `<clientId>:<owner>`
   * @returns null if that is unknown: the client uses Redisson, was closed, or has not reported itself for two minutes.
   * Rejects with `InvalidArgumentError` for another text, and as `inspect()` does
   */
  clientInfo(clientOrOwner: string): Promise<ClientInfo | null> {
    return clientInfo(this.#parts.backend.registry, clientOrOwner)
  }

  /**
   * The state of each of the `masters`, in the order of that option: each master is asked, in one round trip.
   *
   * @returns rejects with `InvalidArgumentError` if there is one server, and with `ClosedError` after `close()`. It does
   * not reject for a master that does not answer: the result says so
   */
  masters(): Promise<readonly MasterHealth[]> {
    return this.#parts.backend.registry.masters()
  }

  /**
   * Lists what this client holds and waits for now, as far as the client knows: nothing is sent. A multi-lock is listed
   * as its locks, each at its own client; permits of `getSemaphore` only while `using` or `tryUsing` works with them.
   * After {@link close} it has what is still being released, and then nothing.
   */
  held(): Holdings {
    return this.#parts.holdings(this.#oneServer)
  }

  /**
   * Releases what is held, ends every wait with a `ClosedError`, and closes the connections that this client opened.
   * Connections that you opened stay open. If Redis does not answer, it resolves soon after twice `commandTimeoutMs`,
   * and the locks end with their leases.
   *
   * With `drainMs` it first waits for at most that long until nothing is held. New acquisitions and waits reject at once
   * with a `ClosedError`. Holders may re-enter, extend and release, and are renewed. A leader is told by its signal.
   *
   * A further call returns the same promise, and ends the waiting after its own `drainMs`, or at once without it.
   *
   * @returns the holds that it ended, as in {@link held}. Rejects with `InvalidArgumentError` for bad input
   */
  close(options?: CloseOptions): Promise<readonly CutOffHold[]>
  close(options?: CloseOptions, ...others: never[]): Promise<readonly CutOffHold[]> {
    try {
      return this.#parts.close(drainMsOf(options, others), this.#oneServer)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** For `await using`: the same as {@link close} without options. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

refuseDetached(Holdfast, 'holdfast')
