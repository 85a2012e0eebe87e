import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import type { LockRow } from '../../tools/inspection/inspection.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { atEnd } from '../support/lifetime.ts'
import { startMasters } from '../support/masters.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { startRedis } from '../support/redis-server.ts'

const ending = { beforeCheck: true }

function look(args: Parameters<typeof readWhere>[0], urls: readonly string[], timeoutMs?: number) {
  const inspection = openInspection(
    readWhere(args, urls, {}),
    timeoutMs === undefined ? {} : { timeoutMs },
  )
  atEnd(() => inspection.close(), ending)
  return inspection
}

async function keysOf(rows: AsyncIterable<readonly LockRow[]>): Promise<LockRow[]> {
  const all: LockRow[] = []
  for await (const some of rows) all.push(...some)
  return all.sort((a, b) => (a.key < b.key ? -1 : 1))
}

test('in a cluster, the locks of all masters are found and inspected at their master', async () => {
  const cluster = await startCluster({ masters: 3, replicas: 0 })
  const nodes = cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
  const client = new Holdfast({ redis: { cluster: nodes } })
  atEnd(() => client.close(), ending)
  const names = Array.from({ length: 30 }, (_, i) => `job:${i}`)
  const leases = await Promise.all(names.map((name) => client.getLock(name).lock()))
  const inspection = look({ cluster: true }, [`127.0.0.1:${nodes[0]?.port}`])
  const rows = await keysOf(inspection.list())
  expect(rows.map(({ key }) => key)).toEqual(names.sort())
  expect(rows.every(({ state }) => state === 'held')).toBe(true)
  expect((await inspection.read(names)).length).toBe(30)
  expect(await inspection.inspect('job:7')).toMatchObject({ token: leases[7]?.token })
  for (const { admin } of cluster.masters) expect(await admin.dbsize()).toBeGreaterThan(0)
})

test('a cluster without hostnames that prefers hostnames is reached by IP addresses', async () => {
  const cluster = await startCluster({ masters: 2, replicas: 0 })
  // Redis 7.0 and later have this setting.
  const prefer = (type: string) => {
    const set = ['CONFIG', 'SET', 'cluster-preferred-endpoint-type', type] as const
    return Promise.all(cluster.masters.map(({ admin }) => admin.call(...set).catch(() => null)))
  }
  const client = new Holdfast({ redis: { cluster: cluster.startNodes } })
  atEnd(() => client.close(), ending)
  const names = Array.from({ length: 10 }, (_, i) => `job:${i}`)
  await Promise.all(names.map((name) => client.getLock(name).lock()))
  for (const type of ['hostname', 'unknown-endpoint', 'ip']) {
    await prefer(type)
    const inspection = look({ cluster: true }, [`127.0.0.1:${cluster.masters[0]?.port}`])
    const rows = await keysOf(inspection.list())
    expect([type, rows.map(({ key }) => key)]).toEqual([type, names])
    expect(inspection.unreachable).toEqual([])
  }
})

test('a lock of several masters is held if a majority holds it, even while one master is down', async () => {
  const masters = await startMasters(3)
  const urls = masters.map(({ port }) => `127.0.0.1:${port}`)
  const client = new Holdfast({
    masters: urls.map((url) => `redis://${url}`),
    newDeployment: true,
  })
  atEnd(() => client.close(), ending)
  const lease = await client.getLock('whole').lock()
  const [first, second] = masters
  await first?.admin.hset('half', 'NxwZr5PVhg5sb0Me8yo04:17', '1')
  await first?.admin.pexpire('half', 30_000)
  const inspection = look({}, urls)
  expect(await keysOf(inspection.list())).toMatchObject([
    { key: 'half', state: 'free', holders: [] },
    {
      key: 'whole',
      state: 'held',
      holders: [{ owner: lease.owner, ageMs: null }],
    },
  ])
  expect((await inspection.inspect('half'))?.votes).toMatch(/NxwZr5PVhg5sb0Me8yo04:17: 1/)
  await second?.kill()
  expect(await keysOf(look({}, urls, 1_000).list())).toMatchObject([
    { key: 'half' },
    { key: 'whole', state: 'held' },
  ])
  await first?.admin.del('half')
  await first?.kill()
  await expect(look({}, urls, 1_000).read(['whole'])).rejects.toThrow(
    /127\.0\.0\.1:\d+ cannot be asked: /,
  )
  await lease.release().catch(() => {})
})

test('a read-only login is sufficient, and no command of the login is refused', async () => {
  const server = await startRedis()
  const rights =
    '~* resetchannels +ping +time +scan +type +get +mget +hgetall +hget +lrange +hrandfield +pttl +exists +zcard +zcount +zrange ' +
    '+zrangebyscore +pubsub|numsub +pubsub|shardnumsub +cluster|slots'
  await server.admin.call('ACL', 'SETUSER', 'looks', 'on', '>secret', ...rights.split(' '))
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), ending)
  await client.getLock('a').lock()
  await client.getReadWriteLock('b').readLock().lock()
  await client.getPermitExpirableSemaphore('c').trySetPermits(2)
  const permit = await client.getPermitExpirableSemaphore('c').acquire()
  const before = await server.admin.info('commandstats')
  const inspection = look({ user: 'looks', pass: 'secret' }, [server.url])
  expect((await keysOf(inspection.list())).map(({ key }) => key)).toEqual(['a', 'b', 'c'])
  for (const key of ['a', 'b', 'c']) expect(await inspection.inspect(key)).toMatchObject({ key })
  expect(await server.admin.call('ACL', 'LOG')).toEqual([])
  const { cost } = inspection
  expect(cost.commands).toBeGreaterThan(20)
  expect(cost.bytes).toBeGreaterThan(500)
  expect(before).toContain('cmdstat_evalsha')
  await permit.release()
  await server.admin.del('c')
  await server.admin.call('ACL', 'SETUSER', 'looks', '-scan')
  await expect(
    keysOf(look({ user: 'looks', pass: 'secret' }, [server.url]).list()),
  ).rejects.toThrow(/NOPERM.*scan/i)
})

test('the cost leaves out the time of the caller between two chunks, and counts no check twice', async () => {
  const server = await startRedis()
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), ending)
  await client.getFairLock('a').lock()
  await server.admin.zadd('holdfast_queue:{b}', 1, 'NxwZr5PVhg5sb0Me8yo04:17')
  const inspection = look({}, [server.url])
  const startedAt = performance.now()
  let chunks = 0
  let ownMs = 0
  const work = async () => {
    const from = performance.now()
    await pause(300)
    ownMs += performance.now() - from
    await inspection.inspect('a')
    chunks++
  }
  for await (const _ of inspection.list()) await work()
  for await (const _ of inspection.listEndless()) await work()
  expect(chunks).toBeGreaterThanOrEqual(2)
  const tookMs = performance.now() - startedAt
  expect(inspection.cost.tookMs).toBeLessThanOrEqual(Math.ceil(tookMs - ownMs))
  expect(inspection.cost.tookMs).toBeGreaterThan(0)
  await server.flush()
})

test('a server that restarts is read again', async () => {
  const server = await startRedis()
  const inspection = look({}, [server.url], 1_000)
  await server.admin.set('redisson_lock_token:{a}', '1795326703508402')
  expect(await inspection.read(['a'])).toHaveLength(1)
  await server.restart()
  await server.admin.set('redisson_lock_token:{a}', '1795326703508402')
  await inspection.read(['a']).catch(() => {})
  expect(await inspection.read(['a'])).toHaveLength(1)
  await server.flush()
})
