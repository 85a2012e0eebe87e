import { BIRTH } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from '../support/eventually.ts'
import { granted } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { letVote } from '../support/masters.ts'
import { freePort } from '../support/ports.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { type RedisServer, type StartOptions, startRedis } from '../support/redis-server.ts'

const QUICK = { config: { 'repl-diskless-sync-delay': 0 } }
const DURABLE = { config: { ...QUICK.config, appendonly: 'yes', appendfsync: 'always' } }
const keyless = { keys: true, why: 'a lease of a server that forgot is part of the test' }

type Three = [RedisServer, RedisServer, RedisServer]

async function infoOf({ admin }: RedisServer, section: string, field: string): Promise<string> {
  return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(await admin.info(section))?.[1] ?? ''
}

/** Makes the server a replica, and waits until it has all data of the master on this port. */
async function follow(replica: RedisServer, port: number): Promise<void> {
  await replica.admin.replicaof('127.0.0.1', port)
  await eventually(
    async () => (await infoOf(replica, 'replication', 'master_link_status')) === 'up',
    { message: 'the replica to be in step' },
  )
}

async function isPromoted(server: RedisServer): Promise<void> {
  await server.admin.replicaof('NO', 'ONE')
  expect(await infoOf(server, 'replication', 'role')).toBe('master')
}

/** Starts three masters that have voted, and a replica of the first master that receives no further data. */
async function withLaggingReplica(options: StartOptions = QUICK) {
  const cluster = await Cluster.start(3, false, options)
  const [first, second, third] = cluster.masters as Three
  await cluster
    .client({ newDeployment: true })
    .getLock('first')
    .using(() => {})
  await cluster.free('first')
  const replica = await startRedis(options)
  await follow(replica, first.port)
  // No server listens there, so the replica keeps its data.
  await replica.admin.replicaof('127.0.0.1', await freePort())
  // A master with its first replica gets another replication id, and would rest. This mark ends the rest.
  await letVote(first)
  return { cluster, first, second, third, replica }
}

/** Returns a fixed lease on the first two of three masters. Its client can no longer reach any master. */
async function holderOnTwo(cluster: Cluster, name: string, options = {}) {
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  const [, , away] = proxies as [FaultProxy, FaultProxy, FaultProxy]
  away.refuse()
  const urls = proxies.map(({ url }) => url)
  const lease = await cluster.client(options, urls).getLock(name).lock(30_000)
  await eventually(async () => {
    const holders = await cluster.holders(name)
    return holders[0] === lease.owner && holders[1] === lease.owner && holders[2] === ''
  })
  for (const proxy of proxies) {
    proxy.refuse()
    proxy.cut()
  }
  return lease
}

test('a lagging replica that takes over does not vote, even if it stores every write', async () => {
  const { cluster, second, third, replica } = await withLaggingReplica(DURABLE)
  const lease = await holderOnTwo(cluster, 'it')
  await isPromoted(replica)
  expect(await replica.admin.exists('it')).toBe(0)
  const urls = [replica, second, third].map(({ url }) => url)
  const other = cluster.client({ outageMs: 2_000 }, urls).getLock('it')
  expect(await other.tryLock(2_000).catch(() => null)).toBeNull()
  expect(lease.valid).toBe(true)
  // The mark shows the next client that this server was a replica.
  const mark = String(await replica.admin.get(BIRTH)).split(' ')
  expect(Number(mark[0]) / 1_000).toBeGreaterThan(Date.now() + 20_000)
  expect(mark[2]).toBe('0')
  leaves(keyless)
})

test('a master that was a replica for a moment does not vote, even for a client that noticed nothing', async () => {
  const { cluster, first, replica } = await withLaggingReplica()
  const sleeper = cluster.client({ outageMs: 400 })
  await sleeper.getLock('awake').using(() => {})
  await cluster.free('awake')
  const lease = await holderOnTwo(cluster, 'it')
  const clients = () => first.admin.call('CLIENT', 'LIST', 'TYPE', 'normal').then(String)
  const [, id] = /^id=(\d+) .* cmd=evalsha/m.exec(await clients()) ?? []
  const runId = await infoOf(first, 'server', 'run_id')
  await isPromoted(replica)
  await follow(first, replica.port)
  await isPromoted(first)
  // The process is the same but has older data. Its mark is its own, and connections still exist.
  expect(await infoOf(first, 'server', 'run_id')).toBe(runId)
  expect(await first.admin.exists('it')).toBe(0)
  expect((await first.admin.get(BIRTH))?.split(' ')[1]?.split('/')[0]).toBe(runId)
  expect(await clients()).toMatch(new RegExp(`^id=${id} `, 'm'))
  expect(
    await sleeper
      .getLock('it')
      .tryLock(600)
      .catch(() => null),
  ).toBeNull()
  expect(lease.valid).toBe(true)
  leaves(keyless)
})

test('the disk of a master is no longer trusted after it got a replica', async () => {
  const cluster = await Cluster.start(3, false, DURABLE)
  const [first] = cluster.masters as Three
  const client = cluster.client({ newDeployment: true })
  await client.getLock('it').using(() => {})
  const durable = async () => (await first.admin.get(BIRTH))?.split(' ')[2]
  expect(await durable()).toBe('1')
  const replica = await startRedis()
  await follow(replica, first.port)
  await eventually(async () => {
    await client.getLock('it').using(() => {})
    return (await durable()) === '0'
  })
  await first.restart()
  const lock = cluster.client().getLock('it')
  await eventually(async () => {
    await lock.using(() => {})
    return Number((await first.admin.get(BIRTH))?.split(' ')[0]) > Date.now() * 1_000
  })
})

test('a master that restarted empty rests for the longest lease that the other masters know', async () => {
  const cluster = await Cluster.start(3, false)
  const short = { leaseMs: 2_000, longestLeaseMs: 2_000, commandTimeoutMs: 2_000 }
  const client = cluster.client({ ...short, newDeployment: true })
  await client.getLock('first').using(() => {})
  const lease = await holderOnTwo(cluster, 'it')
  const [first, second] = cluster.masters as Three
  expect((await second.admin.get(BIRTH))?.split(' ')[4]).toBe('60000')
  await first.restart()
  await eventually(async () => (await first.admin.get(BIRTH)) !== null)
  expect(Number((await first.admin.get(BIRTH))?.split(' ')[0]) / 1_000).toBeGreaterThan(
    Date.now() + 20_000,
  )
  const lock = cluster.client(short).getLock('it')
  expect(await lock.tryLock(3_000).catch(() => null)).toBeNull()
  expect(lease.valid).toBe(true)
  expect(granted(lease).remaining()).toBeGreaterThan(10_000)
  leaves(keyless)
})

test('a server that hides its identity has no vote, and the error names the missing right', async () => {
  const cluster = await Cluster.start(3, false)
  for (const { admin } of cluster.masters) {
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-info')
  }
  const urls = cluster.masters.map(({ port }) => `redis://app:secret@127.0.0.1:${port}`)
  const client = cluster.client({ newDeployment: true, outageMs: 10_000 }, urls)
  await expect(client.getLock('it').lock()).rejects.toMatchObject({
    code: 'HOLDFAST_REFUSED',
    message: expect.stringContaining('the user needs the right to INFO'),
  })
  for (const { admin } of cluster.masters) expect(await admin.exists('it')).toBe(0)
})
