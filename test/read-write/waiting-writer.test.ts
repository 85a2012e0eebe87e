import type { Holdfast, Lease, ReadWriteLock } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { acquireRead, acquireWrite, releaseReadWrite } from '../support/scripts.ts'
import { bothPlaces } from './read-write-places.ts'

const rig = faultRig()
const places = bothPlaces(rig)

const waitsToWrite = async (lock: ReadWriteLock, client: Holdfast) => {
  const { waitingToWrite } = await lock.inspect()
  return waitingToWrite.some((one) => one.client === client.id)
}

describe.each(places)('a writer that readers of its own client block, %s,', (_, newClient) => {
  /** Returns a client with a reader and a waiting writer, and a lock of another client. */
  async function waitingWriter(terms: { waitMs?: number; signal?: AbortSignal } = {}) {
    const client = newClient()
    const lock = client.getReadWriteLock('it')
    const other = newClient().getReadWriteLock('it')
    const reading = await lock.readLock().lock()
    const writing = outcome<Lease | null>(lock.writeLock().tryLock({ waitMs: 60_000, ...terms }))
    await eventually(() => waitsToWrite(other, client))
    return { client, lock, other, reading, writing }
  }

  test('`inspect()` lists the writer, and the writer acquires the lock when the readers have left', async () => {
    const { client, lock, other, reading, writing } = await waitingWriter()
    expect((await lock.inspect()).waitingToWrite).toEqual([
      { client: client.id, waitedMs: expect.any(Number) },
    ])
    expect((await other.writeLock().inspect()).waiters).toBe(1)
    await reading.release()
    const lease = granted((await within(5_000, writing)).value ?? null)
    expect((await lock.inspect()).waitingToWrite).toEqual([])
    await lease.release()
  })

  test('no reader that tries once overtakes the writer, in its client or in another client', async () => {
    const { lock, other, reading, writing } = await waitingWriter()
    for (const one of [lock, other]) {
      expect(await one.readLock().tryLock()).toBeNull()
      expect(await one.readLock().tryUsing(() => 'read')).toBeNull()
      expect(await one.upgradableLock().tryLock()).toBeNull()
      expect(await one.writeLock().tryLock()).toBeNull()
    }
    expect((await lock.readLock().why()).holder).toBe(reading.owner)
    await reading.release()
    await granted((await writing).value ?? null).release()
    for (const one of [lock, other]) await granted(await one.readLock().tryLock()).release()
  })

  test('re-entries, and reads beside a write lock, overtake the writer', async () => {
    const client = newClient()
    const lock = client.getReadWriteLock('it', { owner: client.owner() })
    const other = newClient().getReadWriteLock('it')
    const reading = await lock.readLock().lock()
    const writing = client.getReadWriteLock('it').writeLock().lock()
    await eventually(() => waitsToWrite(other, client))
    await granted(await lock.readLock().tryLock()).release()
    await reading.release()
    await (await writing).release()
    const own = await lock.writeLock().lock()
    const behind = client.getReadWriteLock('it').writeLock().lock()
    await granted(await lock.readLock().tryLock()).release()
    await own.release()
    await (await behind).release()
  })

  test.each(['an abort', 'the end of its time', 'close()'])(
    'the place of the writer ends at %s',
    async (end) => {
      const leaving = new AbortController()
      const terms = end === 'the end of its time' ? { waitMs: 1_500 } : { signal: leaving.signal }
      const { client, other, reading, writing } = await waitingWriter(terms)
      const behind = other.readLock().lock()
      if (end === 'an abort') leaving.abort()
      if (end === 'close()') await client.close()
      await writing
      const lease = await within(5_000, behind)
      expect((await other.inspect()).waitingToWrite).toEqual([])
      expect(reading.valid).toBe(end !== 'close()')
      await lease.release()
      await reading.release()
    },
  )

  test('the next writer of the client gets the place when the first writer gives up', async () => {
    const leaving = new AbortController()
    const { client, lock, other, reading, writing } = await waitingWriter({
      signal: leaving.signal,
    })
    const next = lock.writeLock().lock()
    leaving.abort()
    await writing
    await eventually(() => waitsToWrite(other, client))
    expect(await other.readLock().tryLock()).toBeNull()
    await reading.release()
    await (await within(5_000, next)).release()
  })

  test('the writer goes before writers of other clients that came later', async () => {
    const { other, reading, writing } = await waitingWriter()
    const later = other.writeLock().lock()
    await eventually(async () => (await other.inspect()).waitingToWrite.length === 2)
    await reading.release()
    const first = granted((await writing).value ?? null)
    await first.release()
    const second = await later
    expect(second.token).toBeGreaterThan(first.token)
    await second.release()
  })
})

test.each(places)(
  'a try does not overtake a waiting reader of its own client when the writer of that client releases, %s',
  async (_, newClient) => {
    const lock = newClient().getReadWriteLock('it')
    const writing = await lock.writeLock().lock()
    const reading = lock.readLock().lock()
    const released = writing.release()
    // When the request of `tryLock()` reaches the server, the lock is already free there.
    expect(await lock.writeLock().tryLock()).toBeNull()
    await released
    await (await within(5_000, reading)).release()
  },
)

