import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Cluster } from 'ioredis'
import {
  Holdfast,
  type HoldfastOptions,
  type OutageEvent,
  type OutageFact,
  type RecoveredEvent,
  RedisUnavailableError,
} from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually, never } from '../support/eventually.ts'
import { startFakeServer } from '../support/fake-server.ts'
import { faultRig } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { startMasters } from '../support/masters.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { startRedis } from '../support/redis-server.ts'

const rig = faultRig()

/** The events of a client about outages. */
class Told {
  readonly outages: OutageEvent[] = []
  readonly recovered: RecoveredEvent[] = []
  readonly errors: Error[] = []

  constructor(client: Holdfast) {
    client.on('outage', (event) => this.outages.push(event))
    client.on('recovered', (event) => this.recovered.push(event))
    client.on('error', (error) => this.errors.push(error))
  }
}

function newClient(options: HoldfastOptions): Holdfast {
  const client = new Holdfast({ commandTimeoutMs: 1_000, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Makes the client use its connections for commands and for messages. */
async function isConnected(client: Holdfast): Promise<void> {
  const lock = client.getLock('warm')
  const lease = await lock.lock()
  expect(await lock.tryLock(30)).toBeNull()
  await lease.release()
}

test('a client emits one `outage` event with the address, and one `recovered` event with the duration', async () => {
  const server = await startRedis()
  const client = newClient({ redis: server.url })
  await isConnected(client)
  const told = new Told(client)
  await server.kill()
  await eventually(() => told.outages.length > 0)
  // A client makes about four attempts a second with each of its connections.
  await never(() => told.errors.length > 1, 1_500)
  const address = `127.0.0.1:${server.port}`
  const [outage] = told.outages as [OutageEvent]
  expect(outage).toMatchObject({ address, durationMs: 0, attempts: 1 })
  expect(outage.error).toBeInstanceOf(RedisUnavailableError)
  expect(outage.error.message).toMatch(
    new RegExp(
      `^Redis at ${address} cannot be reached: connect ECONNREFUSED ${address}\\. The client retries`,
    ),
  )
  expect(outage.error.cause).toMatchObject({ code: 'ECONNREFUSED' })
  expect(told.errors).toEqual([outage.error])
  expect(told.recovered).toEqual([])
  await server.restart()
  await eventually(() => told.recovered.length > 0)
  const [recovered] = told.recovered as [RecoveredEvent]
  expect(recovered.address).toBe(address)
  expect(recovered.durationMs).toBeGreaterThan(1_400)
  expect(recovered.attempts).toBeGreaterThan(outage.attempts)
  await client.getLock('it').using(() => undefined)
  expect([told.outages.length, told.recovered.length, told.errors.length]).toEqual([1, 1, 1])
})

test('a long outage is emitted again, with its duration and the number of failed attempts', async () => {
  const server = await startRedis()
  const client = newClient({ redis: server.url })
  await isConnected(client)
  const told = new Told(client)
  await server.kill()
  await eventually(() => told.outages.length > 1)
  const reminder = told.outages[1] as OutageEvent
  expect(reminder.durationMs).toBeGreaterThanOrEqual(5_000)
  expect(reminder.attempts).toBeGreaterThan(10)
  expect(reminder.error.message).toMatch(/has not been reached for \d+ s \(\d+ attempts failed\): /)
  expect(reminder.error.outage).toMatchObject({ durationMs: reminder.durationMs })
  expect(told.errors).toEqual(told.outages.map(({ error }) => error))
  await server.restart()
  await eventually(() => told.recovered.length > 0)
})

test('a connection that is cut and restored at once is no outage', async () => {
  const client = rig.client({ commandTimeoutMs: 1_500, outageMs: 10_000 })
  await isConnected(client)
  const told = new Told(client)
  for (let i = 0; i < 2; i++) {
    rig.proxy.cut()
    await client.getLock('it').using(() => undefined)
  }
  expect([told.outages, told.recovered]).toEqual([[], []])
})

test('a refused login is an outage, and its error has the words of the server and what to do', async () => {
  const server = await startRedis()
  await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>right', '~*', '&*', '+@all')
  const { host, port } = server
  const client = newClient({
    redis: { host, port, username: 'app', password: 'wrong' },
    outageMs: 1_500,
  })
  const told = new Told(client)
  await expect(client.getLock('it').lock()).rejects.toMatchObject({ code: 'HOLDFAST_REFUSED' })
  expect(told.outages).toHaveLength(1)
  expect(told.outages[0]?.error.message).toMatch(
    /answers with an error: WRONGPASS .*\. Check the username and the password/,
  )
  await server.admin.call('ACL', 'SETUSER', 'app', 'resetpass', '>wrong')
  await eventually(() => told.recovered.length > 0)
})

test('a server that hangs is an outage until it answers', async () => {
  const server = await startRedis()
  const client = newClient({ redis: server.url, commandTimeoutMs: 600, outageMs: 1_200 })
  await isConnected(client)
  const told = new Told(client)
  server.pause()
  await expect(client.getLock('it').lock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  await eventually(() => told.outages.length > 0)
  expect(told.outages[0]?.error.message).toMatch(/gives no answer: no answer within 600 ms/)
  await never(() => told.recovered.length > 0 || told.outages.length > 1, 1_500)
  server.resume()
  await eventually(() => told.recovered.length > 0)
  expect(told.errors).toHaveLength(1)
  leaves({ keys: true, why: 'what was asked for before it hung is settled later' })
})

test('a server that loads its data is an outage until it is ready, even when no further call is made', async () => {
  let isLoading = false
  const { host, port } = await startFakeServer(([command = '']) => {
    const verb = command.toUpperCase()
    if (verb === 'INFO') return bulk('# Server\r\nredis_version:7.0.0\r\nrun_id:abc\r\n')
    if (verb === 'TIME') return `*2\r\n${bulk('1')}${bulk('1')}`
    if (isLoading) return '-LOADING Redis is loading the dataset in memory\r\n'
    return verb === 'PING' ? '+PONG\r\n' : '*2\r\n$7\r\ngranted\r\n:5\r\n'
  })
  const client = newClient({ redis: { host, port }, outageMs: 1_000 })
  const told = new Told(client)
  await client.getLock('it').lock()
  isLoading = true
  await client
    .getLock('other')
    .tryLock()
    .catch(() => {})
  expect(told.outages[0]?.error.message).toMatch(/answers with an error: LOADING/)
  await never(() => told.recovered.length > 0, 1_500)
  isLoading = false
  await eventually(() => told.recovered.length > 0)
  expect(told.outages).toHaveLength(1)
})

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`

test('an outage of one of several masters is emitted with the address of that master', async () => {
  const masters = await startMasters(3)
  const client = newClient({ masters: masters.map(({ url }) => url), newDeployment: true })
  await client.getLock('it').using(() => undefined)
  const told = new Told(client)
  const [, second] = masters as [unknown, (typeof masters)[0]]
  await second.kill()
  await eventually(() => told.outages.length > 0)
  await client.getLock('it').using(() => undefined)
  await second.restart()
  await eventually(() => told.recovered.length > 0)
  expect(told.outages.map(({ address }) => address)).toEqual([`127.0.0.1:${second.port}`])
  expect(told.recovered).toMatchObject([{ address: `127.0.0.1:${second.port}` }])
})

test('an outage of a cluster node is emitted with its address, and its recovery without a further request', async () => {
  const cluster = await startCluster()
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  redis.on('error', () => undefined)
  const client = newClient({ redis, outageMs: 500 })
  for (let i = 0; i < 20; i++) {
    const warm = () => client.getLock(`warm${i}`).using(() => true)
    await eventually(() => warm().catch(() => false))
  }
  const told = new Told(client)
  const node = cluster.nodes.at(-1) as (typeof cluster.nodes)[0]
  await node.kill()
  await eventually(async () => {
    for (let i = 0; i < 6; i++)
      await client
        .getLock(`it${i}`)
        .tryLock(200)
        .catch(() => {})
    return told.outages.length > 0
  })
  const address = `127.0.0.1:${node.port}`
  expect(told.outages[0]).toMatchObject({ address })
  await node.restart()
  await eventually(() => told.recovered.some((one) => one.address === address), {
    timeoutMs: 20_000,
  })
  redis.disconnect()
  leaves({ keys: true, why: 'what was asked for in the outage is settled later' })
})

test('a client that is closed in an outage emits no `recovered` event', async () => {
  const server = await startRedis()
  const client = newClient({ redis: server.url })
  await isConnected(client)
  const told = new Told(client)
  await server.kill()
  await eventually(() => told.outages.length > 0)
  await client.close()
  await server.restart()
  await never(() => told.recovered.length > 0, 1_500)
  expect(told.errors).toHaveLength(1)
})

test('the diagnostics channel has one fact for each outage, from its start to its end', async () => {
  const [begun, ended] = [[] as OutageFact[], [] as OutageFact[]]
  const heard: [string, (fact: unknown) => void][] = [
    ['tracing:holdfast:outage:start', (fact) => begun.push(fact as OutageFact)],
    ['tracing:holdfast:outage:asyncEnd', (fact) => ended.push(fact as OutageFact)],
  ]
  for (const one of heard) subscribe(...one)
  atEnd(() => void heard.map((one) => unsubscribe(...one)))
  const server = await startRedis()
  const client = newClient({ redis: server.url, label: 'billing' })
  await isConnected(client)
  for (let i = 0; i < 2; i++) {
    await server.kill()
    await eventually(() => begun.length === i + 1)
    if (i === 0) await server.restart()
    else await client.close()
    await eventually(() => ended.length === i + 1)
  }
  const address = `127.0.0.1:${server.port}`
  const both = {
    client: client.id,
    label: 'billing',
    address,
    error: expect.any(RedisUnavailableError),
  }
  expect(ended).toEqual([
    { ...both, outcome: 'recovered', outageMs: expect.any(Number), attempts: expect.any(Number) },
    { ...both, outcome: 'closed', outageMs: expect.any(Number), attempts: expect.any(Number) },
  ])
  expect(begun[0]).toBe(ended[0])
})

test('in memory, an outage and its end are emitted with the time of the server', async () => {
  const server = createMemoryServer({ virtualTime: true })
  const client = server.newClient()
  await client.getLock('it').using(() => undefined)
  const told = new Told(client)
  server.beginOutage()
  server.beginOutage()
  await server.advance(60_000)
  server.endOutage()
  expect(told.outages).toMatchObject([{ address: 'memory', durationMs: 0 }])
  expect(told.errors).toEqual([told.outages[0]?.error])
  expect(told.recovered).toMatchObject([{ address: 'memory', durationMs: 60_000 }])
  await client.close()
})

test('connections that break as soon as they are made are an outage', async () => {
  const client = rig.client()
  await isConnected(client)
  const told = new Told(client)
  const cutting = setInterval(() => rig.proxy.cut(), 150)
  await eventually(() => told.outages.length > 0)
  await never(() => told.recovered.length > 0 || told.outages.length > 1, 1_500)
  clearInterval(cutting)
  await eventually(() => told.recovered.length > 0)
})
