import { setTimeout as pause } from 'node:timers/promises'
import type { Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, within } from '../support/fault-rig.ts'

const rig = faultRig()
const CHANNEL = 'redisson_rwlock:{it}'

/** Waits until this number of clients listens. */
const listening = (clients = 1) =>
  eventually(async () => {
    const [, count] = (await rig.server.admin.pubsub('NUMSUB', CHANNEL)) as [string, number]
    return Number(count) === clients
  })

const isSettled = (promise: Promise<unknown>) => {
  const seen = { settled: false }
  const settle = () => {
    seen.settled = true
  }
  promise.then(settle, settle)
  return seen
}

test('many owners read at once, in one client and in several, each with its own lease', async () => {
  const [client, other] = [rig.client(), rig.client()]
  const leases = await Promise.all(
    [client, client, other].map((one) => one.getReadWriteLock('it').readLock().lock()),
  )
  const { mode, holders } = await client.getReadWriteLock('it').inspect()
  expect(mode).toBe('read')
  expect(holders.map(({ owner }) => owner).sort()).toEqual(leases.map(({ owner }) => owner).sort())
  expect(await other.getReadWriteLock('it').writeLock().tryLock()).toBeNull()
  await Promise.all(leases.map((lease) => lease.release()))
  expect(await rig.exists('it')).toBe(false)
})

test('no other owner can read or write while one owner writes', async () => {
  const [client, other] = [rig.client(), rig.client()]
  const lease = await client.getReadWriteLock('it').writeLock().lock()
  for (const one of [client, other]) {
    expect(await one.getReadWriteLock('it').readLock().tryLock()).toBeNull()
    expect(await one.getReadWriteLock('it').writeLock().tryLock()).toBeNull()
  }
  expect(lease.owner.endsWith(':write')).toBe(true)
  expect(await lease.release()).toBe(true)
  const reading = granted(await other.getReadWriteLock('it').readLock().tryLock())
  expect(reading.token).toBe(lease.token)
  await reading.release()
  const next = await other.getReadWriteLock('it').writeLock().lock()
  expect(next.token).toBeGreaterThan(lease.token)
  await next.release()
})

test('a waiting writer blocks new readers, and acquires the lock when the last reader releases', async () => {
  const [client, other, third] = [rig.client(), rig.client(), rig.client()]
  const reading = await client.getReadWriteLock('it').readLock().lock()
  const writing = other.getReadWriteLock('it').writeLock().lock()
  await listening()
  expect(await third.getReadWriteLock('it').readLock().tryLock()).toBeNull()
  await reading.release()
  const lease = await within(800, writing)
  await lease.release()
})

test('waiting readers acquire the lock together, before the next writer', async () => {
  const clients = [rig.client(), rig.client(), rig.client(), rig.client()]
  const [a, b, c, d] = clients.map((one) => one.getReadWriteLock('it'))
  const writing = await a?.writeLock().lock()
  const order: string[] = []
  const take = (who: string, lease?: Promise<Lease>) =>
    (lease as Promise<Lease>).then((got) => {
      order.push(who)
      return got
    })
  const readers = [1, 2, 3].map(() => take('reads', b?.readLock().lock()))
  readers.push(take('reads', c?.readLock().lock()))
  await listening(2)
  const next = take('writes', d?.writeLock().lock())
  await listening(3)
  await writing?.release()
  const leases = await within(5_000, Promise.all(readers))
  expect(order).toEqual(['reads', 'reads', 'reads', 'reads'])
  await Promise.all(leases.map((lease) => lease.release()))
  await (await within(5_000, next)).release()
})

test('a stream of readers does not starve a writer', async () => {
  let over = false
  const readers = [rig.client(), rig.client()].flatMap((client) =>
    [0, 1, 2].map(async (i) => {
      await pause(i * 7)
      while (!over) {
        await client
          .getReadWriteLock('it')
          .readLock()
          .using(() => pause(20))
      }
    }),
  )
  await eventually(() => rig.exists('it'))
  try {
    const lease = granted(await rig.client().getReadWriteLock('it').writeLock().tryLock(5_000))
    await lease.release()
  } finally {
    over = true
    await Promise.all(readers)
  }
})

