import { EventEmitter } from 'eventemitter3'
import { nanoid } from 'nanoid'
import { InvalidArgumentError, show } from './errors.ts'
import type { Emit, HoldfastEvents } from './events.ts'
import { assertFunction } from './input.ts'
import { outsideFrames } from './kit/frame-storage.ts'
import { systemClock } from './lease/clock.ts'
import { plainKind } from './local/acquire.ts'
import { Backend } from './local/backend.ts'
import type { LockKind } from './local/lock-kind.ts'
import { FairLocks } from './locks/fair/fair-locks.ts'
import { HoldfastLock } from './locks/lock/holdfast-lock.ts'
import { MultiLock } from './locks/multi/multi-lock.ts'
import { ReadWriteKinds } from './locks/read-write/read-write-kinds.ts'
import { ReadWriteLock } from './locks/read-write/read-write-lock.ts'
import { RedLocks } from './locks/red/red-lock.ts'
import { needsOneServer } from './locks/semaphore/needs-one-server.ts'
import {
  ExpirablePermits,
  PermitExpirableSemaphore,
} from './locks/semaphore/permit-expirable-semaphore.ts'
import { Semaphore } from './locks/semaphore/semaphore.ts'
import { Semaphores } from './locks/semaphore/semaphores.ts'
import type { GetLockOptions, HoldfastOptions } from './options.ts'
import { Frames } from './owner/frames.ts'
import { type Owner, ownerOf } from './owner/owner.ts'
import { Owners } from './owner/owners.ts'
import { type ClientPlace, majorityOf, type NewPlace, newRedisPlace } from './places.ts'
import { rawNameOf } from './servers/raw-name.ts'
import { resolveOptions } from './settings.ts'

/**
 * The client: locks on one Redis. It connects at the first use, and never keeps a program alive
 * that has nothing under way.
 *
 * It emits the events of {@link HoldfastEvents}.
 */
