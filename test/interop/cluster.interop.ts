import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { type Java, type JavaClient, JavaLock, startJava } from './support/java.ts'
import { staysPending } from './support/pending.ts'

/** A lease that can be sat out, and told from a wake-up. */
const LEASE_MS = 1_500
const SOON_MS = 5_000

let cluster: RedisCluster
let java: Java
let tests = 0

beforeAll(async () => {
  cluster = await startCluster()
  java = startJava()
}, 30_000)

beforeEach(async () => {
  tests += 1
  await cluster.flush()
  for (const { admin } of cluster.masters) await admin.config('RESETSTAT')
})

const since = (start: number) => performance.now() - start

function nodeClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  // Holdfast opens connections of its own; this client never connects.
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** How many listen on the channel of the lock, on any node. */
async function listeners(name: string, kind: 'NUMSUB' | 'SHARDNUMSUB'): Promise<number> {
  const channel = name.includes('{') ? name : `{${name}}`
  const counts = await Promise.all(
    cluster.masters.map(async ({ admin }) => {
      const reply = await admin.call('PUBSUB', kind, `redisson_lock__channel:${channel}`)
      return Number((reply as unknown[])[1])
    }),
  )
  return counts.reduce((sum, one) => sum + one, 0)
}

async function calls(command: string): Promise<number> {
  const counts = await Promise.all(
    cluster.masters.map(async ({ admin }) => {
      const found = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(
        await admin.info('commandstats'),
      )
      return Number(found?.[1] ?? 0)
    }),
  )
  return counts.reduce((sum, one) => sum + one, 0)
}

describe.each(['AUTO', 'OFF'] as const)(
  'in a cluster, with shardedSubscriptionMode %s',
  (sharded) => {
    let javaClient: JavaClient
    beforeAll(async () => {
      javaClient = await java.client({ port: cluster.masters[0]?.port ?? 0, sharded })
    })

    const lockName = () => `it-${tests}`
    const javaLock = (name = lockName()) => new JavaLock([javaClient], 'RLock', [name], name)
    const channels = sharded === 'AUTO' ? 'SHARDNUMSUB' : 'NUMSUB'

    test('locks in every part of the cluster exclude each other', async () => {
      const client = nodeClient()
      const masters = new Set<unknown>()
      for (let i = 0; i < 12; i++) {
        const name = i % 2 === 0 ? `${lockName()}-${i}` : `{${lockName()}-${i}}:it`
        masters.add(await cluster.masterOf(name))
        const [there, here] = [javaLock(name), client.getLock(name)]
        await there.lock()
        expect(await here.tryLock()).toBeNull()
        await there.unlock()
        const lease = await here.lock()
        expect(await there.tryLock()).toBe(false)
        await lease.release()
      }
      expect(masters.size).toBe(3)
    })

    test('the watchdogs of both sides keep locks in every part of the cluster', async () => {
      const client = nodeClient({ leaseMs: 1_000 })
      const watched = await java.client({
        port: cluster.masters[1]?.port ?? 0,
        sharded,
        watchdogMs: 1_000,
      })
      const names = Array.from({ length: 12 }, (_, i) => `${lockName()}-${i}`)
      const leases = []
      for (const name of names.slice(0, 6)) leases.push(await client.getLock(name).lock())
      const theirs = names
        .slice(6)
        .map((name) => new JavaLock([watched], 'RLock', [name], 'watched'))
      for (const lock of theirs) await lock.lock()
      const start = performance.now()
      await eventually(
        async () => {
          for (const name of names) {
            expect(await (await cluster.masterOf(name)).admin.exists(name)).toBe(1)
          }
          return since(start) > 2_500
        },
        { everyMs: 25 },
      )
      for (const lease of leases) expect(await lease.release()).toBe(true)
      for (const lock of theirs) await lock.unlock()
    })

    test(`Java listens on ${sharded === 'AUTO' ? 'a sharded channel, with the slot of the lock' : 'a channel for the whole cluster'}`, async () => {
      const lease = await nodeClient().getLock(lockName()).lock()
      const waiting = javaLock().tryLock(500)
      await eventually(async () => (await listeners(lockName(), channels)) === 1)
      if (sharded === 'AUTO') {
        const { admin } = await cluster.masterOf(lockName())
        expect(await admin.pubsub('SHARDCHANNELS')).toEqual([
          `redisson_lock__channel:{${lockName()}}`,
        ])
      }
      expect(await waiting).toBe(false)
      await lease.release()
    })

    test(`Java publishes with ${sharded === 'AUTO' ? 'SPUBLISH' : 'PUBLISH'} at its unlock`, async () => {
      await javaLock().lock()
      await javaLock().unlock()
      expect(await calls('spublish')).toBe(sharded === 'AUTO' ? 1 : 0)
      expect(await calls('publish')).toBe(sharded === 'AUTO' ? 0 : 1)
    })

    if (sharded === 'OFF') {
      test("a waiter here is woken by Java's unlock", async () => {
        await javaLock().lock()
        const waiting = nodeClient().getLock(lockName()).lock()
        await eventually(async () => (await listeners(lockName(), 'NUMSUB')) === 1)
        const start = performance.now()
        await javaLock().unlock()
        await (await waiting).release()
        expect(since(start)).toBeLessThan(SOON_MS)
      })

      test('a waiter in Java is woken by our release', async () => {
        const lease = await nodeClient().getLock(lockName()).lock()
        const waiting = javaLock().lock()
        await eventually(async () => (await listeners(lockName(), 'NUMSUB')) === 1)
        const start = performance.now()
        await lease.release()
        await waiting
        expect(since(start)).toBeLessThan(SOON_MS)
        await javaLock().unlock()
      })
    } else {
      test("a waiter here does not hear Java's unlock: it has the lock when the lease that it saw is over", async () => {
        await javaLock().lock(LEASE_MS)
        const waiting = nodeClient().getLock(lockName()).lock()
        await eventually(async () => (await listeners(lockName(), 'NUMSUB')) === 1)
        await eventually(async () => (await calls('hget')) >= 2) // It has looked again since.
        await javaLock().unlock()
        await staysPending(waiting)
        await (await waiting).release()
      })

      test('a waiter in Java does not hear our release: it has the lock when the lease that it saw is over', async () => {
        const lease = await nodeClient().getLock(lockName()).lock(LEASE_MS)
        const before = await calls('hexists')
        const waiting = javaLock().lock()
        await eventually(async () => (await listeners(lockName(), 'SHARDNUMSUB')) === 1)
        await eventually(async () => (await calls('hexists')) >= before + 2)
        await lease.release()
        await staysPending(waiting)
        await waiting
        await javaLock().unlock()
      })
    }
  },
)
