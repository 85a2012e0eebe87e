import { Cluster } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { ClientOptions } from '../support/worlds.ts'
import { type Java, type JavaClient, JavaLock, startJava } from './support/java.ts'
import { JavaPermitExpirableSemaphore, JavaSemaphore } from './support/java-semaphores.ts'
import { isQuiet, staysPending } from './support/pending.ts'
import { ours } from './support/stage.ts'

/** A lease whose end a test can wait for, and which differs clearly from a wake-up. */
const LEASE_MS = 2_000
const SOON_MS = 5_000

let cluster: RedisCluster
let java: Java
let tests = 0

beforeAll(async () => {
  cluster = await startCluster()
  java = startJava()
})

beforeEach(async () => {
  tests += 1
  await cluster.flush()
  for (const { admin } of cluster.masters) await admin.config('RESETSTAT')
})

const lockName = () => `it-${tests}`

const since = (start: number) => performance.now() - start

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)

function nodeClient(options: ClientOptions = {}): Holdfast {
  // Holdfast opens its own connections, so this client never connects.
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Resolves when one client listens for a release on a channel of this kind, on any node. */
async function somebodyListens(
  kind: 'NUMSUB' | 'SHARDNUMSUB',
  name = lockName(),
  prefix = 'redisson_lock__channel',
): Promise<void> {
  const channel = `${prefix}:${name.includes('{') ? name : `{${name}}`}`
  await eventually(async () => {
    const counts = cluster.masters.map(async ({ admin }) => {
      const reply = (await admin.call('PUBSUB', kind, channel)) as unknown[]
      return Number(reply[1])
    })
    return sum(await Promise.all(counts)) === 1
  })
}

/** Returns how often the cluster has run a command in this test, even inside scripts. */
async function calls(command: string): Promise<number> {
  const pattern = new RegExp(`cmdstat_${command}:calls=(\\d+)`)
  const counts = cluster.masters.map(async ({ admin }) =>
    Number(pattern.exec(await admin.info('commandstats'))?.[1] ?? 0),
  )
  return sum(await Promise.all(counts))
}

/** The ways to publish releases, with the settings of both sides. */
const ways = [
  {
    way: 'sharded channels, the default of both sides',
    sharded: 'AUTO',
    options: {},
    counts: 'SHARDNUMSUB',
  },
  {
    way: 'channels of the whole cluster, by shardedSubscriptionMode OFF and shardedPubSub: false',
    sharded: 'OFF',
    options: { shardedPubSub: false },
    counts: 'NUMSUB',
  },
] as const

describe.each(ways)('RLock in a cluster, with $way', ({ sharded, options, counts }) => {
  let javaClient: JavaClient
  beforeAll(async () => {
    javaClient = await java.client({ port: cluster.masters[0]?.port ?? 0, sharded })
  })

  const javaLock = (name = lockName()) => new JavaLock([javaClient], 'RLock', [name], name)

  test.each(ours)('Java and %s exclude each other on every master', async (kind) => {
    const client = nodeClient(options)
    const masters = new Set<unknown>()
    for (let i = 0; i < 12; i++) {
      const name = i % 2 === 0 ? `${lockName()}-${i}` : `{${lockName()}-${i}}:it`
      masters.add(await cluster.masterOf(name))
      const [there, here] = [javaLock(name), client[kind](name)]
      await there.lock()
      expect(await here.tryLock()).toBeNull()
      await there.unlock()
      const lease = await here.lock()
      expect(await there.tryLock()).toBe(false)
      await lease.release()
    }
    expect(masters.size).toBe(3)
  })

  test('the watchdogs of both languages keep locks on every master', async () => {
    const client = nodeClient({ ...options, leaseMs: 3_000 })
    const { port = 0 } = cluster.masters[1] ?? {}
    const watched = await java.client({ port, sharded, watchdogMs: 3_000 })
    const names = Array.from({ length: 12 }, (_, i) => `${lockName()}-${i}`)
    const leases = []
    for (const name of names.slice(0, 6)) leases.push(await client.getLock(name).lock())
    const theirs = names.slice(6).map((name) => new JavaLock([watched], 'RLock', [name], 'watched'))
    for (const lock of theirs) await lock.lock()
    const start = performance.now()
    await eventually(
      async () => {
        for (const name of names) {
          expect(await (await cluster.masterOf(name)).admin.exists(name)).toBe(1)
        }
        return since(start) > 7_500
      },
      { everyMs: 25 },
    )
    for (const lease of leases) expect(await lease.release()).toBe(true)
    for (const lock of theirs) await lock.unlock()
  })

  test('Java listens and publishes on these channels', async () => {
    const lease = await nodeClient(options).getLock(lockName()).lock()
    const waiting = javaLock().tryLock(20_000)
    await somebodyListens(counts)
    await isQuiet(() => calls('pttl'))
    const publishes = sharded === 'AUTO' ? 'spublish' : 'publish'
    await lease.release()
    expect(await waiting).toBe(true)
    const before = await calls(publishes)
    await javaLock().unlock()
    expect((await calls(publishes)) - before).toBe(1)
    expect(await calls(sharded === 'AUTO' ? 'publish' : 'spublish')).toBe(0)
  })

  test.each(ours)('an unlock by Java wakes a waiter of %s', async (kind) => {
    await javaLock().lock()
    const waiting = nodeClient(options)[kind](lockName()).lock()
    // A waiter of a fair lock listens on this channel after its first heartbeat, and never sleeps for long.
    await somebodyListens(counts)
    if (kind === 'getLock') await isQuiet(() => calls('pttl'))
    const start = performance.now()
    await javaLock().unlock()
    await (await waiting).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })

  test.each(ours)('a release of %s wakes a waiter in Java', async (kind) => {
    const lease = await nodeClient(options)[kind](lockName()).lock()
    const waiting = javaLock().lock()
    await somebodyListens(counts)
    await isQuiet(() => calls('pttl'))
    const start = performance.now()
    await lease.release()
    await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await javaLock().unlock()
  })

  test('a busy client lets Java acquire the lock', async () => {
    const lock = nodeClient(options).getLock(lockName())
    let busy = true
    const tasks = Array.from({ length: 4 }, async () => {
      while (busy) await lock.using(() => eventually(() => true))
    })
    for (let round = 0; round < 3; round++) {
      expect(await javaLock().tryLock(2 * SOON_MS)).toBe(true)
      await javaLock().unlock()
    }
    busy = false
    await Promise.all(tasks)
  })
})

describe.each(ways)(
  'semaphores of Redisson in a cluster, with $way',
  ({ sharded, options, counts }) => {
    let javaClient: JavaClient
    beforeAll(async () => {
      javaClient = await java.client({ port: cluster.masters[0]?.port ?? 0, sharded })
    })

    // A semaphore stays until it is deleted.
    beforeEach(() => {
      atEnd(() => cluster.flush(), { beforeCheck: true })
    })

    const listens = (name: string) => somebodyListens(counts, name, 'redisson_sc')
    const names = () => Array.from({ length: 2 }, (_, i) => `${lockName()}-${i}`)

    test('RSemaphore and getSemaphore wake each other', async () => {
      const client = nodeClient(options)
      for (const name of names()) {
        const [there, here] = [new JavaSemaphore(javaClient, name, name), client.getSemaphore(name)]
        await here.trySetPermits(0)
        const inJava = there.acquire()
        await listens(name)
        await isQuiet(() => calls('evalsha'))
        // Without a message, the waiter would sleep forever.
        await here.release()
        await inJava
        const waiting = here.acquire()
        await listens(name)
        await there.release()
        await waiting
        expect(await there.availablePermits()).toBe(0)
      }
    })

    test('RPermitExpirableSemaphore and getPermitExpirableSemaphore wake each other', async () => {
      const client = nodeClient(options)
      for (const name of names()) {
        const there = new JavaPermitExpirableSemaphore(javaClient, name, name)
        const here = client.getPermitExpirableSemaphore(name)
        await here.trySetPermits(1)
        const permit = await here.acquire()
        const inJava = there.acquire(1, 30_000)
        await listens(name)
        await isQuiet(() => calls('evalsha'))
        const start = performance.now()
        await permit.release()
        const ids = await inJava
        // Without a message, the waiter would sleep until the end of the lease that it saw.
        expect(since(start)).toBeLessThan(2 * SOON_MS)
        const waiting = here.acquire()
        await listens(name)
        await there.releaseAll(ids)
        await (await waiting).release()
        expect(await there.availablePermits()).toBe(1)
      }
    })
  },
)

describe('RLock in a cluster, with sharded channels on one side only', () => {
  const odd = async (sharded: 'AUTO' | 'OFF', options: ClientOptions) => {
    const client = await java.client({ port: cluster.masters[0]?.port ?? 0, sharded })
    const lock = (name: string) => new JavaLock([client], 'RLock', [name], lockName())
    const here = nodeClient(options)
    // A client has waited before, so both sides know how to listen at this server.
    await lock('before').lock()
    await here.getLock('before').isLocked() // connects the client
    expect(await here.getLock('before').tryLock(1_000)).toBeNull()
    await lock('before').unlock()
    return { there: lock(lockName()), here: here.getLock(lockName()) }
  }

  const sides = [
    ['sharded in Java', 'AUTO', { shardedPubSub: false }, 'NUMSUB', 'SHARDNUMSUB'],
    ['sharded in Node', 'OFF', {}, 'SHARDNUMSUB', 'NUMSUB'],
  ] as const

  test.each(sides)(
    '(%s) a waiter in Node acquires the lock at the end of the lease that it saw',
    async (_, sharded, options, hereOn) => {
      const { there, here } = await odd(sharded, options)
      await there.lock(LEASE_MS)
      const waiting = here.lock()
      await somebodyListens(hereOn)
      await isQuiet(() => calls('pttl'))
      await there.unlock()
      await staysPending(waiting)
      await (await waiting).release()
    },
  )

  test.each(sides)(
    '(%s) a waiter in Java acquires the lock at the end of the lease that it saw',
    async (_, sharded, options, _hereOn, thereOn) => {
      const { there, here } = await odd(sharded, options)
      const lease = await here.lock(LEASE_MS)
      const waiting = there.lock()
      await somebodyListens(thereOn)
      await isQuiet(() => calls('pttl'))
      await lease.release()
      await staysPending(waiting)
      await waiting
      await there.unlock()
    },
  )
})
