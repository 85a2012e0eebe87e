import { EventEmitter } from 'eventemitter3'
import { nanoid } from 'nanoid'
import { InvalidArgumentError, show } from './errors.ts'
import type { HoldfastEvents, Tell } from './events.ts'
import { assertFunction } from './input.ts'
import { systemClock } from './lease/clock.ts'
import { Keeper } from './lease/keeper.ts'
import { Desk } from './locks/desk.ts'
import { Heartbeat } from './locks/heartbeat.ts'
import { HoldfastLock } from './locks/holdfast-lock.ts'
import { MultiLock } from './locks/multi-lock.ts'
import { NodeRenewer } from './locks/node-renewer.ts'
import { Settler } from './locks/settler.ts'
import { within } from './locks/within.ts'
import type { GetLockOptions, HoldfastOptions } from './options.ts'
import { Frames } from './owner/frames.ts'
import { type Owner, ownerOf } from './owner/owner.ts'
import { rawNameOf } from './redis/keys.ts'
import { LockNode } from './redis/lock-node.ts'
import { BIRTH } from './redis/master.ts'
import { quorumOf } from './redis/masters.ts'
import { keyPrefixOf, labelOf } from './redis/open.ts'
import { QueueNode } from './redis/queue-node.ts'
import { RenewalThread } from './redis/renewal-thread.ts'
import type { Servers } from './redis/servers.ts'
import { resolveOptions, type Settings } from './settings.ts'

/**
 * The client: locks on one Redis. It connects at the first use, and never keeps a program alive
 * that has nothing under way.
 *
 * It emits the events of {@link HoldfastEvents}.
 */
export class Holdfast extends EventEmitter<HoldfastEvents> implements AsyncDisposable {
  /** Unique among all clients: the first part of every owner in Redis. */
  readonly id: string = nanoid()
  readonly #keyPrefix: string
  readonly #closeMs: number
  readonly #node: Servers
  readonly #isQuorum: boolean
  readonly #keeper: Keeper
  readonly #thread: RenewalThread | undefined
  readonly #settler: Settler
  readonly #heartbeat: Heartbeat
  readonly #frames = new Frames()
  readonly #desk: Desk
  #closing: Promise<void> | undefined