export class Holdfast extends EventEmitter<HoldfastEvents> implements AsyncDisposable {
  /** Unique among all clients: the first part of every owner in Redis. */
  readonly id: string = nanoid()
  readonly #place: ClientPlace
  readonly #keyPrefix: string
  readonly #owners = new Owners(this.id)
  readonly #frames = new Frames()
  readonly #backend: Backend
  /** Undefined where the place has none, as those that follow. */
  readonly #fairKind: FairLocks | undefined
  readonly #readWriteKinds: ReadWriteKinds | undefined
  readonly #permits: ExpirablePermits | undefined
  readonly #semaphores: Semaphores | undefined
  readonly #redLocks: RedLocks
  #closing: Promise<void> | undefined

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
    // As if the listener had been called by nobody: it fails by itself, and no lock with it, and acts
    // for nobody, in whosever frame there was something to tell.
    const emitAny = this.emit.bind(this) as (event: string, ...args: unknown[]) => boolean
    const emit: Emit = (event, ...args) => {
      if (this.listenerCount(event) === 0) return
      try {
        outsideFrames(() => emitAny(event, ...args))
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
    const newPlaceHere = newPlace ?? newRedisPlace
    this.#place = newPlaceHere(settings, (error) => emit('error', error))
    this.#keyPrefix = settings.keyPrefix ?? this.#place.keyPrefix
    const client = { owners: this.#owners, frames: this.#frames, settings, emit }
    const { server } = this.#place
    const fairServer = server.fairFor?.(this.id, settings.label)
    this.#backend = new Backend(client, this.#place)
    this.#fairKind = fairServer && new FairLocks(server, fairServer, systemClock)
    const readWriteServer = server.readWriteFor?.(this.id)
    this.#readWriteKinds = readWriteServer && new ReadWriteKinds(readWriteServer)
    const permitServer = server.permitsFor?.(this.id)
    this.#permits = permitServer && new ExpirablePermits(permitServer)
    const semaphoreServer = server.semaphoresFor?.(this.id, settings.outageMs)
    this.#semaphores = semaphoreServer && new Semaphores(this.#backend.registry, semaphoreServer)
    this.#redLocks = new RedLocks(client, (servers, nameOf) =>
      majorityOf(servers, settings, nameOf),
    )
  }

  /**
   * A re-entrant lock.
   *
   * @param name any non-empty string; a `{tag}` in it decides the cluster slot, and in a cluster a `}`
   * needs one
   * @throws `InvalidArgumentError` for a name that is of no use
   */
  getLock(name: string, options: GetLockOptions = {}): HoldfastLock {
    return this.#lock(name, options, plainKind)
  }

  /**
   * A re-entrant lock that is granted in turn: first come, first served, across all clients. It is
   * the same lock as `getLock` of that name, only that those who wait stand in a queue; who calls
   * `lock` on the other one, or uses Redisson, does not, and may take it when it is free.
   *
   * A place is kept while the process lives: one that crashed is passed over, one that is frozen
   * when its turn comes holds the queue up for 1.5 s. It then keeps its place.
   *
   * @param name any non-empty string; a `{tag}` in it decides the cluster slot, and in a cluster a `}`
   * needs one
   * @throws `InvalidArgumentError` for a name that is of no use
   */
  getFairLock(name: string, options: GetLockOptions = {}): HoldfastLock {
    if (this.#fairKind === undefined) {
      throw new InvalidArgumentError(
        `Fair lock ${show(name)}: its queue needs one server, and this client has independent masters. ` +
          'Use getLock() here, or a client with `redis`.',
      )
    }
    return this.#lock(name, options, this.#fairKind)
  }

  /**
   * A lock that many may have at once to read, or one to write.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for a name that is of no use, and where locks are held by a majority of
   * masters: who waits for whom is known to one server only
   */
  getReadWriteLock(name: string, options: GetLockOptions = {}): ReadWriteLock {
    if (this.#readWriteKinds === undefined) {
      throw new InvalidArgumentError(
        `Read-write lock ${show(name)}: it needs one server, and this client has independent masters. ` +
          'Use getLock() here, or a client with `redis`.',
      )
    }
    const rawName = rawNameOf(name, this.#keyPrefix, this.#place.clustered)
    const owner = ownerOf(options, this.id)
    return new ReadWriteLock(name, rawName, owner, this.#backend.registry, this.#readWriteKinds)
  }

  /**
   * A number of permits that clients share, each taken with a lease: those of a process that crashed are
   * available again when it ends.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` for a name that is of no use, and where locks are held by a majority of
   * masters, whose majorities do not count
   */
  getPermitExpirableSemaphore(name: string): PermitExpirableSemaphore {
    if (this.#permits === undefined) throw needsOneServer(name)
    const rawName = rawNameOf(name, this.#keyPrefix, this.#place.clustered)
    return new PermitExpirableSemaphore(name, rawName, this.#backend.registry, this.#permits)
  }

  /**
   * A number of permits that clients share, without owners and without leases.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` as {@link getPermitExpirableSemaphore} does
   */
  getSemaphore(name: string): Semaphore {
    if (this.#semaphores === undefined) throw needsOneServer(name)
    const rawName = rawNameOf(name, this.#keyPrefix, this.#place.clustered)
    return new Semaphore(name, rawName, this.#semaphores)
  }

  /**
   * A lock that is held by a majority of the servers of several clients, as Redisson's
   * `RedissonRedLock` is: one plain lock of each of them makes its votes. It has the same methods
   * as every lock, and outlives any minority of the servers.
   *
   * It acts for owners of the client that it is called on, which also gives its `leaseMs`,
   * `longestLeaseMs` and `newDeployment`, tells of it by its events, and releases it when closed. A
   * client among them that was closed counts as a server that is down. The same locks, in whatever
   * order, are the same RedLock.
   *
   * It excludes every other RedLock that shares a majority of its locks. A plain lock on a minority
   * of the servers does not keep it out, and is not re-entered by it. Where two clients turn out to
   * be of the same server the RedLock cannot be acquired: that rejects with `InvalidArgumentError`.
   *
   * @param locks one of `getLock()` from each of the clients, each of a server of its own; the names
   * may differ
   * @throws `InvalidArgumentError` without any, for two of one client, for fair locks, for those of a
   * cluster or of a majority, and for what is no lock
   */
  getRedLock(...locks: HoldfastLock[]): HoldfastLock {
    return this.#redLocks.of(locks)
  }

  /**
   * Several locks as one: all of them or none. They may be of any kind, of any client and server,
   * and are taken in an order of their own, whatever the order in which they are given.
   *
   * @throws `InvalidArgumentError` for none, and for what is no lock of Holdfast
   */
  getMultiLock(...locks: (HoldfastLock | MultiLock)[]): MultiLock {
    return new MultiLock(locks)
  }

  /** A new owner, for locks that are to re-enter one another anywhere: `getLock(name, { owner })`. */
  owner(): Owner {
    return this.#owners.next()
  }

  /**
   * Runs `fn` in a frame: bare `lock()` and `unlock()` inside behave as on a thread of its own, at
   * any depth of calls. The frame ends when `fn` returns, or when the promise that it returned
   * settles; what it holds at the end stays held.
   *
   * @returns what `fn` returns; for a promise another one, which settles in the same way
   */
  run<T>(fn: () => T): T {
    assertFunction(fn)
    return this.#frames.run(this.#owners.next(), fn)
  }

  /**
   * Releases what is held, ends every wait with a `ClosedError`, and closes the connections that
   * this client opened; yours stay open. When Redis does not answer it ends all the same, soon after
   * twice `commandTimeoutMs`, and the locks end with their leases. Calling it again returns the
   * same promise.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** For `await using`: the same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #lock(name: string, options: GetLockOptions, kind: LockKind): HoldfastLock {
    const rawName = rawNameOf(name, this.#keyPrefix, this.#place.clustered)
    return new HoldfastLock(name, rawName, ownerOf(options, this.id), this.#backend.registry, kind)
  }

  async #close(): Promise<void> {
    await Promise.all([this.#backend.close(), this.#redLocks.close()])
    this.#fairKind?.close()
    await this.#place.close()
  }
}
