import type { Socket } from 'node:net'
import { Cluster, type Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { watchSubscriber } from '../../src/servers/redis/connection/cluster-nodes.ts'
import { Connection } from '../../src/servers/redis/connection/connection.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { Diary, granted, outcome, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { warm } from '../support/warm.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 1 })
})

/** Each test starts with all nodes up, and with replicas that have all data. */
beforeEach(async () => {
  for (const node of cluster.nodes) await node.revive()
  await cluster.whole()
  // The leak check reads the keys of each node, even if the node is a replica then.
  const readable = () => Promise.all(cluster.nodes.map(({ admin }) => admin.readonly()))
  atEnd(
    async () => {
      for (const node of cluster.nodes) await node.revive()
      // On a loaded machine, a node may report another node as down.
      await cluster.whole()
      await readable()
    },
    { beforeCheck: true },
  )
  await readable()
  for (const [i] of cluster.masters.entries()) {
    await eventually(async () => {
      const { master } = await pairOf(i)
      return /state=online/.test(await master.admin.info('replication'))
    })
  }
})

/** Renewals come every 20 s. So an earlier event does not come from the watchdog. */
function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  const all = { leaseMs: 60_000, commandTimeoutMs: 700, outageMs: 20_000, ...options }
  const client = new Holdfast({ redis, ...all })
  atEnd(() => client.close().finally(() => redis.disconnect()), { beforeCheck: true })
  return client
}

const HISTORY = { keys: true, why: 'a node that was killed or demoted has what it was told' }

/** Returns the current master of these two nodes, and its replica. */
async function pairOf(i: number): Promise<{ master: RedisServer; replica: RedisServer }> {
  const two = [cluster.masters[i], cluster.replicas[i]] as [RedisServer, RedisServer]
  const roles = await Promise.all(
    two.map(async ({ admin }) => (await admin.call('ROLE')) as string[]),
  )
  const [first, second] = roles.map(([role]) => role)
  if (first === second) throw new Error(`both nodes are ${first}`)
  const [master, replica] = first === 'master' ? two : [two[1], two[0]]
  return { master, replica }
}

async function pairFor(name: string) {
  return pairOf(cluster.masters.indexOf(await cluster.masterOf(name)))
}

/** From now on the replica receives no data. */
async function deafen({ admin }: RedisServer, replica: RedisServer): Promise<void> {
  replica.pause()
  await admin.call('CLIENT', 'KILL', 'TYPE', 'replica') // Otherwise it would later read data that is already sent.
}

async function takeOver(replica: RedisServer): Promise<void> {
  await eventually(async () => {
    await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER').catch(() => undefined)
    return ((await replica.admin.call('ROLE')) as string[])[0] === 'master'
  })
}

async function listening({ admin }: RedisServer, count: number): Promise<void> {
  const channel = 'redisson_lock__channel:{it}'
  await eventually(async () => {
    const replies = await Promise.all([
      admin.call('PUBSUB', 'SHARDNUMSUB', channel) as Promise<string[]>,
      ...cluster.nodes
        .filter(({ paused }) => !paused)
        .map(({ admin }) => admin.call('PUBSUB', 'NUMSUB', channel) as Promise<string[]>),
    ])
    return replies.reduce((sum, reply) => sum + Number(reply[1]), 0) === count
  })
}

describe.each([{ shardedPubSub: true }, { shardedPubSub: false }])('%p', (options) => {
  test('a planned failover loses no lock, and waiters are woken', async () => {
    leaves(HISTORY)
    const [holder, other] = [newClient(options), newClient(options)]
    const diary = new Diary(holder)
    const held = await holder.getLock('it').lock()
    const waiting = other.getLock('it').tryLock(60_000)
    const { master, replica } = await pairFor('it')
    await listening(master, 1)
    await eventually(async () => (await replica.admin.exists('it')) === 1)
    // On a busy machine, a master may cancel a failover after 5 s.
    await eventuallyPasses(
      async () => {
        await replica.admin.call('CLUSTER', 'FAILOVER').catch(() => undefined)
        const isMaster = async () => (await pairFor('it')).master === replica
        await eventually(isMaster, { timeoutMs: 8_000 })
      },
      { timeoutMs: 50_000 },
    )
    expect(held.valid).toBe(true)
    expect(await held.release()).toBe(true)
    const lease = granted(await within(30_000, waiting))
    expect(lease.token).toBeGreaterThan(held.token)
    expect(diary.lost).toEqual([])
    await lease.release()
  })

  test('a lock that the new master does not know is reported as lost, and a waiter acquires it', async () => {
    leaves(HISTORY)
    const [holder, other] = [newClient(options), newClient(options)]
    const diary = new Diary(holder)
    await holder.getLock('warm').using(() => undefined)
    const { master, replica } = await pairFor('it')
    await deafen(master, replica)
    const held = await holder.getLock('it').lock()
    const waits = new Promise((resolve) => other.once('wait', resolve))
    const waiting = other.getLock('it').tryLock(60_000)
    await waits
    await master.kill()
    replica.resume()
    await takeOver(replica)
    const lease = granted(await within(15_000, waiting))
    await eventually(() => held.signal.aborted, { timeoutMs: 10_000 })
    expect(diary.reasons).toEqual(['gone'])
    expect(lease.token).toBeGreaterThan(held.token)
    await lease.release()
  })
})

