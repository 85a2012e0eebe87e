import { Cluster } from 'ioredis'
import { eventually } from '../eventually.ts'
import { type RedisCluster, startCluster } from '../redis-cluster.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 1 })
}, 30_000)

test('a cluster has masters with all slots among them, and a replica for each', async () => {
  expect(cluster.masters).toHaveLength(3)
  expect(cluster.replicas).toHaveLength(3)
  await eventually(async () => {
    const [first] = cluster.masters
    const slots = (await first?.admin.cluster('SLOTS')) as [number, number, ...unknown[]][]
    const covered = slots.reduce((sum, [from, to]) => sum + to - from + 1, 0)
    // From, to, the master, its replica.
    return covered === 16_384 && slots.every((slot) => slot.length === 4)
  })
})

test('each key is with the master that masterOf() names, and on a replica of it', async () => {
  for (const key of ['a', 'b', 'c', '{a}:1', 'order:1001', '']) {
    const master = await cluster.masterOf(key)
    expect(await master.admin.set(key, 'here')).toBe('OK')
    expect(await master.admin.wait(1, 5_000)).toBe(1)
  }
  await cluster.flush()
})

test('a client finds its way from the start nodes, and leaves nothing behind', async () => {
  const client = new Cluster(cluster.startNodes)
  for (const key of ['a', 'b', 'c', 'd', 'e']) await client.set(key, key)
  expect(await client.get('c')).toBe('c')
  client.disconnect()
  await cluster.flush()
})
