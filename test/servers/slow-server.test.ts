import { Cluster } from 'ioredis'
import { Holdfast, type Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { sharedServer } from '../support/redis-server.ts'

/** Tests how a client treats a server that is only slow, and a connection that is dead. */
const server = sharedServer()
const COMMAND_TIMEOUT_MS = 1_000

function newClient(url: string): Holdfast {
  const options = { commandTimeoutMs: COMMAND_TIMEOUT_MS, outageMs: 10_000 }
  const client = new Holdfast({ redis: url, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Returns the ids of all connections to the server. */
async function connections(): Promise<string[]> {
  const list = String(await server.admin.call('CLIENT', 'LIST'))
  return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id as string).sort()
}

async function accepted(): Promise<number> {
  return Number(/total_connections_received:(\d+)/.exec(await server.admin.info('stats'))?.[1])
}

test('all connections stay if a server stands still for longer than a call may take', async () => {
  const clients = Array.from({ length: 20 }, () => newClient(server.url))
  const diaries = clients.map((client) => new Diary(client))
  const holder = newClient(server.url)
  const held = await holder.getLock('it').lock()
  // All clients listen.
  const waiting = clients.map((client) => client.getLock('it').tryLock(60_000))
  await eventually(async () => {
    const reply = await server.admin.pubsub('NUMSUB', 'redisson_lock__channel:{it}')
    return Number(reply[1]) === clients.length
  })
  const [before, acceptedBefore] = [await connections(), await accepted()]
  server.pause()
  const asked = clients.map((client, i) => outcome(client.getLock(`other ${i}`).tryLock()))
  const endsAt = performance.now() + 3.5 * COMMAND_TIMEOUT_MS
  await eventually(() => performance.now() > endsAt)
  server.resume()
  for (const { value, error } of await Promise.all(asked)) {
    expect(error).toBeUndefined()
    await granted(value as never).release()
  }
  // No client left its connection. Each client tried only one more connection at a time.
  await eventually(async () => (await connections()).join() === before.join())
  expect((await accepted()) - acceptedBefore).toBeLessThanOrEqual(3 * (clients.length + 1))
  // Each client reported once that the server did not answer.
  for (const { errors } of diaries) {
    expect(errors).toMatchObject([{ message: expect.stringMatching(/gives no answer/) }])
  }
  await held.release()
  await Promise.all(waiting.map(async (one) => granted(await one).release()))
})

test('a dead connection is left once a new connection is answered, and waiters are woken', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient(proxy.url)
  const held = await newClient(server.url).getLock('it').lock()
  const waiting = client.getLock('it').tryLock(60_000)
  await eventually(() => proxy.openConnections.length === 2)
  const dead = proxy.openConnections.map(({ index }) => index)
  // New connections get through.
  proxy.blackHole({ only: ({ index }) => dead.includes(index) })
  await granted(await within(15_000, client.getLock('other').lock())).release()
  await held.release()
  await granted(await within(15_000, waiting)).release()
  expect(proxy.openConnections.map(({ index }) => index)).not.toEqual(expect.arrayContaining(dead))
  await proxy.heal()
})

test('a client without answers tries new connections from time to time, and continues when one is answered', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient(proxy.url)
  await granted(await client.getLock('it').tryLock()).release()
  const before = proxy.connections.length
  const hole = proxy.blackHole({ onHeal: 'drop' })
  const asking = client.getLock('it').lock()
  await eventually(() => proxy.connections.length > before + 1)
  hole.heal()
  await granted(await within(15_000, asking)).release()
  await proxy.heal()
})

test('a waiter that subscribed while the server stood still is woken by messages afterwards', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient(proxy.url)
  const held = await newClient(server.url).getLock('it').lock()
  const confirmation = proxy.onNextRequest('SUBSCRIBE', 'hold')
  const waiting = client.getLock('it').tryLock(60_000)
  await confirmation.seen
  server.pause()
  confirmation.release()
  // After `commandTimeoutMs`, the client gives up the subscription, but keeps the connection.
  await eventually(() => proxy.count('SUBSCRIBE') > 1)
  server.resume()
  const looks = () => proxy.count(SHA.acquire)
  await eventually(async () => {
    const before = looks()
    await new Promise((resolve) => setTimeout(resolve, 400))
    return looks() === before // The waiter no longer polls.
  })
  await held.release()
  await granted(await within(5_000, waiting)).release()
})

test('a node of a cluster that stands still delays no renewal at the other nodes', async () => {
  const config = { 'cluster-node-timeout': 30_000 }
  const cluster = await startCluster({ config })
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  // When the other leases have been renewed twice, the leases at the slow node are still valid for 6 s.
  const options = { leaseMs: 18_000, commandTimeoutMs: 4_000, outageMs: 60_000 }
  const client = new Holdfast({ redis, ...options })
  atEnd(() => client.close().finally(() => redis.disconnect()), { beforeCheck: true })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const leases = await Promise.all(names.map((name) => client.getLock(name).lock()))
  const slow = await cluster.masterOf('a')
  const others: Lease[] = []
  for (const lease of leases) if ((await cluster.masterOf(lease.name)) !== slow) others.push(lease)
  const ofSlow = leases.filter((lease) => !others.includes(lease))
  expect(others.length).toBeGreaterThan(0)
  expect(others.length).toBeLessThan(names.length)
  const diary = new Diary(client)
  slow.pause()
  // Each of the other leases was renewed twice. The slow node has not answered.
  await eventually(() => diary.renewed >= 2 * others.length, { timeoutMs: 30_000 })
  expect(diary.lost).toEqual([])
  const far = others[0]?.name as string
  await client.getLock(`{${far}}:next`).using(() => undefined)
  const left = ofSlow.map((lease) => lease.remaining())
  slow.resume()
  await eventually(() => ofSlow.every((lease, i) => lease.remaining() > Number(left[i])))
  expect(leases.every(({ valid }) => valid)).toBe(true)
  await Promise.all(leases.map((lease) => lease.release()))
})
