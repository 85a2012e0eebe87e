import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, outcome } from '../support/fault-rig.ts'
import { bothPlaces } from './read-write-places.ts'

const rig = faultRig()
const places = bothPlaces(rig)
/** The server computes ages by its wall clock, which may be adjusted by some milliseconds during a test. */
const ADJUSTED_MS = 50

describe.each(places)('the age of a hold, %s,', (_, newClient) => {
  test('`inspect()` reports the age of each reader since its first acquisition', async () => {
    const client = newClient({ leaseMs: 3_000 })
    const diary = new Diary(client)
    const lock = client.getReadWriteLock('it', { owner: client.owner() })
    const from = performance.now()
    const lease = await lock.upgradableLock().lock()
    // Renewals and re-entries do not change the age.
    await eventually(() => diary.renewed >= 1)
    const again = await lock.readLock().lock(60_000)
    const youngerFrom = performance.now()
    const younger = await newClient().getReadWriteLock('it').readLock().lock()
    await pause(150)
    const { holders } = await lock.inspect()
    const agoMs = performance.now() - from
    const youngerAgoMs = performance.now() - youngerFrom
    const ageOf = (owner: string) => holders.find((one) => one.owner === owner)?.ageMs
    expect(ageOf(lease.owner)).toBeGreaterThan(900)
    expect(ageOf(lease.owner)).toBeLessThanOrEqual(agoMs + ADJUSTED_MS)
    expect(ageOf(younger.owner)).toBeGreaterThanOrEqual(150 - ADJUSTED_MS)
    expect(ageOf(younger.owner)).toBeLessThanOrEqual(youngerAgoMs + ADJUSTED_MS)
    // A side reports the hold with the longest lease.
    const side = await lock.readLock().inspect()
    expect(side.holder).toBe(lease.owner)
    expect(side.ageMs).toBeGreaterThan(900)
    for (const one of [younger, again, lease]) await one.release()
  })

  test('`inspect()` reports the age of a writer, and the age of its read hold', async () => {
    const client = newClient()
    const lock = client.getReadWriteLock('it', { owner: client.owner() })
    const writing = await lock.writeLock().lock()
    await pause(150)
    const reading = await lock.readLock().lock()
    const { holders } = await lock.inspect()
    const [writer, reader] = [writing, reading].map(
      (lease) => holders.find(({ owner }) => owner === lease.owner)?.ageMs ?? -1,
    )
    expect(writer).toBeGreaterThanOrEqual(150 - ADJUSTED_MS)
    expect(reader).toBeGreaterThanOrEqual(0)
    expect(reader).toBeLessThanOrEqual((writer as number) - (150 - ADJUSTED_MS))
    await Promise.all([writing.release(), reading.release()])
  })

  test('a writer that is refused learns for how long the reader has held the lock', async () => {
    const reading = await newClient().getReadWriteLock('it').readLock().lock()
    await pause(150)
    const lock = newClient().getReadWriteLock('it').writeLock()
    expect(await lock.tryLock()).toBeNull()
    const why = await lock.why()
    expect(why.holder).toBe(reading.owner)
    expect(why.ageMs).toBeGreaterThanOrEqual(150 - ADJUSTED_MS)
    const { error } = await outcome(lock.lock({ waitMs: 400 }))
    expect((error as Error).message).toMatch(/held by .* for \d+ m?s/)
    await reading.release()
  })
})

test('the age of a reader of Redisson, and of an old client, is unknown', async () => {
  const java = '0f8fad5b-d9cb-469f-a165-70867728950e:1'
  const lock = rig.client().getReadWriteLock('it')
  const reading = await lock.readLock().lock()
  const { admin } = rig.server
  await admin.hset('it', java, 1)
  for (const owner of [java, reading.owner]) {
    await admin.set(`{it}:${owner}:rwlock_timeout:1`, '1', 'PX', 10_000)
  }
  const { holders } = await lock.inspect()
  expect(holders.map(({ ageMs }) => ageMs)).toEqual([null, null])
  await admin.flushall()
})
