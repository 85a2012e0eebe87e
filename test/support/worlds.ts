import {
  type GetLockOptions,
  Holdfast,
  type HoldfastLock,
  type HoldfastOptions,
} from '../../src/index.ts'
import { forward } from './forward.ts'
import { AllMasters, startMasters, type WorldServer } from './masters.ts'
import { startMemoryServer } from './memory-server.ts'
import type { Place, Way } from './places/place.ts'
import { placeNamed } from './places/places.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { connectedInstance } from './user-instance.ts'

/** Options of a client, without the options that the world decides. */
export type ClientOptions = Omit<HoldfastOptions, 'redis' | 'masters' | 'watchdogThread'>

/** The world in which a contract suite runs, as the suite uses it. */
export interface WorldHandle {
  readonly server: WorldServer
  /** True if a majority of masters holds each lock. */
  readonly isQuorum: boolean
  /** True if a server counts all subscribers of a channel. */
  readonly countsListeners: boolean
  /** Returns a new client, which stands for a separate process. The client is closed at the latest after the test. */
  newClient(options?: ClientOptions): Holdfast
  /** The key in Redis of the lock with that name. */
  rawName(name: string): string
  /** Runs before each test: makes the servers answer again and deletes all data. */
  reset(): Promise<void>
  /** Runs after each test: closes its clients, and then checks the promises of the world about closed clients. */
  settle(): Promise<void>
  stop(): Promise<void>
}

/** A deployment of Redis, together with a way to connect to it. */
export interface World {
  name: string
  /** Returns why this machine cannot run the world, or null. In CI, such a world fails instead of being skipped. */
  unavailable?(): string | null
  /** True if the locks are in the memory of this process. */
  inMemory?: boolean
  setup(): Promise<WorldHandle>
}

/** A world that consists of a place. */
export function worldOfPlace(name: string, start: () => Promise<Place>): World {
  return {
    name,
    async setup() {
      const place = await start()
      const { server } = place
      const open: { client: Holdfast; way: Way }[] = []
      const settle = async () => {
        // The server must answer, because a client that closes releases its locks.
        await server.revive()
        const ending = open.splice(0)
        await Promise.all(ending.map(({ client }) => client.close()))
        for (const { way } of ending) await way.afterClose?.()
        await place.check?.()
      }
      return {
        server,
        isQuorum: false,
        countsListeners: place.countsListeners ?? true,
        newClient(options = {}) {
          const way = place.way()
          const client = new Holdfast({ redis: way.redis, ...place.options?.(options), ...options })
          open.push({ client, way })
          return client
        },
        rawName: (lock) => (place.keyPrefix ?? '') + lock,
        async reset() {
          await server.revive()
          await server.flush()
        },
        settle,
        async stop() {
          await settle()
          await place.stop?.()
        },
      }
    },
  }
}

/** A world of one server. `way` is called for each new client. */
export function singleServer(
  name: string,
  way: (server: RedisServer) => Way,
  { keyPrefix = '' } = {},
): World {
  return worldOfPlace(name, async () => {
    const server = await startRedis()
    return { server, keyPrefix, way: () => way(server), stop: () => server.stop() }
  })
}

/** A world of a server in the memory of this process. */
const memory: World = {
  name: 'memory',
  inMemory: true,
  async setup() {
    const server = startMemoryServer()
    const open: Holdfast[] = []
    const settle = async () => {
      await Promise.all(open.splice(0).map((client) => client.close()))
    }
    return {
      server,
      isQuorum: false,
      countsListeners: true,
      newClient(options = {}) {
        const client = server.memory.newClient(options)
        open.push(client)
        return client
      },
      rawName: (lock) => lock,
      reset: () => server.flush(),
      settle,
      stop: settle,
    }
  },
}

/** For each client of RedLocks: the clients of the other masters. */
const others = new WeakMap<Holdfast, readonly Holdfast[]>()

/**
 * A world of independent masters. The last `dead` masters do not run.
 *
 * @param newClients makes a client and, for RedLocks, the clients of the other masters
 */
function worldOfMasters(
  name: string,
  { count, dead = 0 }: { count: number; dead?: number },
  newClients: (urls: readonly string[], options: ClientOptions) => [Holdfast, ...Holdfast[]],
): World {
  return {
    name,
    async setup() {
      const servers = await startMasters(count)
      const lost = servers.slice(count - dead)
      await Promise.all(lost.map((master) => master.kill()))
      const server = new AllMasters(servers.slice(0, count - dead))
      const open: Holdfast[] = []
      const settle = async () => {
        await server.revive()
        const ending = open.splice(0)
        await Promise.all(ending.map((client) => client.close()))
        const theirs = ending.flatMap((client) => others.get(client) ?? [])
        await Promise.all(theirs.map((client) => client.close()))
      }
      return {
        server,
        isQuorum: true,
        countsListeners: true,
        newClient(options = {}) {
          const urls = servers.map(({ url }) => url)
          const [client, ...rest] = newClients(urls, { longestLeaseMs: 120_000, ...options })
          open.push(client)
          others.set(client, rest)
          return client
        },
        rawName: (lock) => lock,
        async reset() {
          await server.revive()
          await server.flush()
        },
        settle,
        async stop() {
          await settle()
          await Promise.all(servers.map((master) => master.stop()))
        },
      }
    },
  }
}

