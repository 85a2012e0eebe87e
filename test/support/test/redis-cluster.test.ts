import { Cluster } from 'ioredis'
import { eventually } from '../eventually.ts'
import { type RedisCluster, startCluster } from '../redis-cluster.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 1 })
})

test('a cluster has masters that cover all slots, and a replica of each master', async () => {
  expect(cluster.masters).toHaveLength(3)
  expect(cluster.replicas).toHaveLength(3)
  await eventually(async () => {
    const [first] = cluster.masters
    const slots = (await first?.admin.cluster('SLOTS')) as [number, number, ...unknown[]][]
    const covered = slots.reduce((sum, [from, to]) => sum + to - from + 1, 0)
    // The first slot, the last slot, the master and its replica.
    return covered === 16_384 && slots.every((slot) => slot.length === 4)
  })
})

test('each key is at the master that `masterOf()` names, and at a replica of that master', async () => {
  for (const key of ['a', 'b', 'c', '{a}:1', 'order:1001', '']) {
    const master = await cluster.masterOf(key)
    expect(await master.admin.set(key, 'here')).toBe('OK')
    expect(await master.admin.wait(1, 5_000)).toBe(1)
  }
  await cluster.flush()
})

test('a client reaches all slots from the start nodes', async () => {
  const client = new Cluster(cluster.startNodes)
  for (const key of ['a', 'b', 'c', 'd', 'e']) await client.set(key, key)
  expect(await client.get('c')).toBe('c')
  client.disconnect()
  await cluster.flush()
})
