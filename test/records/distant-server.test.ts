import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { network, newDistantClient, newDistantServer } from '../support/distant-server.ts'
import { notesOf } from '../support/notes.ts'

/** The protocols on a server without scripts, where clients overtake each other between reading and writing. */
const CLIENTS = 4
const CALLS = 5

let server: ReturnType<typeof newDistantServer>
let clients: Holdfast[]

beforeEach(() => {
  server = newDistantServer()
  clients = Array.from({ length: CLIENTS }, () => newDistantClient(server))
  network.conflicts = 0
})
afterEach(() => Promise.all(clients.map((client) => client.close())))

/** Makes several calls of each client at once. */
const all = <T>(call: (client: Holdfast, n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(
    clients.flatMap((client, n) =>
      Array.from({ length: CALLS }, (_, m) => call(client, n * CALLS + m)),
    ),
  )

/** Counts the calls that work at the same time. */
function newWork() {
  const seen = { now: 0, most: 0, done: 0 }
  const work = async () => {
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    await pause(5)
    seen.now -= 1
    seen.done += 1
  }
  return { seen, work }
}

test.each<[string, (client: Holdfast) => { using(work: () => Promise<void>): Promise<void> }]>([
  ['a lock', (client) => client.getLock('it')],
  ['a fair lock', (client) => client.getFairLock('it')],
  ['a write lock', (client) => client.getReadWriteLock('it').writeLock()],
  ['an upgradable lock', (client) => client.getReadWriteLock('it').upgradableLock()],
])('%s is held by one owner at a time', async (_, lockOf) => {
  const { seen, work } = newWork()
  await all((client) => lockOf(client).using(work))
  expect(seen).toEqual({ now: 0, most: 1, done: CLIENTS * CALLS })
  expect(network.conflicts).toBeGreaterThan(0)
})

test('several locks are acquired together or not at all', async () => {
  const { seen, work } = newWork()
  await all((client, n) => {
    const names = n % 2 === 0 ? ['a', 'b'] : ['b', 'c']
    return client.getMultiLock(...names.map((name) => client.getLock(name))).using(work)
  })
  expect(seen).toEqual({ now: 0, most: 1, done: CLIENTS * CALLS })
})

test('readers hold a read-write lock together, and no writer beside them', async () => {
  const [reading, writing] = [newWork(), newWork()]
  const both = async (work: () => Promise<void>, other: { now: number }) => {
    expect(other.now).toBe(0)
    await work()
    expect(other.now).toBe(0)
  }
  await all((client, n) => {
    const lock = client.getReadWriteLock('it')
    return n % 3 === 0
      ? lock.writeLock().using(() => both(writing.work, reading.seen))
      : lock.readLock().using(() => both(reading.work, writing.seen))
  })
  expect(writing.seen.most).toBe(1)
  expect(reading.seen.most).toBeGreaterThan(1)
})

test.each<[string, (client: Holdfast) => Promise<{ using(work: () => Promise<void>): unknown }>]>([
  [
    'without leases',
    async (client) => {
      const semaphore = client.getSemaphore('it')
      await semaphore.trySetPermits(3)
      return semaphore
    },
  ],
  ['with leases', async (client) => client.getPermitExpirableSemaphore('it', { permits: 3 })],
])('permits %s are never more than their number', async (_, semaphoreOf) => {
  const { seen, work } = newWork()
  await all(async (client) => (await semaphoreOf(client)).using(work))
  expect(seen).toMatchObject({ now: 0, done: CLIENTS * CALLS })
  expect(seen.most).toBeGreaterThan(1)
  expect(seen.most).toBeLessThanOrEqual(3)
})

test('each call of countDown() counts once', async () => {
  const latch = clients[0]?.getCountDownLatch('it')
  const parties = CLIENTS * CALLS
  await latch?.trySetCount(parties + 1)
  const opened = all((client) => client.getCountDownLatch('it').await())
  const counts = await all((client) => client.getCountDownLatch('it').countDown())
  expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: parties }, (_n, n) => n + 1))
  expect(await latch?.countDown()).toBe(0)
  expect(new Set(await opened)).toEqual(new Set([true]))
})

test('the parties of a barrier continue together, round after round', async () => {
  const parties = CLIENTS * CALLS
  let arrived = 0
  await all(async (client) => {
    for (let round = 1; round <= 3; round++) {
      arrived += 1
      expect(await client.getCyclicBarrier('it').await({ parties })).toBe(true)
      expect(arrived).toBeGreaterThanOrEqual(round * parties)
    }
  })
})

test('one candidate of an election leads at a time', async () => {
  const { seen, work } = newWork()
  await Promise.all(clients.map((client) => client.getLeaderElection('it').lead(work)))
  expect(seen).toEqual({ now: 0, most: 1, done: CLIENTS })
})

test('a name belongs to one kind at a time', async () => {
  const [client] = clients as [Holdfast]
  await client.getCountDownLatch('it').trySetCount(1)
  const lock = client.getLock('it')
  await expect(lock.tryLock()).rejects.toThrow('a latch has this name')
  await client.getCountDownLatch('it').delete()
  const lease = await lock.tryLock()
  await expect(client.getSemaphore('it').trySetPermits(1)).rejects.toThrow('a lock has this name')
  await lease?.release()
  expect(await client.getSemaphore('it').trySetPermits(1)).toBe(true)
})

test('clients report themselves to each other, until they close', async () => {
  const [one, two] = clients as [Holdfast, Holdfast]
  const about = await two.clientInfo(one.id)
  expect(about).toMatchObject({ client: one.id, pid: process.pid })
  await one.close()
  expect(await two.clientInfo(one.id)).toBeNull()
  expect(await two.clientInfo('nobody')).toBeNull()
})

test('clients read the notes about owners of other clients, until these clients close', async () => {
  const [one, two] = clients as [Holdfast, Holdfast]
  const [notes, others] = [await notesOf(one), await notesOf(two)]
  const owner = `${one.id}:1`
  notes.set(owner, 'a note')
  expect(await others.get(owner)).toBe('a note')
  notes.set(owner, undefined)
  expect(await others.get(owner)).toBeUndefined()
  await one.close()
  notes.set(owner, 'a late note')
  notes.set(owner, undefined)
  expect(server.reports.has(one.id)).toBe(false)
})
