import { setTimeout as pause } from 'node:timers/promises'
import { type Holdfast, type Lease, RedisRefusedError } from '../../src/index.ts'
import { READ_WRITE_PART } from '../../src/servers/records/read-write/read-write-holds.ts'
import type { MemoryClientOptions } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome, within } from '../support/fault-rig.ts'
import { CountingServer, partOf } from '../support/memory-server.ts'

let server: CountingServer
let clients: Holdfast[]

let aheadMs: number

beforeEach(() => {
  aheadMs = 0
  server = new CountingServer(() => Date.now() + aheadMs)
  clients = []
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  expect(server.connections).toBe(0)
  expect(server.messages.names).toEqual([])
  const { mode, byOwner } = partOf(server, 'it', READ_WRITE_PART)
  expect([mode, byOwner]).toEqual([null, {}])
})

const newClient = (options?: MemoryClientOptions) => {
  const client = server.newClient(options)
  clients.push(client)
  return client
}

/** Returns a lock of a new client. */
const newLock = (options?: MemoryClientOptions) => newClient(options).getReadWriteLock('it')

/** Waits until this number of clients listens. */
const listening = (count = 1) => eventually(() => server.messages.count('read-write it') === count)

const isSettled = (promise: Promise<unknown>) => {
  const seen = { settled: false }
  const settle = () => {
    seen.settled = true
  }
  promise.then(settle, settle)
  return seen
}

test('many owners read at once, each with its own lease, and no owner can write meanwhile', async () => {
  const client = newClient()
  const leases = await Promise.all(
    [client, client, newClient()].map((one) => one.getReadWriteLock('it').readLock().lock()),
  )
  const { mode, holders } = await client.getReadWriteLock('it').inspect()
  expect(mode).toBe('read')
  expect(holders.map(({ owner }) => owner).sort()).toEqual(leases.map(({ owner }) => owner).sort())
  expect(await newLock().writeLock().tryLock()).toBeNull()
  await Promise.all(leases.map((lease) => lease.release()))
  expect(await client.getReadWriteLock('it').inspect()).toMatchObject({ mode: null, holders: [] })
})

test('no other owner can read or write while one owner writes', async () => {
  const [client, other] = [newClient(), newClient()]
  const lease = await client.getReadWriteLock('it').writeLock().lock()
  for (const one of [client, other]) {
    expect(await one.getReadWriteLock('it').readLock().tryLock()).toBeNull()
    expect(await one.getReadWriteLock('it').writeLock().tryLock()).toBeNull()
  }
  expect(await lease.release()).toBe(true)
  const reading = granted(await other.getReadWriteLock('it').readLock().tryLock())
  expect(reading.token).toBe(lease.token)
  await reading.release()
  const next = await other.getReadWriteLock('it').writeLock().lock()
  expect(next.token).toBeGreaterThan(lease.token)
  await next.release()
})

test('a waiting writer blocks new readers, and acquires the lock when the last reader releases', async () => {
  const reading = await newLock().readLock().lock()
  const writing = newLock().writeLock().lock()
  await listening()
  expect(await newLock().readLock().tryLock()).toBeNull()
  await reading.release()
  await (await writing).release()
})

test('waiting readers acquire the lock together, before the next writer', async () => {
  const writing = await newLock().writeLock().lock()
  const order: string[] = []
  const take = async (who: string, taken: Promise<Lease>) => {
    const lease = await taken
    order.push(who)
    return lease
  }
  const two = newLock()
  const readers = [two, two, newLock()].map((lock) => take('reads', lock.readLock().lock()))
  await listening(2)
  const next = take('writes', newLock().writeLock().lock())
  await listening(3)
  await writing.release()
  const leases = await Promise.all(readers)
  expect(order).toEqual(['reads', 'reads', 'reads'])
  await Promise.all(leases.map((lease) => lease.release()))
  await (await next).release()
})

test('a stream of readers does not starve a writer', async () => {
  let over = false
  const readers = [newLock(), newLock()].flatMap((lock) =>
    [0, 1, 2].map(async (n) => {
      await pause(n * 7)
      while (!over) await lock.readLock().using(() => pause(20))
    }),
  )
  await eventually(() => server.records.size > 0)
  try {
    await granted(await newLock().writeLock().tryLock(10_000)).release()
  } finally {
    over = true
    await Promise.all(readers)
  }
})

test('a writer may also read, and continues to read after it stops writing', async () => {
  const client = newClient()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const writing = await lock.writeLock().lock()
  const waiting = newLock().readLock().lock()
  await listening()
  const reading = await lock.readLock().lock()
  expect(reading.token).toBe(writing.token)
  const seen = isSettled(waiting)
  await pause(30)
  expect(seen.settled).toBe(false)
  await writing.release()
  const other = await waiting
  expect(reading.valid).toBe(true)
  const { error } = await outcome(lock.writeLock().tryLock())
  expect(error).toMatchObject({ code: 'HOLDFAST_UPGRADE', lockName: 'it' })
  await reading.release()
  await other.release()
})

test('the owner of the upgradable lock writes before a writer that has waited longer', async () => {
  const client = newClient()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const upgradable = await lock.upgradableLock().lock()
  const readToken = upgradable.token
  const reading = await newLock().readLock().lock()
  expect(await newLock().upgradableLock().tryLock()).toBeNull()
  const other = newLock().writeLock().lock()
  await listening(1)
  const writing = lock.writeLock().lock()
  const seen = isSettled(writing)
  await listening(2)
  await pause(30)
  expect(seen.settled).toBe(false)
  await reading.release()
  const lease = await writing
  expect(lease.token).toBeGreaterThan(readToken)
  expect((await lock.inspect()).mode).toBe('write')
  await lease.release()
  expect((await lock.inspect()).mode).toBe('read')
  await upgradable.release()
  await (await other).release()
})

