import {
  Holdfast,
  type HoldfastOptions,
  LeaseLostError,
  RedisUnavailableError,
} from '../../src/index.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { startProxy } from '../support/proxy.ts'
import { sharedServer } from '../support/redis-server.ts'
import { Page } from './page.ts'

const server = sharedServer()

let page: Page
const clients: Holdfast[] = []
const newClient = (options: Partial<HoldfastOptions> = {}): Holdfast => {
  const client = new Holdfast({ redis: server.url, ...options } as HoldfastOptions)
  clients.push(client)
  return client
}
beforeEach(() => {
  page = new Page()
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  page.stop()
})

/** Returns the sum of all series with this text in their labels. */
async function total(metric: string, label = ''): Promise<number> {
  const series = Object.entries(await page.of(metric))
  return series.reduce((sum, [labels, value]) => sum + (labels.includes(label) ? value : 0), 0)
}

test('under contention, the metrics count the acquisitions, holds and timeouts of the callers', async () => {
  const seen = { granted: 0, timeout: 0 }
  const names = ['a', 'b']
  const work = async (client: Holdfast, i: number) => {
    const kind = i % 2 === 0 ? 'getLock' : 'getFairLock'
    const lock = client[kind](`${kind}:${names[i % names.length]}`)
    for (let n = 0; n < 10; n++) {
      const lease = await (n % 2 === 0 ? lock.tryLock() : lock.tryLock(20))
      seen[lease === null ? 'timeout' : 'granted'] += 1
      await lease?.release()
    }
  }
  const [one, two] = [newClient(), newClient()]
  await Promise.all(Array.from({ length: 12 }, (_, i) => work(i < 6 ? one : two, i)))
  expect(seen.granted).toBeGreaterThan(0)
  expect(seen.timeout).toBeGreaterThan(0)
  const calls = 'acquire_duration_seconds'
  expect(await total(calls, 'outcome=granted')).toBe(seen.granted)
  expect(await total(calls, 'outcome=timeout')).toBe(seen.timeout)
  expect(await total(calls)).toBe(120)
  expect(await page.of('hold_duration_seconds')).toEqual({
    'kind=lock,outcome=released': expect.any(Number),
    'kind=fair,outcome=released': expect.any(Number),
  })
  expect(await total('hold_duration_seconds')).toBe(seen.granted)
  expect(await page.of('lock_held')).toEqual({})
  expect(await page.of('lock_waiting')).toEqual({})
})

test('a hold and a wait are counted while they last', async () => {
  const lease = await newClient().getLock('it').lock()
  const other = newClient()
  const isWaiting = new Promise<void>((resolve) => other.once('wait', () => resolve()))
  const waiting = other.getLock('it').lock()
  await isWaiting
  await eventually(async () => (await total('wait_oldest_age_seconds')) > 0.02)
  expect(await page.of('lock_held')).toEqual({ 'kind=lock': 1 })
  expect(await page.of('lock_waiting')).toEqual({ 'kind=lock': 1 })
  const waitedFor = await total('wait_oldest_age_seconds')
  expect(await total('hold_oldest_age_seconds')).toBeGreaterThan(waitedFor)
  await lease.release()
  await (await waiting).release()
  expect(await page.of('lock_waiting')).toEqual({})
  expect(await total('acquire_duration_seconds', 'path=raced')).toBe(1)
})

test('a deleted key is one loss, with the reason that its holder receives', async () => {
  const client = newClient({ leaseMs: 600 })
  const lease = await client.getLock('it').lock()
  const lost = new Promise<unknown>((resolve) => client.once('lost', ({ error }) => resolve(error)))
  await server.admin.del('it')
  expect(await lost).toMatchObject({ reason: 'gone' })
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  expect(await page.of('losses_total')).toEqual({ 'kind=lock,reason=gone': 1 })
  expect(await page.of('lock_held')).toEqual({})
  expect(await total('renew_duration_seconds', 'renewed')).toBeGreaterThan(0)
  expect(await total('renew_lateness_seconds')).toBeGreaterThan(0)
})

test('a stall of the event loop that costs a lease is counted as a stall', async () => {
  const lease = await newClient({ leaseMs: 600 }).getLock('it').lock()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  await eventually(() => lease.signal.aborted)
  expect(await page.of('losses_total')).toEqual({ 'kind=lock,reason=expired': 1 })
  expect(await page.of('stall_duration_seconds')).toEqual({ '': 1 })
  expect(await page.sum('stall_duration_seconds')).toBeGreaterThan(0.6)
})

test('an unreachable Redis counts as an outage, not as a timeout', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient({ redis: proxy.url, outageMs: 1_500, commandTimeoutMs: 500 })
  await client.getLock('it').using(() => undefined)
  proxy.refuse()
  proxy.cut()
  await expect(client.getLock('it').lock()).rejects.toThrow(RedisUnavailableError)
  expect(await page.of('acquire_duration_seconds')).toEqual({
    'kind=lock,outcome=granted,path=free': 1,
    'kind=lock,outcome=outage': 1,
  })
  await proxy.heal()
})

test('a lost reply counts as an unknown outcome, once it is settled', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient({ redis: proxy.url, outageMs: 1_500, commandTimeoutMs: 500 })
  await client.getLock('it').using(() => undefined)
  const silence = proxy.dropReplies()
  await expect(client.getLock('it').lock()).rejects.toThrow(RedisUnavailableError)
  silence.heal()
  await eventuallyPasses(async () => {
    expect(await total('unknown_duration_seconds')).toBeGreaterThan(0)
  })
})