test('a writer may also read, and continues to read after it stops writing', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const writing = await lock.writeLock().lock()
  const waiting = rig.client().getReadWriteLock('it').readLock().lock()
  await listening()
  const reading = await within(5_000, lock.readLock().lock())
  expect(reading.token).toBe(writing.token)
  const seen = isSettled(waiting)
  await pause(30)
  expect(seen.settled).toBe(false)
  await writing.release()
  const other = await within(800, waiting)
  expect(reading.valid).toBe(true)
  expect(
    await lock
      .writeLock()
      .tryLock()
      .catch((error) => error.code),
  ).toBe('HOLDFAST_UPGRADE')
  await reading.release()
  await other.release()
})

test('a reader that requests the write lock is refused at once, and continues to read', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const reading = await lock.readLock().lock()
  const { error } = await outcome(within(5_000, lock.writeLock().lock()))
  expect(error).toMatchObject({ code: 'HOLDFAST_UPGRADE', lockName: 'it' })
  expect(reading.valid).toBe(true)
  expect(await reading.release()).toBe(true)
})

test('a writer that also reads is refused the upgradable lock', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const writing = await lock.writeLock().lock()
  const upgradable = await lock.upgradableLock().lock()
  await upgradable.release()
  const reading = await lock.readLock().lock()
  await expect(lock.upgradableLock().lock()).rejects.toMatchObject({ code: 'HOLDFAST_UPGRADE' })
  // The re-entry succeeds, because the owner already has the write lock.
  await (await lock.writeLock().lock()).release()
  await Promise.all([writing.release(), reading.release()])
  expect(await rig.exists('it')).toBe(false)
})

test('the owner of the upgradable lock writes when the other readers have left', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const upgradable = await lock.upgradableLock().lock()
  const readToken = upgradable.token
  const reading = await rig.client().getReadWriteLock('it').readLock().lock()
  const beside = await client.getReadWriteLock('it').readLock().lock()
  expect(await rig.client().getReadWriteLock('it').upgradableLock().tryLock()).toBeNull()
  // A waiter of the same client and a waiter of another client wait for longer.
  const others = [client, rig.client()].map((one) => one.getReadWriteLock('it').writeLock().lock())
  await listening(2)
  const writing = lock.writeLock().lock()
  const seen = isSettled(writing)
  await beside.release()
  await eventually(async () => (await lock.inspect()).waitingToWrite[0]?.waitedMs === null)
  // The reply that was on its way has arrived now.
  await lock.inspect()
  expect(seen.settled).toBe(false)
  await reading.release()
  const lease = await within(5_000, writing)
  expect(lease.token).toBeGreaterThan(readToken)
  expect((await lock.inspect()).mode).toBe('write')
  await lease.release()
  expect((await lock.inspect()).mode).toBe('read')
  expect(upgradable.valid).toBe(true)
  await upgradable.release()
  for (const lease of await within(
    2_000,
    Promise.all(others.map(async (other) => (await other).release())),
  )) {
    expect(lease).toBe(true)
  }
  await eventually(async () => !(await rig.exists('it')))
})

test('a waiter for the upgradable lock is woken by its release while others still read', async () => {
  const first = await rig.client().getReadWriteLock('it').upgradableLock().lock()
  const reading = await rig.client().getReadWriteLock('it').readLock().lock()
  const second = rig.client().getReadWriteLock('it').upgradableLock().lock()
  await listening()
  await first.release()
  await (await within(800, second)).release()
  await reading.release()
})

test('a reader re-enters while a writer waits', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() }).readLock()
  const first = await lock.lock()
  const writing = rig.client().getReadWriteLock('it').writeLock().lock()
  await listening()
  const second = await within(5_000, lock.lock())
  expect(await lock.holdCount()).toBe(2)
  await first.release()
  await second.release()
  await (await within(800, writing)).release()
})

test('readers behind a waiting writer acquire the lock when the writer gives up', async () => {
  const reading = await rig.client().getReadWriteLock('it').readLock().lock()
  const leaving = new AbortController()
  const writing = outcome(
    rig.client().getReadWriteLock('it').writeLock().lock({ signal: leaving.signal }),
  )
  await listening()
  const behind = rig.client().getReadWriteLock('it').readLock().lock()
  await listening(2)
  leaving.abort()
  await writing
  await (await within(800, behind)).release()
  await reading.release()
})

test('a dead reader blocks a writer only until its lease ends, even when other readers are renewed', async () => {
  const steady = rig.client({ leaseMs: 3_600 })
  const kept = await steady.getReadWriteLock('it').readLock().lock()
  await rig.client().getReadWriteLock('it').readLock().lock(1_400)
  const writing = rig.client().getReadWriteLock('it').writeLock().lock()
  await pause(1_800)
  expect(kept.valid).toBe(true)
  await kept.release()
  await (await within(1_500, writing)).release()
})