test('a holder learns of the loss without another request', async () => {
  leaves(HISTORY)
  const holder = newClient()
  const { master, replica } = await pairFor('it')
  await deafen(master, replica)
  const watched = await holder.getLock('it').lock()
  const fixed = granted(await holder.getLock('{it}:other').tryLock({ leaseMs: 60_000 }))
  const elsewhere = await holder.getLock('elsewhere').lock()
  await master.kill()
  replica.resume()
  await takeOver(replica)
  await eventually(() => watched.signal.aborted, { timeoutMs: 10_000 })
  await eventually(() => fixed.signal.aborted, { timeoutMs: 10_000 })
  expect(elsewhere.valid).toBe(true)
  expect(await elsewhere.release()).toBe(true)
})

test('a client leaves a master that stands still for the master that took over', async () => {
  leaves(HISTORY)
  const client = newClient()
  const diary = new Diary(client)
  const held = await client.getLock('it').lock()
  const { master, replica } = await pairFor('it')
  await eventually(async () => (await replica.admin.exists('it')) === 1)
  master.pause()
  await takeOver(replica)
  const next = await within(15_000, client.getLock('{it}:next').lock())
  await eventually(async () => (await replica.admin.exists('{it}:next')) === 1)
  expect(await held.release()).toBe(true)
  expect(await replica.admin.exists('it')).toBe(0)
  await next.release()
  expect(diary.lost).toEqual([])
  master.resume()
})

test('a client asks where the masters are after a replica refused a script', async () => {
  leaves(HISTORY)
  const source = new Cluster(cluster.startNodes, { lazyConnect: true })
  const events = { up: jest.fn(), down: jest.fn(), error: jest.fn() }
  const connection = new Connection({ source, silenceMs: 700, sharded: false }, events)
  atEnd(() => [connection.disconnect(), source.disconnect()], { beforeCheck: true })
  const script = "return redis.call('set', KEYS[1], 1, 'PX', 1)"
  const run = () => connection.call(700, (client) => client.eval(script, 1, 'it'))
  expect(await eventually(run)).toBe('OK')
  const slot = await cluster.slotOf('it')
  const { replica } = await pairFor('it')
  // The client has an old answer about the slots, from a node that did not know of a failover.
  const believe = () =>
    ((connection.client as Cluster).slots[slot] = [`${replica.host}:${replica.port}`])
  // The first script may reach the replica before the READONLY of its connection, and is then answered with MOVED.
  await eventually(async () => {
    believe()
    const { error } = await outcome(run())
    return String(error).includes('READONLY')
  })
  expect(await eventually(run, { timeoutMs: 5_000 })).toBe('OK')
})

test('a call waits for slots that no node serves, and the error says so', async () => {
  const client = newClient({ outageMs: 1_000 })
  await warm(client)
  const slot = await cluster.slotOf('it')
  const { master } = await pairFor('it')
  await Promise.all(
    cluster.nodes.map(({ admin }) => admin.cluster('DELSLOTS', slot).catch(() => 0)),
  )
  for (const call of [client.getLock('it').lock(), client.getLock('it').tryLock(900)]) {
    const { error } = await outcome(call)
    expect(error).toMatchObject({ lockName: 'it' })
    expect(String(error)).toMatch(/CLUSTERDOWN|no answer/)
  }
  const patient = newClient()
  const asking = patient.getLock('it').lock()
  await eventually(async () => {
    await master.admin.cluster('ADDSLOTS', slot).catch(() => undefined)
    const infos = await Promise.all(cluster.nodes.map(({ admin }) => admin.cluster('INFO')))
    return infos.every((info) => String(info).includes('cluster_state:ok'))
  })
  await granted(await within(20_000, asking)).release()
})

test('the subscriber connection of a cluster client ends once, however often ioredis disconnects it', async () => {
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  atEnd(() => redis.disconnect(), { beforeCheck: true })
  const onGap = jest.fn()
  watchSubscriber(redis, onGap)
  await redis.connect()
  await redis.subscribe('it')
  const { subscriber } = redis as unknown as { subscriber: { getInstance(): Redis } }
  const before = subscriber.getInstance()
  const { stream } = before as unknown as { stream: Socket }
  const listeners = stream.listenerCount('close')
  for (let i = 0; i < 20; i += 1) before.disconnect()
  expect(stream.listenerCount('close')).toBeLessThanOrEqual(listeners + 1)
  await eventually(() => onGap.mock.calls.length === 1)
  expect(subscriber.getInstance()).not.toBe(before)
})