/** A world in which one client uses all masters. */
function masters(name: string, count: number, { dead = 0 } = {}): World {
  return worldOfMasters(name, { count, dead }, (urls, options) => [
    new Holdfast({ masters: urls, ...options }),
  ])
}

/** A world with one client for each master. RedLocks consist of the locks of these clients. */
function redLockMasters(name: string, count: number): World {
  return worldOfMasters(
    name,
    { count },
    (urls, options) =>
      urls.map((url) => new Holdfast({ redis: url, ...options })) as [Holdfast, ...Holdfast[]],
  )
}

/** HOLDFAST_WORLDS=few leaves out worlds that take long, because runs on another Node.js version need fewer worlds. */
const few = process.env.HOLDFAST_WORLDS === 'few'

/**
 * Set by the configurations of Jest. `holdfastPlace` is the place to run every kind of lock in, instead of
 * the worlds below. `holdfastWorlds` chooses the worlds of `npm test` or of `npm run test:faults`.
 */
const { holdfastPlace, holdfastWorlds } = globalThis as {
  holdfastPlace?: string
  holdfastWorlds?: 'usual' | 'other'
}

/** True if `npm test` runs, or a test that no command chose. */
export const hasUsual = holdfastWorlds !== 'other'
/** True if `npm run test:faults` runs, or a test that no command chose. */
const hasOther = !few && holdfastWorlds !== 'usual'

export const chosenPlaces: readonly World[] =
  holdfastPlace === undefined ? [] : [worldOfPlace(holdfastPlace, () => placeNamed(holdfastPlace))]

const isAtPlaces = chosenPlaces.length > 0

/** The worlds of one server for contract suites. Add a new world here. */
export const worlds: readonly World[] = isAtPlaces
  ? chosenPlaces
  : [
      ...(hasUsual ? [usersOwnClient()] : []),
      ...(hasOther ? [prefixedServer()] : []),
      ...(hasUsual && !few ? [memory] : []),
    ]

function usersOwnClient(): World {
  return singleServer("one server, by the user's own client", (server) => {
    const instance = connectedInstance(server)
    return { redis: instance.redis, afterClose: () => instance.checkAndEnd() }
  })
}

function prefixedServer(): World {
  return singleServer(
    'one server, by URL, with a key prefix',
    ({ url }) => ({ redis: `${url}?keyPrefix=app:` }),
    { keyPrefix: 'app:' },
  )
}

/** Returns a RedLock: it has a lock with this name on each master of the client's world. */
export function redLockOf(
  client: Holdfast,
  name: string,
  options: GetLockOptions = {},
): HoldfastLock {
  const theirs = others.get(client) ?? []
  return client.getRedLock(
    client.getLock(name, options),
    ...theirs.map((other) => other.getLock(name)),
  )
}

/** The worlds of masters. With HOLDFAST_WORLDS=few, the only such world has one master. */
export const quorumWorlds: readonly World[] = isAtPlaces
  ? []
  : few
    ? [masters('a quorum of one', 1)]
    : [
        ...(hasUsual ? [masters('three masters', 3)] : []),
        ...(hasOther ? [masters('five masters, two of them dead', 5, { dead: 2 })] : []),
      ]

/** The worlds of several clients that make RedLocks together. */
export const redLockWorlds: readonly World[] =
  few || isAtPlaces || !hasUsual ? [] : [redLockMasters('three clients', 3)]

/**
 * Runs a contract suite in every world. The suite may use the handle in its tests and hooks. If this machine cannot run
 * a world, the world is reported as skipped with the reason. In CI, the world fails.
 */
export function describeWorlds(
  title: string,
  suite: (handle: WorldHandle, world: World) => void,
  among: readonly World[] = worlds,
): void {
  describe.each(among.map((world) => ({ name: world.name, world })))(`${title}: $name`, (each) => {
    runIn(each.world, suite)
  })
}

function runIn(world: World, suite: (handle: WorldHandle, world: World) => void): void {
  const reason = world.unavailable?.() ?? null
  if (reason !== null) {
    const run = process.env.CI === 'true' ? test : test.skip
    run(`cannot run here: ${reason}`, () => {
      throw new Error(reason)
    })
    return
  }
  let handle: WorldHandle | undefined
  beforeAll(async () => {
    handle = await world.setup()
  })
  beforeEach(() => handle?.reset())
  const inWorld = forward(() => {
    if (!handle) throw new Error('The world is there in tests and hooks only')
    return handle
  })
  suite(inWorld, world)
  // These hooks are defined last, so they run after the hooks of the suite.
  afterEach(() => handle?.settle())
  afterAll(() => handle?.stop())
}
