import { Cluster } from 'ioredis'
import { Holdfast, type Lease } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { readWriteChannelOf } from '../support/promised-keys.ts'
import { PATIENT, type RedisCluster, startCluster } from '../support/redis-cluster.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

/** Names at three masters, one of them with its own hash tag. */
const NAMES = ['ada', 'bob', 'dora', 'gil', 'orders:{ada}:x']

function newClient(): Holdfast {
  const redis = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis, ...PATIENT })
  atEnd(() => client.close().finally(() => redis.disconnect()), { beforeCheck: true })
  return client
}

const keysOf = async (name: string) => {
  const keys = await lastingKeys((await cluster.masterOf(name)).admin)
  return keys.filter((key) => key.includes(name))
}

const channels = async (name: string) =>
  (await (await cluster.masterOf(name)).admin.pubsub('SHARDCHANNELS')) as string[]

/** Returns the slots of all current keys and channels of the lock. */
const slotsOf = async (name: string) => {
  const names = await cluster.namesOf(name)
  return new Set(await Promise.all(names.map((one) => cluster.slotOf(one))))
}

test('all keys of one lock are in one slot, and waiting readers and writers receive each release from its node', async () => {
  expect(new Set(await Promise.all(NAMES.map((name) => cluster.masterOf(name)))).size).toBe(3)
  const [a, b, c] = [newClient(), newClient(), newClient()]
  const waitedMs: number[] = []
  const timed = async (lease: Promise<Lease>) => {
    const from = performance.now()
    const got = await within(10_000, lease)
    waitedMs.push(performance.now() - from)
    return got
  }
  await Promise.all(
    NAMES.map(async (name) => {
      const [mine, reads, writes] = [a, b, c].map((one) => one.getReadWriteLock(name))
      if (!mine || !reads || !writes) throw new Error('no lock')
      const waiting = (readers: number, writers: number) =>
        eventually(async () => {
          const facts = await mine.inspect()
          const isListening = (await channels(name)).includes(readWriteChannelOf(name))
          return (
            isListening &&
            facts.waitingToRead.length === readers &&
            facts.waitingToWrite.length === writers
          )
        })
      for (let i = 0; i < 3; i++) {
        const writing = await mine.writeLock().lock()
        const readers = [1, 2].map(() => reads.readLock().lock())
        await waiting(1, 0)
        const next = writes.writeLock().lock()
        await waiting(1, 1)
        const oneSlot = new Set([await cluster.slotOf(name)])
        expect(await slotsOf(name)).toEqual(oneSlot)
        await writing.release()
        const leases = await Promise.all(readers.map(timed))
        expect(await slotsOf(name)).toEqual(oneSlot)
        for (const lease of leases) expect(lease.token).toBe(writing.token)
        expect(await mine.writeLock().tryLock()).toBeNull()
        for (const lease of leases) expect(await lease.release()).toBe(true)
        const last = await timed(next)
        expect(last.token).toBeGreaterThan(writing.token)
        expect(await mine.readLock().tryLock()).toBeNull()
        expect(await last.release()).toBe(true)
      }
      const left = async () => (await keysOf(name)).filter((key) => !key.includes('lock_token'))
      await eventually(async () => (await left()).length === 0)
    }),
  )
  // Without a message, a waiter checks the lock only after up to 1 s.
  waitedMs.sort((one, other) => one - other)
  expect(waitedMs[Math.floor(waitedMs.length * 0.7)]).toBeLessThan(atLoad(400))
})
