import { setTimeout as pause } from 'node:timers/promises'
import type { Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { acquireRead, acquireWrite } from '../support/scripts.ts'

/** Without a message, a waiter checks the lock after 1 s. So an earlier grant comes from a message. */
const TOLD_MS = 800

const rig = faultRig()
const newLock = () => rig.client().getReadWriteLock('it')

const waiting = async (readers: number, writers: number) => {
  const look = rig.witness().getReadWriteLock('it')
  await eventually(async () => {
    const { waitingToRead, waitingToWrite } = await look.inspect()
    return waitingToRead.length === readers && waitingToWrite.length === writers
  })
  // After the confirmation of the subscription, each waiter sends one more request. Waits until these are answered.
  const asked = () => rig.proxy.count(acquireRead.sha1) + rig.proxy.count(acquireWrite.sha1)
  for (let before = -1; before !== asked(); await pause(60)) before = asked()
}

const released = async (lease: Promise<Lease>) => (await within(TOLD_MS, lease)).release()

describe('a message that overtakes the answer to its receiver', () => {
  test.each(['read', 'write'] as const)(
    'the message is not lost for a client that waits to %s',
    async (side) => {
      const other = side === 'read' ? 'write' : 'read'
      const sides = { read: 'readLock', write: 'writeLock' } as const
      const holding = await newLock().writeLock().lock()
      const lock = newLock()
      const leaving = new AbortController()
      // With this call, the client listens before the other call sends its first request.
      const first = outcome(lock[sides[other]]().lock({ signal: leaving.signal }))
      await waiting(Number(other === 'read'), Number(other === 'write'))
      const behind = lock[sides[side]]().lock()
      const { sha1 } = side === 'read' ? acquireRead : acquireWrite
      const trap = rig.proxy.onNextRequest(sha1, 'holdReply')
      leaving.abort()
      await first
      await trap.seen
      const queue = side === 'read' ? 'readers' : 'writers'
      await eventually(() => rig.exists(`holdfast_${queue}:{it}`))
      await holding.release()
      await pause(30)
      trap.release()
      await released(behind)
    },
  )
})

test('`inspect()` does not list waiters whose process has died', async () => {
  const holding = await newLock().writeLock().lock()
  const behind = [newLock().readLock().lock(), newLock().writeLock().lock()]
  await waiting(1, 1)
  // One waiter of each side whose last request is too old.
  const { admin } = rig.server
  await admin.zadd('holdfast_readers:{it}', '4', 'dead reader')
  await admin.zadd('holdfast_writers:{it}', '4', 'dead writer')
  await admin.hset('holdfast_alive:{it}', 'dead reader', Date.now() - 1_000, 'dead writer', 1)
  const { waitingToRead, waitingToWrite } = await newLock().inspect()
  const listed = [...waitingToRead, ...waitingToWrite].map(({ client }) => client)
  expect(listed).toHaveLength(2)
  expect(listed.join()).not.toContain('dead')
  await holding.release()
  for (const lease of behind) await (await lease).release()
  // Later requests remove only the first of the dead waiters. The others expire with their keys.
  await admin.del('holdfast_alive:{it}', 'holdfast_readers:{it}', 'holdfast_writers:{it}')
})

test('a waiter behind a waiter of its client asks next when that waiter leaves', async () => {
  const [lock, reader, writer] = [1, 2, 3].map(() => rig.witness().getReadWriteLock('it'))
  const reading = (await reader?.readLock().lock()) as Lease
  const leaving = [new AbortController(), new AbortController()] as const
  const writing = outcome(writer?.writeLock().lock({ signal: leaving[0].signal }) as Promise<Lease>)
  await waiting(0, 1)
  const mine = newLock().readLock()
  const readers = [mine.lock(), mine.lock({ signal: leaving[1].signal }), mine.lock()]
  const given = outcome(readers[1] as Promise<Lease>)
  await waiting(1, 1)
  // One reader is granted. The other requests are refused, because another writer waits before them.
  const trap = rig.proxy.onNextRequest(acquireRead.sha1, 'holdReply')
  leaving[0].abort()
  await writing
  await trap.seen
  await eventually(async () => (await lock?.inspect())?.holders.length === 2)
  const next = writer?.writeLock().lock()
  await waiting(1, 1)
  trap.release()
  await (await (readers[0] as Promise<Lease>)).release()
  await waiting(1, 1)
  const asked = rig.proxy.count(acquireRead.sha1)
  leaving[1].abort()
  await given
  await eventually(() => rig.proxy.count(acquireRead.sha1) > asked)
  await reading.release()
  await released(next as Promise<Lease>)
  await released(readers[2] as Promise<Lease>)
})

test('a waiting writer that gives up wakes the readers behind it, in its client and in other clients', async () => {
  const reading = await newLock().readLock().lock()
  const lock = newLock()
  const leaving = new AbortController()
  const first = outcome(lock.writeLock().lock({ signal: leaving.signal }))
  await waiting(0, 1)
  const behind = [lock, newLock()].map((one) => one.readLock().lock())
  await waiting(1, 1)
  leaving.abort()
  await first
  await Promise.all(behind.map(released))
  await reading.release()
})

test('the place of a waiter with a limited time expires soon if its client falls silent', async () => {
  const reading = await newLock().readLock().lock()
  // On a busy machine, it may take a while until the place has been read.
  const waitMs = 1_200
  const first = outcome(newLock().writeLock().tryLock(waitMs))
  await waiting(0, 1)
  rig.proxy.blackHole()
  const until = Object.values(await rig.server.admin.hgetall('holdfast_alive:{it}'))
  expect(until).toHaveLength(1)
  // Other waiters count for 3 s.
  expect(Number(until[0]) - Date.now()).toBeLessThan(waitMs + 1_100)
  const behind = rig.witness().getReadWriteLock('it').readLock()
  await (await within(2_800, behind.lock())).release()
  await first
  await rig.proxy.heal()
  await reading.release()
})

test('a client that closes wakes a reader that waits behind its writer', async () => {
  const reading = await newLock().readLock().lock()
  const leaving = rig.client()
  const first = outcome(leaving.getReadWriteLock('it').writeLock().lock())
  await waiting(0, 1)
  const behind = newLock().readLock().lock()
  await waiting(1, 1)
  await leaving.close()
  expect((await first).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
  await released(behind)
  await reading.release()
})

test('all waiting readers, and no waiting writer, acquire the lock when a writer continues to read', async () => {
  const client = rig.client()
  const lock = client.getReadWriteLock('it', { owner: client.owner() })
  const writing = await lock.writeLock().lock()
  const next = newLock().writeLock().lock()
  await waiting(0, 1)
  const readers = [newLock(), newLock()].flatMap((one) => [1, 2].map(() => one.readLock().lock()))
  await waiting(2, 1)
  const reading = await lock.readLock().lock()
  await writing.release()
  const leases = await within(TOLD_MS, Promise.all(readers))
  expect((await lock.inspect()).mode).toBe('read')
  await Promise.all([...leases, reading].map((lease) => lease.release()))
  await released(next)
})

test('a stream of writers does not starve a reader: at most one writer of another client goes first', async () => {
  let over = false
  let writes = 0
  // Each client has one caller that waits while another caller writes.
  const writers = [rig.client(), rig.client()].flatMap((client) =>
    [1, 2].map(async () => {
      while (!over) {
        const lease = await client.getReadWriteLock('it').writeLock().lock()
        writes += 1
        await pause(5)
        await lease.release()
      }
    }),
  )
  try {
    await eventually(() => writes > 10)
    const lock = newLock()
    for (let i = 0; i < 5; i++) {
      const reading = lock.readLock().lock()
      await waitingToRead(lock)
      const before = writes
      const lease = granted(await within(5_000, reading))
      // The count may or may not include the writer that writes when the reader begins to wait.
      expect(writes - before).toBeLessThanOrEqual(2)
      await lease.release()
    }
  } finally {
    over = true
    await Promise.all(writers)
  }

  async function waitingToRead(lock: ReturnType<typeof newLock>) {
    await eventually(async () => {
      const { waitingToRead, holders } = await lock.inspect()
      return waitingToRead.length > 0 || holders.some(({ owner }) => !owner.endsWith(':write'))
    })
  }
})