describe('a writer that readers of its own client block', () => {
  test.each(['mute', 'cutBefore', 'cutAfter', 'duplicate'] as const)(
    'the place of the writer is made, and later withdrawn, although its requests meet "%s"',
    async (fault) => {
      const client = rig.client()
      const lock = client.getReadWriteLock('it')
      const other = rig.witness().getReadWriteLock('it')
      const reading = await lock.readLock().lock()
      const trap = rig.proxy.onNextRequest(acquireWrite.sha1, fault)
      const leaving = new AbortController()
      const writing = outcome(lock.writeLock().lock({ signal: leaving.signal }))
      await trap.seen
      await eventually(() => waitsToWrite(other, client))
      const released = rig.proxy.onNextRequest(releaseReadWrite.sha1, fault)
      leaving.abort()
      await writing
      await released.seen
      await within(
        5_000,
        eventually(async () => !(await waitsToWrite(other, client))),
      )
      await granted(await other.readLock().tryLock()).release()
      await reading.release()
    },
  )

  test('the writer keeps the place of its client while an upgrade goes first', async () => {
    const client = rig.client()
    const lock = client.getReadWriteLock('it')
    const upgradable = await lock.upgradableLock().lock()
    const writing = lock.writeLock().lock()
    await eventually(() => waitsToWrite(lock, client))
    const { admin } = rig.server
    const beside = '0f8fad5b-d9cb-469f-a165-70867728950e:1'
    // A reader of Redisson acquires the lock even if writers wait.
    await admin.hset('it', beside, 1)
    const lease = `{it}:${beside}:rwlock_timeout:1`
    await admin.set(lease, '1', 'PX', 10_000)
    const upgrade = upgradable.upgrade()
    const places = () => admin.zrange('holdfast_writers:{it}', '0', '-1', 'WITHSCORES')
    const since = await admin.zscore('holdfast_writers:{it}', client.id)
    await eventually(async () => (await places()).length === 4)
    const expected = [expect.stringMatching(/:write$/), '3', client.id, since]
    expect(await places()).toEqual(expected)
    // Waits for longer than the place would count without further requests.
    const asked = rig.proxy.count(acquireWrite.sha1)
    await eventually(() => rig.proxy.count(acquireWrite.sha1) >= asked + 6)
    expect(await places()).toEqual(expected)
    expect((await rig.witness().getReadWriteLock('it').inspect()).waitingToWrite).toHaveLength(2)
    await admin.multi().hdel('it', beside).del(lease).exec()
    await (await within(5_000, upgrade)).release()
    await upgradable.release()
    await (await within(5_000, writing)).release()
  })

  test('the writer does not ask again each time a reader of its client leaves', async () => {
    const client = rig.client()
    const lock = client.getReadWriteLock('it')
    const readers = await Promise.all(Array.from({ length: 20 }, () => lock.readLock().lock()))
    const asked = () => rig.proxy.count(acquireWrite.sha1)
    const writing = lock.writeLock().lock()
    await eventually(() => waitsToWrite(lock, client))
    const [before, from] = [asked(), performance.now()]
    for (const reader of readers.slice(1)) await reader.release()
    // Without a message, the waiter sends a request each second.
    const byItself = Math.ceil((performance.now() - from) / 1_000)
    expect(asked() - before).toBeLessThanOrEqual(2 + byItself)
    await readers[0]?.release()
    await (await within(5_000, writing)).release()
  })
})

test('waiting readers of one client acquire the lock after the same writer, even if each was refused before', async () => {
  const lock = rig.client().getReadWriteLock('it')
  const [b, c, d] = [1, 2, 3].map(() => rig.witness().getReadWriteLock('it'))
  if (!b || !c || !d) throw new Error('no lock')
  const waiting = (readers: number, writers: number) =>
    eventually(async () => {
      const { waitingToRead, waitingToWrite } = await b.inspect()
      return waitingToRead.length === readers && waitingToWrite.length === writers
    })
  const first = await b.readLock().lock()
  const leaving = new AbortController()
  const given = outcome(c.writeLock().lock({ signal: leaving.signal }))
  await waiting(0, 1)
  const readers = [1, 2, 3].map(() => lock.readLock().lock())
  await waiting(1, 1)
  // The first reader is granted. Another writer waits before its client receives the answer, so the other requests are
  // refused.
  const trap = rig.proxy.onNextRequest(acquireRead.sha1, 'holdReply')
  leaving.abort()
  await given
  await trap.seen
  await eventually(async () => (await b.inspect()).holders.length === 2)
  const writer = c.writeLock().lock()
  await waiting(1, 1)
  const asked = rig.proxy.count(acquireRead.sha1)
  trap.release()
  const lease = await (readers[0] as Promise<Lease>)
  await eventually(() => rig.proxy.count(acquireRead.sha1) >= asked + 2)
  await Promise.all([lease.release(), first.release()])
  const writing = await writer
  const later = d.writeLock().lock()
  await waiting(1, 1)
  await writing.release()
  const rest = await within(5_000, Promise.all(readers.slice(1)))
  for (const one of rest) expect(one.token).toBe(writing.token)
  await Promise.all(rest.map((one) => one.release()))
  await (await later).release()
})