  /** @throws `InvalidArgumentError` for options that are unknown or of no use */
  constructor(options: HoldfastOptions) {
    super()
    const settings = resolveOptions(options)
    const { sources, leaseMs, commandTimeoutMs, outageMs, silenceLimitMs, label, counterMs } =
      settings
    const [source] = sources as [(typeof sources)[0]]
    this.#keyPrefix = settings.keyPrefix ?? keyPrefixOf(source)
    this.#closeMs = commandTimeoutMs
    // As if the listener had been called by nobody: it fails by itself, and no lock with it.
    const emit = this.emit.bind(this) as (event: string, ...args: unknown[]) => boolean
    const tell: Tell = (event, ...args) => {
      try {
        emit(event, ...args)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
    const onError = (error: Error) => tell('error', error)
    // After a reconnect it may be another server, or an emptied one.
    const events = { up: () => this.#keeper.verifyAll(), error: onError }
    const nodes = sources.map((one) => nodeOf(one, settings, events))
    const [first] = nodes as [LockNode]
    this.#isQuorum = settings.longestLeaseMs !== undefined
    this.#node = this.#isQuorum ? majorityOf(nodes, settings) : first
    if (silenceLimitMs !== undefined) {
      const limits = { leaseMs, commandTimeoutMs, silenceLimitMs }
      this.#thread = new RenewalThread(source, limits, onError)
    }
    this.#keeper = new Keeper(
      new NodeRenewer(this.#node),
      leaseMs,
      systemClock,
      {
        renewed: (holds) => tell('renewed', { holds }),
        late: (hold, cause) =>
          tell('late', {
            name: hold.lockName,
            owner: hold.seat.wireOwner,
            token: hold.token,
            remainingMs: hold.remainingMs(),
            cause,
          }),
      },
      this.#thread,
    )
    this.#settler = new Settler(commandTimeoutMs)
    const queues = new QueueNode(first.calls, this.id, label, counterMs)
    this.#heartbeat = new Heartbeat(first, queues, systemClock)
    this.#desk = new Desk(
      this.id,
      {
        node: this.#node,
        queues,
        heartbeat: this.#heartbeat,
        keeper: this.#keeper,
        settler: this.#settler,
        clock: systemClock,
        limits: { commandTimeoutMs, outageMs, whyDown: () => this.#node.whyDown },
        tell,
      },
      this.#frames,
      leaseMs,
      settings.longestLeaseMs,
    )
  }

  /**
   * A re-entrant lock.
   *
   * @param name any non-empty string; a `{tag}` in it decides the cluster slot
   * @throws `InvalidArgumentError` for a name that is of no use
   */
  getLock(name: string, options: GetLockOptions = {}): HoldfastLock {
    const rawName = rawNameOf(name, this.#keyPrefix)
    return new HoldfastLock(name, rawName, ownerOf(options, this.id), this.#desk, false)
  }

  /**
   * A re-entrant lock that is granted in turn: first come, first served, across all clients. It is
   * the same lock as `getLock` of that name, only that those who wait stand in a queue; who calls
   * `lock` on the other one, or uses Redisson, does not, and may take it when it is free.
   *
   * A place is kept while the process lives: one that crashed is passed over, one that is frozen
   * when its turn comes holds the queue up for 1.5 s. It then keeps its place.
   *
   * @param name any non-empty string; a `{tag}` in it decides the cluster slot
   * @throws `InvalidArgumentError` for a name that is of no use
   */
  getFairLock(name: string, options: GetLockOptions = {}): HoldfastLock {
    if (this.#isQuorum) {
      throw new InvalidArgumentError(
        `Fair lock ${show(name)}: its queue needs one server, and this client has independent masters. ` +
          'Use getLock() here, or a client with `redis`.',
      )
    }
    const rawName = rawNameOf(name, this.#keyPrefix)
    return new HoldfastLock(name, rawName, ownerOf(options, this.id), this.#desk, true)
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
    return this.#desk.newOwner()
  }

  /**
   * Runs `fn` in a frame: bare `lock()` and `unlock()` inside behave as on a thread of its own, at
   * any depth of calls. What it holds at the end stays held.
   *
   * @returns what `fn` returns
   */
  run<T>(fn: () => T): T {
    assertFunction(fn)
    return this.#frames.run(this.#desk.newOwner(), fn)
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

  async #close(): Promise<void> {
    const released = this.#desk.close()
    if (this.#node.everUp) {
      // A little longer than a call may take: what stays unanswered is then known, and settled.
      await within(this.#closeMs + 50, released)
      await within(
        this.#closeMs,
        this.#settler.close().then(() => this.#node.quiet()),
      )
    }
    this.#heartbeat.close()
    this.#keeper.close()
    this.#node.close()
    await this.#thread?.close()
  }
}

type NodeEvents = ConstructorParameters<typeof LockNode>[2]

function nodeOf(
  source: Settings['sources'][0],
  { commandTimeoutMs, counterMs, sharded, longestLeaseMs }: Settings,
  events: NodeEvents,
): LockNode {
  const birth = longestLeaseMs === undefined ? '' : BIRTH
  return new LockNode(source, commandTimeoutMs, events, { counterMs, sharded, birth })
}

function majorityOf(nodes: readonly LockNode[], settings: Settings): Servers {
  const { sources, leaseMs, commandTimeoutMs, longestLeaseMs = leaseMs } = settings
  const labelled = nodes.map((node, i) => ({ node, label: labelOf(sources[i] as string) }))
  return quorumOf(labelled, {
    callMs: Math.min(commandTimeoutMs, Math.max(100, Math.round(leaseMs / 10))),
    counterMs: settings.counterMs,
    restMs: longestLeaseMs,
    newDeployment: settings.newDeployment,
  })
}
