import {
  Holdfast as Client,
  type Holdfast,
  RedisUnavailableError,
  WaitTimeoutError,
} from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { startRedis } from '../support/redis-server.ts'
import { refusal } from '../support/refusal.ts'
import { takes } from '../support/takes.ts'
import { catchWarnings } from '../support/warnings.ts'

catchWarnings()

const UNAVAILABLE = { code: 'HOLDFAST_UNAVAILABLE' }

type Call = (client: Holdfast, waitMs: number | undefined) => Promise<unknown>

/** Leaves out `waitMs` if it is undefined. */
const waitFor = (waitMs: number | undefined) => (waitMs === undefined ? {} : { waitMs })

const waits: [string, Call][] = [
  ['lock()', (client, waitMs) => client.getLock('it').lock(waitFor(waitMs))],
  ['using()', (client, waitMs) => client.getLock('it').using(() => {}, waitFor(waitMs))],
  ['a fair lock', (client, waitMs) => client.getFairLock('it').lock(waitFor(waitMs))],
  [
    'a read lock',
    (client, waitMs) => client.getReadWriteLock('rw').readLock().lock(waitFor(waitMs)),
  ],
  [
    'two locks',
    (client, waitMs) =>
      client.getMultiLock(client.getLock('a'), client.getLock('b')).lock(waitFor(waitMs)),
  ],
  [
    'a permit',
    (client, waitMs) => client.getPermitExpirableSemaphore('permits').acquire(waitFor(waitMs)),
  ],
  ['a plain permit', (client, waitMs) => client.getSemaphore('plain').acquire(1, waitFor(waitMs))],
  ['a latch', (client, waitMs) => client.getCountDownLatch('latch').await(waitFor(waitMs))],
]

/** Returns a client that has already had an answer, from a server in memory with virtual time. */
async function connected(options = {}): Promise<{ server: MemoryServer; client: Holdfast }> {
  const server = createMemoryServer({ virtualTime: true })
  const client = server.newClient(options)
  await client.getLock('warm').using(() => {})
  await client.getSemaphore('plain').trySetPermits(1)
  await client.getPermitExpirableSemaphore('permits').trySetPermits(1)
  await client.getCountDownLatch('latch').countDown()
  atEnd(async () => {
    server.endOutage()
    await client.close()
  })
  return { server, client }
}

describe.each(waits)('%s', (_, call) => {
  test('outlasts an outage that is shorter than its `waitMs`', async () => {
    const { server, client } = await connected()
    server.beginOutage()
    const waiting = outcome(call(client, 60_000))
    await server.advance(50_000)
    server.endOutage()
    await server.advance(1_000)
    expect((await waiting).error).toBeUndefined()
  })

  test('rejects at its `waitMs` if the outage is longer, and not with a `WaitTimeoutError`', async () => {
    const { server, client } = await connected()
    server.beginOutage()
    const waiting = outcome(call(client, 20_000))
    let isOver = false
    void waiting.then(() => (isOver = true))
    await server.advance(19_000)
    expect(isOver).toBe(false)
    await server.advance(1_200)
    const { error } = await waiting
    expect(error).toBeInstanceOf(RedisUnavailableError)
    expect(error).not.toBeInstanceOf(WaitTimeoutError)
  })

  test('without a `waitMs` outlasts an outage of 25 s, and rejects after an outage of 30 s', async () => {
    const { server, client } = await connected()
    server.beginOutage()
    const lasting = outcome(call(client, undefined))
    await server.advance(25_000)
    server.endOutage()
    await server.advance(1_000)
    expect((await lasting).error).toBeUndefined()
    const second = await connected()
    second.server.beginOutage()
    const failing = outcome(call(second.client, undefined))
    await second.server.advance(31_000)
    expect((await failing).error).toMatchObject(UNAVAILABLE)
  })

  test('rejects after `outageMs` if the option is given', async () => {
    const { server, client } = await connected({ outageMs: 2_000 })
    server.beginOutage()
    const waiting = [60_000, undefined].map((waitMs) => outcome(call(client, waitMs)))
    await server.advance(3_000)
    for (const { error } of await Promise.all(waiting)) expect(error).toMatchObject(UNAVAILABLE)
  })
})

test('calls that do not wait reject after 5 s, and so does a release', async () => {
  const { server, client } = await connected()
  const lease = await client.getLock('held').lock()
  server.beginOutage()
  const calls: Promise<unknown>[] = [
    client.getLock('it').tryLock(),
    client.getSemaphore('plain').tryAcquire(),
    client.getLock('it').inspect(),
    lease.extend(60_000),
  ]
  const all = Promise.all(calls.map((call) => outcome(call)))
  await server.advance(5_100)
  for (const { error } of await all) expect(error).toMatchObject(UNAVAILABLE)
  const releasing = outcome(lease.release())
  await server.advance(5_100)
  expect((await releasing).error).toMatchObject(UNAVAILABLE)
})

test('a client that never had an answer rejects after 5 s, because its address may be wrong', async () => {
  const server = createMemoryServer({ virtualTime: true })
  const client = server.newClient()
  server.beginOutage()
  const waiting = outcome(client.getLock('it').lock({ waitMs: 60_000 }))
  await server.advance(5_100)
  expect((await waiting).error).toMatchObject(UNAVAILABLE)
  server.endOutage()
  await client.close()
})

describe('a Redis server that is away', () => {
  const newClient = (url: string) => {
    const client = new Client({ redis: url, commandTimeoutMs: 500 })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }

  test('a waiting call acquires the lock after the outage, although a call that does not wait has failed', async () => {
    const server = await startRedis()
    const client = newClient(server.url)
    await client.getLock('it').using(() => {})
    const outage = new Promise((resolve) => client.once('outage', resolve))
    await server.kill()
    const waiting = client.getLock('it').lock({ waitMs: 60_000 })
    const failing = takes({ atLeast: 4_000 }, () => outcome(client.getLock('other').tryLock()))
    await outage
    // A call that does not wait tolerates an outage for this time.
    expect((await failing).error).toMatchObject(UNAVAILABLE)
    await server.restart()
    await (await waiting).release()
  })

  test('a call that a full server refuses rejects long before its `waitMs`', async () => {
    const server = await startRedis()
    const client = newClient(server.url)
    await client.getLock('it').using(() => {})
    await server.admin.config('SET', 'maxmemory', '1')
    const error = await refusal(() => within(20_000, client.getLock('it').lock({ waitMs: 60_000 })))
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
    await server.admin.config('SET', 'maxmemory', '0')
    await eventually(async () => (await client.getLock('it').tryLock()) !== null)
    leaves({ keys: true, why: 'the last of them is held' })
  })
})
