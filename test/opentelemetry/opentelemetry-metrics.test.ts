import { RedisUnavailableError } from '../../src/index.ts'
import { Rig } from './opentelemetry-rig.ts'
import { acquiring, holding, newAcquire, renewing, settledChannel } from './told.ts'

let rig: Rig
const start = (options?: ConstructorParameters<typeof Rig>[0]) => {
  rig = new Rig(options)
}
afterEach(() => rig.end())

/** Returns the points of one metric: their attributes, and their values or counts. */
async function points(name: string): Promise<[unknown, number][]> {
  const all = (await rig.metrics()).get(name) ?? []
  return all.map(({ attributes, value }) => [
    attributes,
    typeof value === 'number' ? value : value.count,
  ])
}
const ofLocks = { 'holdfast.lock.kind': 'lock' }

test('acquisitions are counted by outcome and path', async () => {
  start()
  for (let i = 0; i < 3; i++) acquiring()({ outcome: 'granted', path: 'free' })
  acquiring()({ outcome: 'granted', path: 'raced' })
  acquiring()({ outcome: 'timeout' })
  acquiring()({ outcome: 'outage', error: new RedisUnavailableError('no answer') })
  expect(await points('holdfast.acquire.duration')).toEqual([
    [{ ...ofLocks, 'holdfast.acquire.outcome': 'granted', 'holdfast.acquire.path': 'free' }, 3],
    [{ ...ofLocks, 'holdfast.acquire.outcome': 'granted', 'holdfast.acquire.path': 'raced' }, 1],
    [{ ...ofLocks, 'holdfast.acquire.outcome': 'timeout' }, 1],
    [{ ...ofLocks, 'holdfast.acquire.outcome': 'outage', 'error.type': 'HOLDFAST_UNAVAILABLE' }, 1],
  ])
})

test('durations are the durations of the facts', async () => {
  start()
  acquiring()({ outcome: 'granted', waitedMs: 2_000 })
  holding()({ outcome: 'released', heldMs: 90_000 })
  const sum = async (name: string) => (await rig.metrics()).get(name)?.[0]?.value
  expect(await sum('holdfast.acquire.duration')).toMatchObject({ sum: 2 })
  expect(await sum('holdfast.hold.duration')).toMatchObject({ sum: 90 })
})

test('gauges count the holds and the waiters of the moment, and are 0 afterwards', async () => {
  start()
  const read = { kind: 'read' } as const
  const ends = [holding(), holding(read), holding(read)]
  const acquired = acquiring(newAcquire({ ...read }))
  const ofReads = { 'holdfast.lock.kind': 'read' }
  expect(await points('holdfast.lock.held')).toEqual([
    [ofLocks, 1],
    [ofReads, 2],
  ])
  expect(await points('holdfast.lock.waiting')).toEqual([
    [ofLocks, 0],
    [ofReads, 1],
  ])
  for (const end of ends) end({ outcome: 'released' })
  acquired({ outcome: 'granted' })
  for (const name of ['lock.held', 'lock.waiting', 'hold.oldest_age', 'wait.oldest_age']) {
    expect(await points(`holdfast.${name}`)).toEqual([
      [ofLocks, 0],
      [ofReads, 0],
    ])
  }
})

test('the age of the oldest hold grows in seconds until the hold ends', async () => {
  start()
  const age = async () => (await points('holdfast.hold.oldest_age'))[0]?.[1] ?? -1
  const secondsSince = (since: number) => (performance.now() - since) / 1_000
  const first = holding()
  const firstBegan = performance.now()
  await age()
  const secondBegins = performance.now()
  const second = holding()
  const least = secondsSince(firstBegan)
  expect(await age()).toBeGreaterThanOrEqual(least)
  first({ outcome: 'released' })
  expect(await age()).toBeLessThanOrEqual(secondsSince(secondBegins))
  second({ outcome: 'released' })
  expect(await age()).toBe(0)
})

test('holds are counted by outcome, losses by reason, and losses of a blocked event loop as stalls', async () => {
  start()
  holding()({ outcome: 'released' })
  holding()({ outcome: 'gone' })
  holding()({ outcome: 'expired', stalledMs: 900 })
  holding()({ outcome: 'forced' })
  const outcomes = (await points('holdfast.hold.duration')).map(([attributes, count]) => [
    (attributes as Record<string, unknown>)['holdfast.hold.outcome'],
    count,
  ])
  expect(outcomes).toEqual([
    ['released', 1],
    ['gone', 1],
    ['expired', 1],
    ['forced', 1],
  ])
  expect(await points('holdfast.losses')).toEqual([
    [{ ...ofLocks, 'holdfast.loss.reason': 'gone' }, 1],
    [{ ...ofLocks, 'holdfast.loss.reason': 'expired' }, 1],
    [{ ...ofLocks, 'holdfast.loss.reason': 'forced' }, 1],
  ])
  expect(await points('holdfast.stalls')).toEqual([[ofLocks, 1]])
})

test('renewals have their lateness, and settled outcomes are counted', async () => {
  start()
  renewing({ latenessMs: 1_500 })({ renewed: 3 })
  renewing()({ error: new RedisUnavailableError('no answer') })
  settledChannel.publish({ client: 'c1', label: 'host:1', key: 'order:1001', unknownMs: 40 })
  const lateness = (await rig.metrics()).get('holdfast.renew.lateness')?.[0]?.value
  expect(lateness).toMatchObject({ count: 2, sum: 1.52 })
  expect(await points('holdfast.renew.duration')).toEqual([
    [{}, 1],
    [{ 'error.type': 'HOLDFAST_UNAVAILABLE' }, 1],
  ])
  expect(await points('holdfast.settled')).toEqual([[{}, 1]])
})

test('durations of waits and of holds have their own buckets', async () => {
  start()
  acquiring()({ outcome: 'granted' })
  holding()({ outcome: 'released' })
  const boundaries = async (name: string) => {
    const value = (await rig.metrics()).get(name)?.[0]?.value
    return typeof value === 'object' ? value.buckets.boundaries : undefined
  }
  expect(await boundaries('holdfast.acquire.duration')).toEqual([
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60,
  ])
  expect((await boundaries('holdfast.hold.duration'))?.at(-1)).toBe(1_800)
})

test('names are grouped, and names after the first hundred become "other"', async () => {
  start({ nameOf: (name) => name })
  for (let i = 0; i < 150; i++) {
    acquiring(newAcquire({ name: `order:${i}` }))({ outcome: 'granted', path: 'free' })
  }
  const counts = new Map(
    (await points('holdfast.acquire.duration')).map(([attributes, count]) => [
      (attributes as Record<string, unknown>)['holdfast.lock.name'],
      count,
    ]),
  )
  expect(counts.size).toBe(101)
  expect(counts.get('order:99')).toBe(1)
  expect(counts.get('other')).toBe(50)
})

test('`metrics: false` turns metrics off, and `spans: false` turns spans off', async () => {
  start({ metrics: false })
  acquiring()({ outcome: 'granted' })
  expect(await rig.metrics()).toEqual(new Map())
  await rig.end()
  start({ spans: false })
  acquiring()({ outcome: 'granted' })
  expect(rig.spans).toEqual([])
  expect((await rig.metrics()).size).toBeGreaterThan(0)
})

test('nothing is measured after stop()', async () => {
  start()
  acquiring()({ outcome: 'granted' })
  rig.stop()
  acquiring()({ outcome: 'granted' })
  expect((await points('holdfast.acquire.duration')).map(([, count]) => count)).toEqual([1])
  expect(await points('holdfast.lock.waiting')).toEqual([])
})
