import { Cluster } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { granted } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { RedisServer } from '../support/redis-server.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 1 })
})

function newClient(): Holdfast {
  const redis = new Cluster(cluster.startNodes)
  redis.on('error', () => undefined)
  atEnd(() => redis.disconnect(), { beforeCheck: true })
  const durability = { replicas: 'all', timeoutMs: 5_000 } as const
  const client = new Holdfast({ redis, durability, leaseMs: 20_000 })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

async function nameAt(master: RedisServer): Promise<string> {
  for (let i = 0; ; i += 1) {
    if ((await cluster.masterOf(`it ${i}`)) === master) return `it ${i}`
  }
}

test('after a failover, the new master confirms with its own replica, which is the old master', async () => {
  leaves({ keys: true, why: 'the counter stays with the slot' })
  const master = cluster.masters[0] as RedisServer
  const replica = cluster.replicas[0] as RedisServer
  const client = newClient()
  const name = await nameAt(master)
  await granted(await client.getLock(name).tryLock()).release()
  // TAKEOVER needs no vote. The other masters vote only once within a certain time.
  const takeOver = async (one: RedisServer) => {
    await one.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
    await eventually(async () => (await one.admin.info('replication')).includes('role:master'))
  }
  await takeOver(replica)
  const lease = granted(await eventually(() => client.getLock(name).tryLock()))
  await master.admin.readonly()
  expect(await master.admin.hgetall(name)).toEqual({ [lease.owner]: '1' })
  await lease.release()
})
