import { nanoid } from 'nanoid'
import { ClientEmitter } from './client-emitter.ts'
import { ClientParts, newClient } from './client-parts.ts'
import { type Connect, connectToRedis, majorityOf } from './connect.ts'
import type { HoldfastEvents } from './events.ts'
import { KINDS, type KindMethods } from './kinds/all.ts'
import { addKindMethods, OpenKinds } from './kinds/open-kinds.ts'
import { refuseDetached } from './kit/handle.ts'
import { clientInfo } from './local/client-info.ts'
import type { CutOffHold, Holdings } from './local/holdings.ts'
import { ServerEvents } from './local/server-events.ts'
import { HoldfastLock, handleOf, type Lock } from './locks/lock/holdfast-lock.ts'
import { plainKind } from './locks/lock/plain-kind.ts'
import { HoldfastMultiLock, type MultiLock } from './locks/multi/multi-lock.ts'
import { WebLockManager } from './locks/web/web-lock-manager.ts'
import { type CloseOptions, drainMsOf } from './options/close-options.ts'
import { assertFunction, assertMayKeep } from './options/input.ts'
import type { PlainLockOptions } from './options/lock-object.ts'
import type { HoldfastOptions } from './options/options.ts'
import { resolveOptions, type Settings } from './options/settings.ts'
import { type OwnerHandle as Owner, plainLockOptions } from './owner/owner.ts'
import type { MasterHealth } from './servers/master-health.ts'
import type { ClientInfo } from './servers/presence.ts'

