import { setTimeout as pause } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { PATIENT, type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { sharedServer } from '../support/redis-server.ts'

/** A name without a hash tag, and a name with its own hash tag. */
const NAMES = ['it', '{tag}:other']

const server = sharedServer()
let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes, ...PATIENT, ...options })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  return client
}

describe.each([{ shardedPubSub: true }, { shardedPubSub: false }])(
  'in a cluster, %p',
  (options) => {
    test('messages wake waiters', async () => {
      const [a, b] = [newClient(options), newClient(options)]
      for (const name of NAMES) {
        const [mine, theirs] = [a.getSemaphore(name), b.getSemaphore(name)]
        await mine.trySetPermits(1)
        let turns = 0
        const cycle = async (semaphore: typeof mine) => {
          for (let i = 0; i < 20; i++) {
            await semaphore.using(async () => {
              turns += 1
              // The other client waits meanwhile.
              await pause(5)
            })
          }
        }
        // Without messages, every second turn would wait up to a second for a check.
        await within(4_000, Promise.all([cycle(mine), cycle(theirs)]))
        expect(turns).toBe(40)
        expect(await mine.availablePermits()).toBe(1)
      }
      await Promise.all([a.close(), b.close()])
      for (const name of NAMES) {
        const { admin } = await cluster.masterOf(name)
        expect((await lastingKeys(admin)).filter((key) => key.includes(name))).toEqual([name])
      }
    })
  },
)

test('a key prefix is part of every name', async () => {
  const { host, port } = server
  const [a, b] = [0, 1].map(() => {
    const client = new Holdfast({ redis: { host, port, keyPrefix: 'app:' } })
    atEnd(() => client.close(), { beforeCheck: true })
    return client.getSemaphore('it')
  }) as [ReturnType<Holdfast['getSemaphore']>, ReturnType<Holdfast['getSemaphore']>]
  await a.trySetPermits(0)
  const waiting = b.acquire()
  await eventually(() => server.admin.exists('holdfast_permit_queue:{app:it}'))
  await a.release()
  await within(5_000, waiting)
  for (const key of await lastingKeys(server.admin))
    expect(key).toMatch(/^(holdfast_\w+:\{app:it\}.*|app:it)$/)
  await server.admin.del('app:it')
})
