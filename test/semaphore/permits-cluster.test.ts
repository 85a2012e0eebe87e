import { Cluster } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { PATIENT, type RedisCluster, startCluster } from '../support/redis-cluster.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

function newClient(): Holdfast {
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes, leaseMs: 6_000, ...PATIENT })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  return client
}

test('permits work in a cluster, and sharded messages wake waiters', async () => {
  const [client, other] = [newClient(), newClient()]
  for (const name of ['ada', '{bob}:x', 'cid']) {
    const semaphore = client.getPermitExpirableSemaphore(name)
    expect(await semaphore.trySetPermits(3)).toBe(true)
    const permit = await semaphore.acquire({ permits: 3 })
    const acquiring = other.getPermitExpirableSemaphore(name).acquire({ permits: 2 })
    const { admin } = await cluster.masterOf(name)
    await eventually(async () => ((await admin.pubsub('SHARDCHANNELS')) as string[]).length >= 2)
    let leastMs = permit.remaining()
    await eventually(
      () => {
        const isLonger = permit.remaining() > leastMs
        leastMs = Math.min(leastMs, permit.remaining())
        return isLonger
      },
      { message: 'a renewal' },
    )
    expect(permit.valid).toBe(true)
    // The limit is below the second after which the waiter would check again without a message.
    await permit.release()
    await (await within(900, acquiring)).release()
    expect(await semaphore.availablePermits()).toBe(3)
    await admin.del(name)
  }
})
