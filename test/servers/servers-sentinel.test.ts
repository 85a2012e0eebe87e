import { Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { Connection } from '../../src/servers/redis/connection/connection.ts'
import { startAddress } from '../support/address.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { freePort } from '../support/ports.ts'
import { startProxy } from '../support/proxy.ts'
import { startWatched, type WatchedServers } from '../support/redis-sentinel.ts'
import type { RedisServer } from '../support/redis-server.ts'

let watched: WatchedServers

// On a busy machine, a failover takes seconds.
beforeAll(async () => {
  watched = await startWatched()
})

beforeEach(() => watched.flush())

function newClient(redis: object = watched.options, outageMs = 10_000): Holdfast {
  const options = { redis, commandTimeoutMs: 1_000, outageMs } as HoldfastOptions
  const client = new Holdfast(options)
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

async function connected(client: Holdfast): Promise<Holdfast> {
  await granted(await client.getLock('warm').tryLock()).release()
  return client
}

/** Returns how many connections listen to the messages of the Sentinels about failovers. */
async function detectors(): Promise<number> {
  const lists = await Promise.all(
    watched.sentinels
      .filter(({ running, paused }) => running && !paused)
      .map(({ admin }) => admin.call('CLIENT', 'LIST', 'TYPE', 'PUBSUB')),
  )
  return lists.join('\n').match(/ sub=1 /g)?.length ?? 0
}

/** A client with a stale connection to the old master reconnects later. Until then it may leave keys there. */
const HISTORY = { keys: true, why: 'a server that was demoted has what it granted meanwhile' }

test('a connected client continues with the new master after a planned failover', async () => {
  leaves(HISTORY)
  const client = await connected(newClient())
  await eventually(async () => (await detectors()) === 3)
  const next = await watched.failover()
  const fresh = newClient()
  const double: string[] = []
  for (let i = 0; i < 24; i += 1) {
    const name = `it ${i}`
    const [one, other] = await Promise.all([
      client.getLock(name).tryLock(),
      fresh.getLock(name).tryLock(),
    ])
    if (one !== null && other !== null) double.push(name)
    expect(await next.admin.exists(name)).toBe(1)
    await one?.release()
    await other?.release()
  }
  expect(double).toEqual([])
})

test('a lock that the new master knows is kept, and the new master wakes waiters', async () => {
  leaves(HISTORY)
  const [client, other] = [await connected(newClient()), await connected(newClient())]
  const diary = new Diary(client)
  const held = await client.getLock('it').lock()
  const waiting = other.getLock('it').tryLock(30_000)
  await watched.replicated()
  const next = await watched.failover()
  const channel = 'redisson_lock__channel:{it}'
  await eventually(async () => Number((await next.admin.pubsub('NUMSUB', channel))[1]) === 1)
  expect(held.valid).toBe(true)
  expect(diary.lost).toEqual([])
  expect(await held.release()).toBe(true)
  const lease = granted(await waiting)
  expect(lease.token).toBeGreaterThan(held.token)
  expect(await next.admin.hgetall('it')).toEqual({ [lease.owner]: '1' })
  await lease.release()
})

test('a client notices a failover that was announced before the client listened', async () => {
  leaves(HISTORY)
  const proxy = await startProxy(watched.sentinels[0]?.port as number)
  const sentinels = [{ host: proxy.host, port: proxy.port }]
  const client = newClient({ ...watched.options, sentinels, updateSentinels: false })
  // The first request asks for the master. The second request follows the subscription to its messages.
  const listening = proxy.onNextRequest('get-master-addr-by-name', 'hold', { nth: 2 })
  const lock = client.getLock('it')
  await granted(await lock.tryLock()).release()
  await listening.seen
  const next = await watched.failover()
  listening.release()
  await eventually(
    async () => {
      const lease = granted(await lock.tryLock())
      const isThere = (await next.admin.exists('it')) === 1
      await lease.release()
      return isThere
    },
    { timeoutMs: 4_000 }, // The Sentinels demote the old master only after this time.
  )
})

test('the watchdog thread follows a failover, and keeps a lock while the event loop is blocked', async () => {
  leaves(HISTORY)
  const options = { leaseMs: 9_000, watchdogThread: true }
  const child = startChild('test/process/fixtures/blocked.mjs', {
    args: [JSON.stringify({ url: watched.options, options })],
  })
  child.send({ command: 'lock', name: 'it' })
  await child.next<{ locked?: number }>((said) => said.locked !== undefined)
  await eventually(async () => (await detectors()) === 6)
  await watched.replicated()
  child.send({ command: 'block', ms: 13_000 })
  const next = await watched.failover()
  const after = await child.next<{ blocked?: number }>((said) => said.blocked !== undefined, {
    timeoutMs: 30_000,
  })
  expect(after).toMatchObject({ valid: true })
  expect(await next.admin.exists('it')).toBe(1)
  child.send({ command: 'release' })
  await child.next<{ released?: boolean }>((said) => said.released === true)
  child.send({ command: 'close' })
  await child.next<{ closed?: boolean }>((said) => said.closed === true)
})

test('`close()` leaves no listener at the Sentinels, and emits no error', async () => {
  const before = await detectors()
  const client = await connected(newClient())
  const diary = new Diary(client)
  const other = newClient()
  const held = await other.getLock('it').lock()
  const waiting = outcome(client.getLock('it').lock())
  await eventually(async () => (await detectors()) === before + 9)
  await client.close()
  await waiting
  await held.release()
  await other.close()
  await eventually(async () => (await detectors()) === before)
  expect(diary.errors).toEqual([])
})

test('a client that is closed while it connects leaves no listener at the Sentinels', async () => {
  const before = await detectors()
  for (let i = 0; i < 10; i += 1) {
    const client = newClient()
    const asking = outcome(client.getLock('it').tryLock())
    await new Promise((resolve) => setTimeout(resolve, i))
    await client.close()
    await asking
  }
  await eventually(async () => (await detectors()) === before)
})

describe('Sentinels that cannot be reached', () => {
  /** Starts an address for each Sentinel. The addresses lead nowhere until `reach` is called. */
  async function unreachable() {
    const addresses = await Promise.all(
      watched.sentinels.map(async () =>
        startAddress({ host: '127.0.0.1', port: await freePort() }),
      ),
    )
    const sentinels = addresses.map(({ host, port }) => ({ host, port }))
    const reach = () => {
      for (const [i, address] of addresses.entries()) {
        address.switchTo(watched.sentinels[i] as RedisServer)
      }
    }
    return { options: { ...watched.options, sentinels, updateSentinels: false }, reach, addresses }
  }

  /** Settings with which a user's own client gives up at once. Holdfast must work in spite of them. */
  const GIVES_UP = {
    sentinelRetryStrategy: () => null,
    sentinelReconnectStrategy: () => null,
    retryStrategy: () => null,
    reconnectOnError: () => true,
  }

  test.each(['options', 'an instance'])(
    'a call reports an outage, and succeeds once the Sentinels are up: %s',
    async (source) => {
      const { options, reach } = await unreachable()
      const all = { ...options, ...GIVES_UP }
      const redis = source === 'options' ? all : new Redis({ ...all, lazyConnect: true })
      const client = newClient(redis, 1_000)
      const diary = new Diary(client)
      const { error } = await outcome(client.getLock('it').lock())
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      expect(String(error)).toMatch(/sentinels are unreachable/)
      expect(String([error, ...diary.errors])).not.toMatch(/retry is disabled/)
      reach()
      await eventually(async () => granted(await client.getLock('it').tryLock()).release())
    },
  )

  test('the first connection after the Sentinels are up reaches the master', async () => {
    const { options, reach } = await unreachable()
    const failed = jest.fn()
    const events = { up: jest.fn(), down: jest.fn(), error: failed }
    const settings = { source: options, silenceMs: 1_000, sharded: false }
    const connection = new Connection(settings, events)
    atEnd(() => connection.disconnect(), { beforeCheck: true })
    const ready = jest.fn()
    connection.client.on('ready', ready)
    await eventually(() => failed.mock.calls.length > 0)
    reach()
    await eventually(() => events.up.mock.calls.length > 0)
    expect(ready).toHaveBeenCalledTimes(1)
  })

  test('a connected client works without the Sentinels, and listens to them again later', async () => {
    const { options, reach, addresses } = await unreachable()
    reach()
    const before = await detectors()
    const client = await connected(newClient(options))
    const diary = new Diary(client)
    await eventually(async () => (await detectors()) === before + 3)
    const nowhere = { host: '127.0.0.1', port: await freePort() }
    for (const address of addresses) {
      address.switchTo(nowhere)
      address.cut()
    }
    await eventually(async () => (await detectors()) === before)
    for (let i = 0; i < 10; i += 1) await client.getLock('it').using(() => undefined)
    expect(diary.errors).toEqual([])
    reach()
    await eventually(async () => (await detectors()) === before + 3)
  })

  test('a program ends', async () => {
    const { options } = await unreachable()
    const file = 'test/servers/fixtures/sentinels.mjs'
    const child = startChild(file, { args: [JSON.stringify(options)] })
    expect(await child.next()).toEqual({ code: 'HOLDFAST_UNAVAILABLE' })
    expect(await within(20_000, child.exited)).toEqual({ code: 0, signal: null })
    expect(child.errors).toBe('')
  })
})

test('a program that is done ends, although its client listens to Sentinels', async () => {
  const file = 'test/servers/fixtures/sentinels.mjs'
  const child = startChild(file, { args: [JSON.stringify(watched.options)] })
  expect(await child.next()).toEqual({ locked: true })
  expect(await within(20_000, child.exited)).toEqual({ code: 0, signal: null })
  expect(child.errors).toBe('')
})

test.each([0, 1])(
  'one Sentinel that knows another master, as number %d, does not mislead the client',
  async (at) => {
    leaves(HISTORY)
    const stale = await startWatched({ replicas: 0, sentinels: 1 })
    const [lone] = stale.sentinels as [RedisServer]
    const { options } = watched
    const sentinels = [...options.sentinels]
    sentinels.splice(at, 0, { host: lone.host, port: lone.port })
    const client = newClient({ ...options, sentinels, updateSentinels: false })
    const master = await watched.master()
    const isThere = () =>
      client.getLock('it').using(async () => (await master.admin.exists('it')) === 1)
    await eventually(async () => (await isThere()) && (await detectors()) === 3)
    const accepted = async () =>
      Number(/total_connections_received:(\d+)/.exec(await master.admin.info('stats'))?.[1])
    const before = await accepted()
    // Each new connection would also ask the Sentinels again at once.
    for (let i = 0; i < 300; i += 1) expect(await isThere()).toBe(true)
    expect(await accepted()).toBe(before)
  },
)
