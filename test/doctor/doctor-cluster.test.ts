import { eventually } from '../support/eventually.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { diagnose, holdfast, seen } from './diagnose.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 1 })
})
const addressOf = ({ port }: RedisServer) => `127.0.0.1:${port}`
const first = () => addressOf(cluster.masters[0] as RedisServer)

test('the doctor checks each node of a cluster from one node, and reports each finding once', async () => {
  const report = await diagnose(['--cluster', first()])
  expect(report.place).toBe('cluster')
  expect(report.servers.map(({ address }) => address).sort()).toEqual(
    cluster.nodes.map(addressOf).sort(),
  )
  const ends = ['slots-uncovered', 'cluster-down', 'nodes-down', 'missing-rights', 'not-a-cluster']
  expect(report.codes.filter((code) => ends.includes(code))).toEqual([])
  expect(report.codes).not.toContain('read-only-replica')
  expect(seen(report, 'full-coverage')).toHaveLength(3)
  const { out } = await holdfast(['doctor', '--cluster', first()])
  expect(out.match(/^note {2}full-coverage$/gm)).toHaveLength(1)
  const all = cluster.masters.map(addressOf)
  const told = /full-coverage\n {2}seen ([\s\S]*?): cluster-require/.exec(out)?.[1] ?? ''
  expect(
    told
      .trim()
      .split(/[\s,]+/)
      .sort(),
  ).toEqual(all.sort())
  const remark = '# and the same in redis.conf (CONFIG REWRITE), or in the parameter'
  expect(out.slice(out.indexOf('full-coverage')).split(remark)).toHaveLength(2)
})

test('the doctor reports a cluster that is checked without --cluster', async () => {
  const report = await diagnose([first()])
  expect(seen(report, 'is-cluster')).toMatchObject([
    { level: 'error', fix: [`npx holdfast doctor --cluster ${first()}`] },
  ])
})

test('the doctor checks the rights for a cluster', async () => {
  for (const { admin } of cluster.nodes) {
    await admin.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>long-secret', '~*', '&*', '+@all')
    await admin.call('ACL', 'SETUSER', 'app', '-cluster|slots', '-spublish')
  }
  const report = await diagnose(['--cluster', first(), '--user', 'app', '--pass', 'long-secret'])
  const [missing] = seen(report, 'missing-rights')
  expect(missing?.seen).toContain('+cluster|slots +spublish')
  for (const { admin } of cluster.nodes) {
    await admin.call('ACL', 'SETUSER', 'app', '-cluster|nodes')
  }
  const blind = await diagnose(['--cluster', first(), '--user', 'app', '--pass', 'long-secret'])
  expect(blind.codes).toContain('cluster-unknown')
  expect(blind.servers).toHaveLength(1)
})

test('the doctor reports a replica that is down, and slots without a master', async () => {
  const replica = cluster.replicas[0] as RedisServer
  const master = cluster.masters[1] as RedisServer
  const other = cluster.replicas[1] as RedisServer
  const { admin } = cluster.masters[0] as RedisServer
  await replica.kill()
  const stateOf = async (server: RedisServer) =>
    new RegExp(`:${server.port}@.* (\\S*fail\\S*) `).exec(String(await admin.cluster('NODES')))?.[1]
  await eventually(async () => /fail$/.test((await stateOf(replica)) ?? ''), { timeoutMs: 20_000 })
  const report = await diagnose(['--cluster', first()])
  expect(seen(report, 'nodes-down')).toMatchObject([{ numbers: { down: 1, nodes: 6 } }])
  expect(seen(report, 'unreachable').map(({ at }) => at)).toEqual([addressOf(replica)])
  // The doctor found that the replica is down, and checked all other nodes.
  expect(report.verdict).toBe('findings')
  expect(report.codes).not.toContain('slots-uncovered')

  await Promise.all([other.kill(), master.kill()])
  await eventually(async () => /fail$/.test((await stateOf(master)) ?? ''), { timeoutMs: 20_000 })
  await eventually(async () => /state:fail/.test(String(await admin.cluster('INFO'))))
  const broken = await diagnose(['--cluster', first()])
  expect(broken.codes).toEqual(expect.arrayContaining(['cluster-down', 'slots-uncovered']))
  expect(seen(broken, 'slots-uncovered')[0]?.seen).toMatch(/^54\d\d of 16384 slots/)
})
