import { setTimeout as pause } from 'node:timers/promises'
import type { GetLockOptions, Holdfast, HoldfastLock } from '../../src/index.ts'
import { GREETING } from '../support/leak-check.ts'
import { channelOf } from '../support/promised-keys.ts'
import {
  chosenPlaces,
  describeWorlds,
  hasUsual,
  quorumWorlds,
  redLockOf,
  redLockWorlds,
  type World,
  type WorldHandle,
  worlds,
} from '../support/worlds.ts'

/** A kind of lock that the contract suites test, and the worlds of these tests. */
interface LockKind {
  name: string
  worlds: readonly World[]
  /** True if waiters queue in Redis, and receive grants on a channel of their client. */
  fair: boolean
  /** True if several owners can hold the lock at once. Missing if one owner excludes all others. */
  isShared?: true
  /** The fields of a hold in Redis, in addition to its hold count. */
  fieldsBeside?: Readonly<Record<string, string>>
  /** The end of the name of an owner in Redis. */
  ownerSuffix?: string
  getLock(client: Holdfast, name: string, options?: GetLockOptions): HoldfastLock
}

/** Returns the usual worlds with matching names. If places were chosen, returns all of them instead. */
const among = (names: RegExp) =>
  chosenPlaces.length > 0 ? chosenPlaces : worlds.filter(({ name }) => names.test(name))

/** The kinds of locks that the contract suites test. Add a new kind here. */
const kinds: readonly LockKind[] = [
  {
    name: 're-entrant lock',
    worlds: [...worlds, ...quorumWorlds],
    fair: false,
    getLock: (client, name, options) => client.getLock(name, options),
  },
  {
    name: 'fair lock',
    worlds,
    fair: true,
    getLock: (client, name, options) => client.getFairLock(name, options),
  },
  {
    name: 'RedLock',
    worlds: redLockWorlds,
    fair: false,
    getLock: redLockOf,
  },
  {
    name: 'lock to write',
    worlds: among(/memory|own client/),
    fair: false,
    fieldsBeside: { mode: 'write' },
    ownerSuffix: ':write',
    getLock: (client, name, options) => client.getReadWriteLock(name, options).writeLock(),
  },
  {
    name: 'lock to read',
    // One world is enough, because the write lock and the read lock behave the same in every world.
    worlds: among(/own client/),
    fair: false,
    isShared: true,
    getLock: (client, name, options) => client.getReadWriteLock(name, options).readLock(),
  },
]

/** The input of a contract suite: a world, and one kind of lock in it. */
export class Stage {
  readonly world: WorldHandle
  /** True if the locks live in the memory of this process. */
  readonly inMemory: boolean
  readonly #kind: LockKind

  constructor(world: WorldHandle, kind: LockKind, { inMemory = false }: World) {
    this.world = world
    this.inMemory = inMemory
    this.#kind = kind
  }

  /** True if several owners can hold the lock at once. */
  get isShared(): boolean {
    return this.#kind.isShared === true
  }

  get fair(): boolean {
    return this.#kind.fair
  }

  /** Defines a test about exclusion, unless several owners can hold the lock at once. */
  readonly testOfExclusion: (title: string, fn: () => Promise<void>) => void = (title, fn) => {
    if (!this.#kind.isShared) test(title, fn)
  }

  getLock(client: Holdfast, name: string, options?: GetLockOptions): HoldfastLock {
    return this.#kind.getLock(client, name, options)
  }

  /** Checks the token that `inspect()` reports, if no later hold has a token. */
  expectLastToken(seen: number | null, issued: number): void {
    // A late vote of one master may have raised the counter further.
    if (this.world.isQuorum) expect(seen).toBeGreaterThanOrEqual(issued)
    else expect(seen).toBe(issued)
  }

  /** Locks of one name, each with its own client. */
  getLocks<Count extends number>(name: string, count: Count): HoldfastLock[] & { length: Count } {
    return Array.from({ length: count }, () =>
      this.getLock(this.world.newClient(), name),
    ) as HoldfastLock[] & { length: Count }
  }

  /** Returns the holders in Redis, with their hold counts. */
  async fields(name: string): Promise<Record<string, number>> {
    const hash = await this.world.server.admin.hgetall(this.world.rawName(name))
    // The hash of a read-write lock also has the field `mode`.
    const holds = Object.entries(hash).filter(([field]) => field !== 'mode')
    return Object.fromEntries(holds.map(([owner, count]) => [owner, Number(count)]))
  }

  /** Returns the hold counts of the lock in Redis: `[2]` for one owner with two holds, `[]` for a free lock. */
  async holds(name: string): Promise<number[]> {
    return Object.values(await this.fields(name))
  }

  /**
   * Replaces the current holds in Redis by a hold of another owner.
   *
   * @param ttlMs missing for a lock that never expires
   * @returns the name of the owner in Redis
   */
  async putHold(name: string, holds: number, ttlMs?: number): Promise<string> {
    const { fieldsBeside = {}, ownerSuffix = '' } = this.#kind
    const owner = `somebody:else${ownerSuffix}`
    const key = this.world.rawName(name)
    const { admin } = this.world.server
    const putting = admin.multi().del(key)
    for (const [field, value] of Object.entries({ ...fieldsBeside, [owner]: String(holds) })) {
      putting.hset(key, field, value)
    }
    if (ttlMs !== undefined) putting.pexpire(key, ttlMs)
    await putting.exec()
    return owner
  }

  /** The remaining time of the key of the lock, from PTTL. */
  pttl(name: string): Promise<number> {
    return this.world.server.admin.pttl(this.world.rawName(name))
  }

  /** The number of scripts that Redis has run. */
  async requests(): Promise<number> {
    const stats = await this.world.server.admin.info('commandstats')
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
  }

  /** Like `requests()`, but waits until all masters have run the requests that were sent. */
  async settledRequests(): Promise<number> {
    let seen = await this.requests()
    // The client needs the answers of a majority only, so the other masters may answer a little later.
    for (let before = -1; this.world.isQuorum && before !== seen; seen = await this.requests()) {
      before = seen
      await pause(100)
    }
    return seen
  }

  /** The channels with subscribers, without the channel of Sentinels. */
  async channels(): Promise<string[]> {
    const all = (await this.world.server.admin.pubsub('CHANNELS')) as string[]
    return all.filter((channel) => channel !== GREETING)
  }

  /** The number of clients that wait, from `inspect()`, or from all nodes if `inspect()` counts one node. */
  async waiters(lock: HoldfastLock): Promise<number> {
    const { waiters } = await lock.inspect()
    if (this.world.countsListeners) return waiters
    const channel = channelOf(this.world.rawName(lock.name))
    const [, listeners] = await this.world.server.admin.pubsub('NUMSUB', channel)
    return Math.max(waiters, Number(listeners))
  }
}

/**
 * Runs a suite for every kind of lock, in every world of it.
 *
 * @param isOfExclusion true if the whole suite is about exclusion: it does not run for shared locks
 * @param inOneWorld true if the suite does not depend on the server: it runs in the first world only
 */
export function describeLocks(
  title: string,
  suite: (stage: Stage) => void,
  { isOfExclusion = false, inOneWorld = false } = {},
): void {
  for (const kind of kinds.filter(({ isShared = false }) => !(isShared && isOfExclusion))) {
    const chosen = inOneWorld ? kind.worlds.slice(0, hasUsual ? 1 : 0) : kind.worlds
    if (chosen.length === 0) continue
    describeWorlds(
      `${title} of a ${kind.name}`,
      (handle, world) => suite(new Stage(handle, kind, world)),
      chosen,
    )
  }
}
