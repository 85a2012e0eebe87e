import { nanoid } from 'nanoid'
import { ClientEmitter } from './client-emitter.ts'
import { ClientParts } from './client-parts.ts'
import type { Emit, HoldfastEvents } from './events.ts'
import { emitBy } from './kit/call-listeners.ts'
import { refuseDetached } from './kit/handle.ts'
import { clientInfo } from './local/client-info.ts'
import { HolderRequests } from './local/holder-requests.ts'
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
import { Frames } from './owner/frames.ts'
import { type OwnerHandle as Owner, ownerOf } from './owner/owner.ts'
import { Owners } from './owner/owners.ts'
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
    const emit: Emit = emitBy(this)
    const requests = new HolderRequests({
      emit,
      hasListeners: () => this.listenerCount('releaseRequested') > 0,
    })
    const client = { owners: new Owners(this.id), frames: new Frames(), settings, emit, requests }
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
   * A re-entrant lock that is granted in turn: first come, first served, across all clients. It is the same lock as
   * `getLock` of that name, only that those who wait stand in a queue; who calls `lock` on the other one, or uses
   * Redisson, does not, and may take it when it is free.
   *
   * A place is kept while the process lives: one that crashed is passed over, one that is frozen when its turn comes
   * holds the queue up for 1.5 s. It then keeps its place.
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
   * @throws `InvalidArgumentError` for a name that is of no use, and where locks are held by a majority of
   * masters: who waits for whom is known to one server only
   */
  getReadWriteLock(name: string, options: GetLockOptions = {}): ReadWriteLock {
    return this.#oneServer.readWriteLock(name, options)
  }

  /**
   * A latch that many await, and that opens when it has been counted down to zero.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for a name that is of no use, and where locks are held by a majority of
   * masters: a count that only some of them have heard of is none
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
   * @throws `InvalidArgumentError` for a name or options that are invalid, and where locks are held by a majority of
   * masters, whose majorities do not count
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
   * A lock that is held by a majority of the servers of several clients, as Redisson's `RedissonRedLock` is: one
   * plain lock of each of them makes its votes. It has the same methods as every lock, and outlives any minority of
   * the servers.
   *
   * It acts for owners of the client that it is called on, which also gives its `leaseMs`, `longestLeaseMs` and
   * `newDeployment`, tells of it by its events, and releases it when closed. A client among them that was closed
   * counts as a server that is down. The same locks, in whatever order, are the same RedLock.
   *
   * It excludes every other RedLock that shares a majority of its locks. A plain lock on a minority of the servers
   * does not keep it out, and is not re-entered by it. Where two clients turn out to be of the same server the
   * RedLock cannot be acquired: that rejects with `InvalidArgumentError`.
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
   * A candidate of an election: those of one name take turns to lead, first come, first served, across all
   * clients. Its lock is the fair lock of that name: who holds that leads.
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
   * @returns null where it is not known: of a client of Redisson, of one that was closed, or has not been heard of for
   * two minutes. Rejects with `InvalidArgumentError` for what is no such text, and as `inspect()` does
   */
  clientInfo(clientOrOwner: string): Promise<ClientInfo | null> {
    return clientInfo(this.#parts.backend.registry, clientOrOwner)
  }

  /**
   * How each of the `masters` does, in the order in which they were given: each is asked, in one round trip.
   *
   * @returns rejects with `InvalidArgumentError` where there is one server, with `ClosedError` after `close()`; never
   * for a master that does not answer, for that is what it tells
   */
  masters(): Promise<readonly MasterHealth[]> {
    return this.#parts.backend.registry.masters()
  }

  /**
   * What this client holds and waits for at this moment, by its own account: nothing is sent. A multi-lock is listed
   * as its locks, those of other clients at these. Not listed are permits that `acquire()` of `getSemaphore` took:
   * they belong to nobody. After {@link close} it has what is still being released, and then nothing.
   */
  held(): Holdings {
    return this.#parts.holdings(this.#oneServer)
  }

  /**
   * Releases what is held, ends every wait with a `ClosedError`, and closes the connections that this client opened;
   * yours stay open. When Redis does not answer it ends all the same, soon after twice `commandTimeoutMs`, and the
   * locks end with their leases.
   *
   * With `drainMs` it waits before that until nothing is held any more, so long at most. Waits end at once, and
   * nobody gets anything new: both with a `ClosedError`. Who holds something may re-enter and extend it, is renewed,
   * and releases it as ever; a leader is told by the signal of its term to end it.
   *
   * Calling it again returns the same promise, and ends the waiting by its own `drainMs` at the latest: without one
   * at once.
   *
   * @returns what it took away: the holds that were not released before, as in {@link held}. Rejects with `InvalidArgumentError` for bad input
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