test('a read lock and a write lock are renewed, and a lost read lock is reported', async () => {
  const client = rig.client({ leaseMs: 2_700 })
  const diary = new Diary(client)
  const lock = client.getReadWriteLock('it')
  const reading = await lock.readLock().lock()
  await eventually(() => diary.renewed >= 3)
  expect(reading.valid).toBe(true)
  await rig.server.admin.del('it')
  await eventually(() => reading.signal.aborted)
  expect(diary.reasons).toEqual(['gone'])
  await reading.release()
  const writing = await lock.writeLock().lock()
  const before = diary.renewed
  await eventually(() => diary.renewed >= before + 3)
  expect(await writing.release()).toBe(true)
})

test('`forceUnlock()` ends all readers, or the writer', async () => {
  const [client, other] = [rig.client(), rig.client()]
  const lock = client.getReadWriteLock('it')
  expect(await lock.readLock().forceUnlock()).toBe(false)
  const reading = [
    await lock.readLock().lock(),
    await other.getReadWriteLock('it').readLock().lock(),
  ]
  expect(await lock.writeLock().forceUnlock()).toBe(false)
  expect(await lock.readLock().forceUnlock()).toBe(true)
  expect(reading[0]?.signal.reason).toMatchObject({ reason: 'forced' })
  const writing = await within(800, rig.client().getReadWriteLock('it').writeLock().lock())
  expect(await lock.readLock().isLocked()).toBe(false)
  expect(await lock.writeLock().isLocked()).toBe(true)
  expect(await lock.writeLock().remainingMs()).toBeGreaterThan(5_000)
  expect(await lock.writeLock().forceUnlock()).toBe(true)
  for (const lease of [...reading, writing]) expect(await lease.release()).toBe(false)
  expect(await rig.exists('it')).toBe(false)
})

describe('bare calls outside any frame', () => {
  afterEach(() => jest.restoreAllMocks())

  test.each([
    ['readLock', 'writeLock'],
    ['upgradableLock', 'writeLock'],
    ['writeLock', 'readLock'],
  ] as const)(
    'a warning appears if one object holds the %s and waits for the %s',
    async (has, wants) => {
      const spy = jest.spyOn(process, 'emitWarning').mockReturnValue()
      const warnings = () =>
        spy.mock.calls.filter(([, { code } = { code: '' }]) => code === 'HOLDFAST_SELF_WAIT')
      const lock = rig.client().getReadWriteLock('it')
      const lease = await lock[has]().lock()
      const abort = new AbortController()
      const waits = [1, 2].map(() => lock[wants]().lock({ signal: abort.signal }))
      await eventually(() => warnings().length > 0)
      abort.abort(new Error('enough'))
      for (const each of waits) await expect(each).rejects.toThrow('enough')
      await lease.release()
      expect(warnings()).toHaveLength(1)
      expect(warnings()[0]?.[0]).toMatch(/"it".*using\(fn\).*run\(fn\).*owner/)
    },
  )

  test('no warning appears for two lock objects', async () => {
    const spy = jest.spyOn(process, 'emitWarning').mockReturnValue()
    const client = rig.client()
    const lease = await client.getReadWriteLock('it').readLock().lock()
    expect(await client.getReadWriteLock('it').writeLock().tryLock(700)).toBeNull()
    await lease.release()
    expect(spy).not.toHaveBeenCalled()
  })
})

test('a MultiLock of both sides acquires the write lock, whatever the order of the sides', async () => {
  const client = rig.client()
  const sides = [
    client.getReadWriteLock('it').readLock(),
    client.getReadWriteLock('it').writeLock(),
  ]
  for (const some of [sides, [...sides].reverse()]) {
    const lease = await client.getMultiLock(...some, client.getLock('other')).lock()
    expect((await client.getReadWriteLock('it').inspect()).mode).toBe('write')
    expect(await lease.release()).toBe(true)
  }
  expect(await rig.exists('it')).toBe(false)
})

test('a fixed write lease ends by itself, even while its owner reads', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const writing = await lock.writeLock().lock(1_000)
  const reading = await lock.readLock().lock()
  const other = rig.client().getReadWriteLock('it').readLock().lock()
  await eventually(() => writing.signal.aborted)
  const beside = await within(4_000, other)
  expect(reading.valid).toBe(true)
  await Promise.all([beside.release(), reading.release()])
  expect(await writing.release()).toBe(false)
})
