import type { GetLockOptions, Holdfast, HoldfastLock } from '../../src/index.ts'
import {
  describeWorlds,
  quorumWorlds,
  redLockOf,
  redLockWorlds,
  type World,
  type WorldHandle,
  worlds,
} from '../support/worlds.ts'

/** A lock that the contract suites hold for, and the worlds that it runs in. */
interface LockKind {
  name: string
  worlds: readonly World[]
  /** Whether those who wait stand in a queue in Redis, and are told by a channel of their client. */
  fair: boolean
  getLock(client: Holdfast, name: string, options?: GetLockOptions): HoldfastLock
}

/** Every kind of lock that keeps the contract. To add one, put it here. */
const kinds: readonly LockKind[] = [
  {
    name: 're-entrant lock',
    worlds: [...worlds, ...quorumWorlds],
    fair: false,
    getLock: (client, name, options) => client.getLock(name, options),
  },
  {
    name: 'fair lock',
    // What the others are about, how a connection is made, is the same for both kinds.
    worlds: worlds.filter(({ name }) => /memory|options|prefix/.test(name)),
    fair: true,
    getLock: (client, name, options) => client.getFairLock(name, options),
  },
  {
    name: 'RedLock',
    worlds: redLockWorlds,
    fair: false,
    getLock: redLockOf,
  },
]

/** What a contract suite has to work with: a world, and one kind of lock in it. */
export class Stage {
  readonly world: WorldHandle
  /** Whether the locks live in the memory of this process. */
  readonly inMemory: boolean
  readonly #kind: LockKind

  constructor(world: WorldHandle, kind: LockKind, { inMemory = false }: World) {
    this.world = world
    this.inMemory = inMemory
    this.#kind = kind
  }

  get fair(): boolean {
    return this.#kind.fair
  }

  getLock(client: Holdfast, name: string, options?: GetLockOptions): HoldfastLock {
    return this.#kind.getLock(client, name, options)
  }

  /** That many locks of one name, each through a client of its own. */
  getLocks<Count extends number>(name: string, count: Count): HoldfastLock[] & { length: Count } {
    return Array.from({ length: count }, () =>
      this.getLock(this.world.newClient(), name),
    ) as HoldfastLock[] & { length: Count }
  }

  /** The lock as Redis has it: owner to hold count. */
  async fields(name: string): Promise<Record<string, number>> {
    const hash = await this.world.server.admin.hgetall(this.world.rawName(name))
    return Object.fromEntries(Object.entries(hash).map(([owner, holds]) => [owner, Number(holds)]))
  }

  /** The hold counts of the lock in Redis: `[2]` for one owner with two, `[]` for a free lock. */
  async holds(name: string): Promise<number[]> {
    return Object.values(await this.fields(name))
  }

  /** What is left of the lock's key, as PTTL answers it. */
  pttl(name: string): Promise<number> {
    return this.world.server.admin.pttl(this.world.rawName(name))
  }

  /** The channels that anybody is subscribed to. */
  async channels(): Promise<string[]> {
    return (await this.world.server.admin.pubsub('CHANNELS')) as string[]
  }
}

/** Runs a suite for every kind of lock, in every world of it. */
export function describeLocks(title: string, suite: (stage: Stage) => void): void {
  for (const kind of kinds.filter(({ worlds }) => worlds.length > 0)) {
    describeWorlds(
      `${title} of a ${kind.name}`,
      (handle, world) => suite(new Stage(handle, kind, world)),
      kind.worlds,
    )
  }
}