test('a waiter for the upgradable lock is woken by its release while others still read', async () => {
  const first = await newLock().upgradableLock().lock()
  const reading = await newLock().readLock().lock()
  const second = newLock().upgradableLock().lock()
  await listening()
  await first.release()
  await (await second).release()
  await reading.release()
})

test('a reader re-enters while a writer waits', async () => {
  const client = newClient()
  const lock = client.getReadWriteLock('it', { owner: client.owner() }).readLock()
  const first = await lock.lock()
  const writing = newLock().writeLock().lock()
  await listening()
  const second = await within(5_000, lock.lock())
  expect(await lock.holdCount()).toBe(2)
  await first.release()
  await second.release()
  await (await writing).release()
})

test('readers behind a waiting writer acquire the lock when the writer gives up', async () => {
  const reading = await newLock().readLock().lock()
  const leaving = new AbortController()
  const writing = outcome(newLock().writeLock().lock({ signal: leaving.signal }))
  await listening()
  const behind = newLock().readLock().lock()
  await listening(2)
  leaving.abort()
  await writing
  await (await behind).release()
  await reading.release()
})

test('a dead reader blocks a writer only until its lease ends, even when other readers are renewed', async () => {
  const kept = await newLock({ leaseMs: 6_000 }).readLock().lock()
  const dead = await newLock().readLock().lock(100)
  const writing = newLock().writeLock().lock()
  await eventually(() => dead.signal.aborted)
  expect(kept.valid).toBe(true)
  await kept.release()
  const lease = await writing
  // The writer has its own lease, regardless of the leases of the readers.
  const { holders } = await newLock().inspect()
  expect(holders).toHaveLength(1)
  expect(holders[0]?.ttlMs).toBeGreaterThan(6_000)
  await lease.release()
})

test('a read lock and a write lock are renewed, and a lost read lock is reported', async () => {
  const client = newClient({ leaseMs: 3_000 })
  const diary = new Diary(client)
  const lock = client.getReadWriteLock('it')
  const reading = await lock.readLock().lock()
  await eventually(() => diary.renewed >= 2)
  expect(reading.valid).toBe(true)
  server.clear()
  await eventually(() => reading.signal.aborted)
  expect(diary.reasons).toEqual(['gone'])
  await reading.release()
  const writing = await lock.writeLock().lock()
  const before = diary.renewed
  await eventually(() => diary.renewed >= before + 2)
  expect(await writing.release()).toBe(true)
})

test('`forceUnlock()` ends all readers, or the writer', async () => {
  const lock = newLock()
  expect(await lock.readLock().forceUnlock()).toBe(false)
  const reading = [await lock.readLock().lock(), await newLock().readLock().lock()]
  expect(await lock.writeLock().forceUnlock()).toBe(false)
  expect(await lock.readLock().forceUnlock()).toBe(true)
  const writing = await newLock().writeLock().lock()
  expect(await lock.writeLock().forceUnlock()).toBe(true)
  for (const lease of [...reading, writing]) expect(await lease.release()).toBe(false)
})

test.each(['readLock', 'writeLock'] as const)(
  'no lock of another kind can use a name that %s holds',
  async (side) => {
    const client = newClient()
    const lease = await newLock()[side]().lock()
    const one = client.getLock('it')
    const attempts = [
      one.tryLock(),
      one.lock(),
      one.inspect(),
      client.getFairLock('it').tryLock(),
      client.getMultiLock(client.getLock('a'), one).tryLock(),
    ]
    for (const { error } of await Promise.all(attempts.map((one) => outcome<unknown>(one)))) {
      expect(error).toBeInstanceOf(RedisRefusedError)
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining('a read-write lock has this name (WRONGTYPE)'),
      )
    }
    expect(await lease.release()).toBe(true)
    await granted(await one.tryLock()).release()
  },
)

test('no read-write lock can use a name that a lock of another kind holds', async () => {
  const lease = await newClient().getLock('it').lock()
  const lock = newLock()
  const attempts = [
    lock.readLock().tryLock(),
    lock.upgradableLock().lock(),
    lock.writeLock().lock(),
    lock.inspect(),
  ]
  for (const { error } of await Promise.all(attempts.map((one) => outcome<unknown>(one)))) {
    expect(error).toBeInstanceOf(RedisRefusedError)
    expect(error).toHaveProperty('message', expect.stringContaining('no read-write lock'))
  }
  expect(lease.valid).toBe(true)
  await lease.release()
  await granted(await lock.writeLock().tryLock()).release()
})

test("the places of waiters are deleted when the waiters are served, and the lock's record when its counter expires", async () => {
  const lease = await newLock({ counterTtlMs: 60_000 }).writeLock().lock()
  const lock = newLock({ counterTtlMs: 60_000 })
  expect(await lock.readLock().tryLock(50)).toBeNull()
  const writing = lock.writeLock().lock()
  await listening()
  await lease.release()
  await (await writing).release()
  const { untilMs, readers, writers } = partOf(server, 'it', READ_WRITE_PART).queue
  expect([untilMs, readers.byMember, writers.byMember]).toEqual([{}, {}, {}])
  aheadMs = 3_600_001
  expect(server.records.size).toBe(0)
})
