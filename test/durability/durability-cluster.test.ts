import { Cluster } from 'ioredis'
import { type DurabilityOptions, Holdfast, NotDurableError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { granted, outcome } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { RedisServer } from '../support/redis-server.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({
    masters: 3,
    replicas: 1,
    config: { 'cluster-node-timeout': 30_000 },
  })
})

beforeEach(async () => {
  for (const replica of cluster.replicas) await replica.revive()
  await cluster.flush()
})

function newClient(durability: DurabilityOptions): Holdfast {
  const redis = new Cluster(cluster.startNodes)
  redis.on('error', () => undefined)
  atEnd(() => redis.disconnect(), { beforeCheck: true })
  const options = { commandTimeoutMs: 1_000, outageMs: 8_000, leaseMs: 20_000 }
  const client = new Holdfast({ redis, durability, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const replicaOf = (master: RedisServer) =>
  cluster.replicas[cluster.masters.indexOf(master)] as RedisServer

/** Returns a name of a lock in a slot of this master. */
async function nameAt(master: RedisServer, start: string): Promise<string> {
  for (let i = 0; ; i += 1) {
    if ((await cluster.masterOf(`${start} ${i}`)) === master) return `${start} ${i}`
  }
}

const waits = async ({ admin }: RedisServer) =>
  Number(/cmdstat_wait:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)

test.each([1, 'all'] as const)(
  'with %p, the replica of its own master has each lock',
  async (replicas) => {
    const client = newClient({ replicas, timeoutMs: 5_000 })
    for (const master of cluster.masters) {
      const lease = granted(await client.getLock(await nameAt(master, 'it')).tryLock())
      expect(await replicaOf(master).admin.hgetall(lease.name)).toEqual({ [lease.owner]: '1' })
      await lease.release()
    }
  },
)

test('a master without its replica undoes its own locks, and delays no other master', async () => {
  const [first, ...others] = cluster.masters as [RedisServer, ...RedisServer[]]
  const client = newClient({ replicas: 'all', timeoutMs: 2_500 })
  await granted(await client.getLock('warm').tryLock()).release()
  replicaOf(first).pause()
  const before = await waits(first)
  const short = outcome(client.getLock(await nameAt(first, 'it')).tryLock())
  await eventually(async () => String(await first.admin.client('LIST')).match(/cmd=wait\b/))
  let isOver = false
  void short.finally(() => {
    isOver = true
  })
  for (const master of others) {
    await granted(await client.getLock(await nameAt(master, 'it')).tryLock()).release()
  }
  expect(isOver).toBe(false)
  const { error } = await short
  expect(error).toBeInstanceOf(NotDurableError)
  expect(error).toMatchObject({ wanted: 'all', confirmed: 0, connected: 1 })
  expect((await waits(first)) - before).toBe(1)
  await eventually(async () => !(await first.admin.exists(await nameAt(first, 'it'))))
})

test('many locks of one master share its WAIT', async () => {
  const client = newClient({ replicas: 1, timeoutMs: 10_000 })
  await granted(await client.getLock('warm').tryLock()).release()
  const [first] = cluster.masters as [RedisServer]
  const names = await Promise.all(
    Array.from({ length: 12 }, (_, i) => nameAt(first, `lock ${i} of many`)),
  )
  const before = await waits(first)
  replicaOf(first).pause()
  const all = names.map((name) => client.getLock(name).tryLock())
  for (const name of names) await eventually(() => first.admin.exists(name))
  replicaOf(first).resume()
  const leases = await Promise.all(all)
  // One WAIT is in flight. A second WAIT covers the locks that were granted during the first.
  expect((await waits(first)) - before).toBeLessThanOrEqual(2)
  for (const lease of leases) {
    const { name, owner } = granted(lease)
    expect(await replicaOf(first).admin.hgetall(name)).toEqual({ [owner]: '1' })
  }
  await Promise.all(leases.map((lease) => lease?.release()))
})

test('a MultiLock at all masters is confirmed, or no part is held', async () => {
  const client = newClient({ replicas: 1, timeoutMs: 1_000 })
  const names = await Promise.all(cluster.masters.map((master) => nameAt(master, 'it')))
  const multi = client.getMultiLock(...names.map((name) => client.getLock(name)))
  await (await multi.lock()).release()
  replicaOf(cluster.masters[2] as RedisServer).pause()
  expect((await outcome(multi.tryLock())).error).toBeInstanceOf(NotDurableError)
  for (const [i, { admin }] of cluster.masters.entries()) {
    await eventually(async () => !(await admin.exists(names[i] as string)))
  }
})

test('the confirmation follows a slot that moves to another master', async () => {
  leaves({ keys: true, why: 'the counter stays with the slot' })
  const client = newClient({ replicas: 1, timeoutMs: 5_000 })
  const [from, to] = cluster.masters as [RedisServer, RedisServer]
  const name = await nameAt(from, 'it')
  await granted(await client.getLock(name).tryLock()).release()
  await from.flush()
  const slot = Number(await from.admin.cluster('KEYSLOT', name))
  const move = async (target: RedisServer) => {
    const id = String(await target.admin.call('CLUSTER', 'MYID'))
    for (const { admin } of [target, ...cluster.masters]) {
      await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', id)
    }
  }
  await move(to)
  try {
    const lease = granted(await client.getLock(name).tryLock())
    expect(await to.admin.hgetall(name)).toEqual({ [lease.owner]: '1' })
    // The replica shows its keys only when it knows of the move.
    await eventually(async () => (await replicaOf(to).admin.hget(name, lease.owner)) === '1')
    await lease.release()
  } finally {
    await to.flush()
    await move(from)
  }
})