/**
 * The client: its locks are on one Redis, or on several `masters`. The client connects at the first use, and keeps a
 * process alive only while it has pending work.
 *
 * The client emits the events of {@link HoldfastEvents}.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the static block adds the methods of the interface
export class Holdfast extends ClientEmitter implements AsyncDisposable {
  /** The id of the client. Every owner id of the client begins with this id. */
  readonly id: string = nanoid()
  readonly #parts: ClientParts
  readonly #kinds: OpenKinds
  readonly #settings: Settings
  #locks: WebLockManager | undefined

  static {
    addKindMethods<Holdfast>(Holdfast, KINDS, (client) => client.#kinds)
  }

  /** @throws `InvalidArgumentError` for unknown or invalid options */
  constructor(options: HoldfastOptions)
  /**
   * @param connect connects to another store of the locks instead of Redis
   * @internal
   */
  constructor(options: Omit<HoldfastOptions, 'redis' | 'masters'>, connect: Connect)
  constructor(options: HoldfastOptions, connect?: Connect) {
    super()
    const settings = resolveOptions(options, connect !== undefined)
    const client = newClient(this, this.id, settings)
    const connection = (connect ?? connectToRedis)(settings, new ServerEvents(client))
    this.#parts = new ClientParts(client, connection, (servers, nameOf) =>
      majorityOf(servers, settings, nameOf),
    )
    this.#kinds = new OpenKinds(KINDS, this.#parts, settings)
    this.#settings = settings
  }

  /** Returns the client as logs and JSON show it. The result contains no login. */
  toJSON(): Record<string, unknown> {
    return { id: this.id, ...this.#parts.facts }
  }

  /** @internal */
  protected listensToRequests(): void {
    this.#parts.listenerAdded()
  }

  /**
   * Returns a re-entrant lock.
   *
   * @param name a non-empty string. In a cluster, a `{tag}` in the name decides the slot, and a name with `}` must have
   * a `{` before the `}`
   * @throws `InvalidArgumentError` for an invalid name or option. Also for a `keepMs` with `masters` or `durability`
   */
  getLock(name: string, options: PlainLockOptions = {}): Lock {
    const { isQuorum, durability, keepMs: usual } = this.#settings
    const { owner, keepMs = usual } = plainLockOptions(options, this.id)
    assertMayKeep(keepMs, isQuorum, durability !== undefined)
    const { registry } = this.#parts.backend
    const lock = new HoldfastLock(name, this.#parts.rawName(name), owner, registry, plainKind)
    lock.keepMs = keepMs
    return handleOf(lock)
  }

  /**
   * Returns a lock that a majority of the servers of several clients holds, like Redisson's `RedissonRedLock`. Each of
   * the plain locks is one vote. The RedLock has all methods of a lock, and survives the failure of any minority of the
   * servers.
   *
   * The client whose `getRedLock` you call provides the owners, `leaseMs`, `longestLeaseMs`, `newDeployment` and the
   * events. `close()` of this client releases the lock. If another client is closed, its server counts as down.
   *
   * RedLocks of the same locks, in any order, exclude each other. RedLocks of different locks may have two holders at
   * once. Plain locks exclude the RedLock only if they are held on a majority of the servers. If two of the clients use
   * the same server, an acquisition rejects with `InvalidArgumentError`.
   *
   * @param locks one `getLock()` lock from each client, each client on its own server; the names may differ
   * @throws `InvalidArgumentError` without locks, for two locks of one client, and for values that are not locks. Fair
   * locks, and locks of a cluster or of a majority, are refused too
   */
  getRedLock(...locks: Lock[]): Lock {
    return handleOf(this.#parts.redLocks.of(locks))
  }

  /**
   * Returns several locks as one: a call acquires all of them or none. The locks may be of any kind, client and server.
   * All clients acquire the locks in the same order, even if they pass the locks in another order.
   *
   * @throws `InvalidArgumentError` without locks, and for values that are not locks of Holdfast
   */
  getMultiLock(...locks: (Lock | MultiLock)[]): MultiLock {
    return new HoldfastMultiLock(locks).handle
  }

  /** Creates an owner. All locks with this owner re-enter each other, in any frame: `getLock(name, { owner })`. */
  owner(): Owner {
    return this.#parts.owners.next().handle
  }

  /**
   * Runs `fn` in a frame: `lock()` and `unlock()` inside `fn` behave as in a separate thread, at any call depth. The
   * frame ends when `fn` returns, or when the promise that `fn` returned settles. The end of the frame releases no
   * lock.
   *
   * @returns the result of `fn`. If `fn` returns a promise, `run` returns a new promise that settles in the same way
   */
  run<T>(fn: () => T): T {
    assertFunction(fn)
    return this.#parts.frames.run(this.#parts.owners.next(), fn)
  }

  /**
   * Finds a client by its id or by one of its owners. A client can be found unless its option `presence` is false.
   *
   * @param clientOrOwner the `id` of a client, or an owner as `inspect()` shows it: `<clientId>:<owner>`
   * @returns null if the client is unknown: it uses Redisson, was closed, or has not reported itself for at least two
   * minutes. Rejects with `InvalidArgumentError` if the text has no client id, and for the same reasons as `inspect()`
   */
  clientInfo(clientOrOwner: string): Promise<ClientInfo | null> {
    return clientInfo(this.#parts.backend.registry, clientOrOwner)
  }

  /** The Web Locks API, as `navigator.locks` of browsers. Each web lock is the read-write lock of its name. */
  get locks(): WebLockManager {
    this.#locks ??= new WebLockManager(this)
    return this.#locks
  }

  /**
   * Reads the state of each of the `masters`, in one round trip. The result has the order of the option `masters`.
   *
   * @returns rejects with `InvalidArgumentError` if the client has only one server, and with `ClosedError` after
   * `close()`. If a master does not answer, the call does not reject, and the state of this master is `unreachable`
   */
  masters(): Promise<readonly MasterHealth[]> {
    return this.#parts.backend.registry.masters()
  }

  /**
   * Lists the locks that this client holds or waits for now, as far as the client knows. The call sends no request. The
   * result contains no multi-lock. Each lock of a multi-lock is in the result of its own client. Permits of
   * `getSemaphore` are listed only while `using` or `tryUsing` works with them. After {@link close}, a hold is listed
   * only while its release is pending.
   */
  held(): Holdings {
    return this.#parts.holdings(this.#kinds)
  }

  /**
   * Releases all locks, ends every wait with a `ClosedError`, and closes the connections that this client opened.
   * Connections that you opened stay open. If Redis does not answer, the call resolves soon after twice
   * `commandTimeoutMs`. The locks then end when their leases end.
   *
   * With `drainMs`, the call first waits until the client holds nothing, for at most `drainMs`. Meanwhile new
   * acquisitions and waits reject at once with a `ClosedError`. Holders may re-enter, extend and release, and the
   * watchdog renews their leases. The signal of a leader's term aborts when the drain begins.
   *
   * A further call returns the same promise. With `drainMs`, a further call may shorten the wait. Without `drainMs`, a
   * further call ends the wait.
   *
   * @returns the holds that `close()` ended, as in {@link held}. Rejects with `InvalidArgumentError` for invalid input
   */
  close(options?: CloseOptions): Promise<readonly CutOffHold[]>
  close(options?: CloseOptions, ...others: never[]): Promise<readonly CutOffHold[]> {
    try {
      return this.#parts.shutDown(drainMsOf(options, others), this.#kinds)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Closes the client like {@link close} without options. Called by `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** The methods of the kinds in `kinds/`, which `addKindMethods` adds. */
export interface Holdfast extends KindMethods {}

refuseDetached(Holdfast, 'holdfast')
