/**
 * The tests of Redisson for RReadWriteLock, with one owner in Java and one owner in Node. The first word of a title is
 * the name of Redisson's own method. README.md lists all these methods.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../../support/children.ts'
import { eventually } from '../../support/eventually.ts'
import { leaves } from '../../support/leaks.ts'
import {
  directions,
  type HolderOptions,
  holdersOn,
  type Language,
  NOT_HOLDER,
} from '../support/holders.ts'
import { staysPending } from '../support/pending.ts'
import { useStage } from '../support/stage.ts'

const stage = useStage()
const holder = holdersOn(stage)

const SOON_MS = 5_000

const since = (start: number) => performance.now() - start

/** Returns both sides of the lock of this test, for a new owner. */
let owners = 0
function sides(language: Language, options: HolderOptions = {}) {
  owners += 1
  const own = { as: `owner ${owners}`, ...options }
  return {
    read: holder(language, { java: 'RReadWriteLock.readLock', node: 'readLock' }, own),
    write: holder(language, { java: 'RReadWriteLock.writeLock', node: 'writeLock' }, own),
  }
}

/** A reader whose lease ended leaves a key, which expires by itself. */
const leavesLeases = () =>
  leaves({ keys: true, why: 'what is left of a lease that nobody released ends by itself' })

describe.each(directions)('RedissonReadWriteLockTest, %s first, then %s', (one, other) => {
  test('testReadLockExpiration: a short lease of one reader does not end the longer lease of another reader', async () => {
    const [first, second, third] = [sides(one), sides(other), sides(other)]
    await first.read.lock(2 * SOON_MS)
    const start = performance.now()
    await second.read.lock(1_500)
    const written = third.write.lock(SOON_MS)
    await pause(200)
    await second.read.unlock()
    await pause(1_600 - since(start))
    await staysPending(written)
    await first.read.unlock()
    const left = performance.now()
    await written
    expect(since(left)).toBeLessThan(SOON_MS)
    await third.write.unlock()
  })

  test('testReadLockIsLocked: both sides are locked while a writer also reads', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.write.lock()
    expect(await second.read.isLocked()).toBe(false)
    expect(await second.write.isLocked()).toBe(true)
    expect(await first.read.tryLock(SOON_MS)).toBe(true)
    expect(await second.read.isLocked()).toBe(true)
    expect(await second.write.isLocked()).toBe(true)
    await first.read.unlock()
    await first.write.unlock()
  })

  test('testWriteLockExpiration: re-entry with a short lease does not end the hold before its time', async () => {
    const [first, second] = [sides(one), sides(other)]
    expect(await first.write.tryLock(SOON_MS, 2 * SOON_MS)).toBe(true)
    expect(await first.write.tryLock(SOON_MS, 300)).toBe(true)
    await pause(400)
    expect(await second.write.tryLock(600, 1_000)).toBe(false)
    expect(await second.read.tryLock()).toBe(false)
    await first.write.unlock()
    await first.write.unlock()
  })

  test('testReadLockLeaseTimeoutDiffThreadsWRR: readers acquire the lock when the lease of a writer ends', async () => {
    const [first, second, third] = [sides(one), sides(other), sides(other)]
    const start = performance.now()
    expect(await first.write.tryLock(SOON_MS, 700)).toBe(true)
    await Promise.all([second.read.lock(), third.read.lock()])
    expect(since(start)).toBeGreaterThan(680)
    expect(since(start)).toBeLessThan(700 + SOON_MS)
    await second.read.unlock()
    await third.read.unlock()
  })

  test('testReadLockLeaseTimeoutDiffThreadsRRW: a reader that came and went does not extend the lease of another reader', async () => {
    const [first, second, third] = [sides(one), sides(other), sides(other)]
    const start = performance.now()
    expect(await first.read.tryLock(SOON_MS, 1_000)).toBe(true)
    await pause(500)
    expect(await second.read.tryLock(SOON_MS, 2 * SOON_MS)).toBe(true)
    await second.read.unlock()
    expect(await third.write.tryLock(2 * SOON_MS, SOON_MS)).toBe(true)
    expect(since(start)).toBeGreaterThan(980)
    expect(since(start)).toBeLessThan(1_000 + SOON_MS)
    await third.write.unlock()
    leavesLeases()
  })

  test('testWR: a writer that has read still writes', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.write.lock()
    await first.read.lock()
    expect(await second.write.isLocked()).toBe(true)
    await first.read.unlock()
    expect(await second.write.isLocked()).toBe(true)
    expect(await second.read.tryLock()).toBe(false)
    await first.write.unlock()
    expect(await second.write.isLocked()).toBe(false)
  })

  test('testWriteRead: all waiting readers acquire the lock together when the writer is done', async () => {
    const first = sides(one)
    await first.write.lock()
    const readers = Array.from({ length: 8 }, () => sides(other))
    const read = Promise.all(readers.map(({ read }) => read.lock()))
    await staysPending(read)
    const start = performance.now()
    await first.write.unlock()
    await read
    expect(since(start)).toBeLessThan(SOON_MS)
    // All readers hold the lock at the same time, because no reader has unlocked so far.
    expect(Object.keys(await stage.hash())).toHaveLength(readers.length + 1)
    for (const { read: each } of readers) await each.unlock()
  })

  test('testWriteReadReentrancy: a writer that continues as a reader blocks only other writers', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.write.lock()
    expect(await first.read.tryLock()).toBe(true)
    expect(await second.read.tryLock()).toBe(false)
    await first.write.unlock()
    expect(await second.write.tryLock()).toBe(false)
    expect(await second.read.tryLock()).toBe(true)
    await second.read.unlock()
    await first.read.unlock()
    expect(await second.write.tryLock()).toBe(true)
    await second.write.unlock()
  })

  test('testWriteLock: a writer that acquires the lock twice holds it until both releases', async () => {
    const [first, second, third] = [sides(one), sides(other), sides(other)]
    await first.write.lock()
    expect(await first.write.tryLock()).toBe(true)
    expect(await second.write.isHeld()).toBe(false)
    expect(await second.write.isLocked()).toBe(true)
    expect(await second.read.tryLock()).toBe(false)
    await first.write.unlock()
    expect(await first.read.tryLock()).toBe(true)
    expect(await first.write.isHeld()).toBe(true)
    await first.write.unlock()
    expect(await second.read.tryLock()).toBe(true)
    expect(await third.write.tryLock()).toBe(false)
    expect(await third.write.isLocked()).toBe(false)
    expect(await first.write.isHeld()).toBe(false)
    await second.read.unlock()
    await first.read.unlock()
  })

  test('testMultiRead: no owner writes until the last of several readers has released', async () => {
    const [first, second] = [sides(one), sides(other)]
    expect(await first.read.forceUnlock()).toBe(false)
    await first.read.lock()
    expect(await second.write.tryLock()).toBe(false)
    expect(await second.read.isHeld()).toBe(false)
    expect(await second.read.isLocked()).toBe(true)
    await second.read.lock()
    await first.read.unlock()
    expect(await first.write.tryLock()).toBe(false)
    expect(await first.read.isHeld()).toBe(false)
    expect(await first.read.isLocked()).toBe(true)
    await second.read.unlock()
    expect(await second.read.isLocked()).toBe(false)
    expect(await first.write.tryLock()).toBe(true)
    expect([await first.write.isHeld(), await second.write.isLocked()]).toEqual([true, true])
    await first.write.unlock()
    expect([await first.write.isHeld(), await second.write.isLocked()]).toEqual([false, false])
  })

  test('testForceUnlock: force on one side leaves the other side unchanged', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.read.lock()
    expect(await second.write.forceUnlock()).toBe(false)
    expect(await first.read.isLocked()).toBe(true)
    expect(await second.read.forceUnlock()).toBe(true)
    expect(await second.read.isLocked()).toBe(false)
    await first.read.unlock().catch(() => undefined)
    await first.write.lock()
    expect(await second.read.forceUnlock()).toBe(false)
    expect(await first.write.isLocked()).toBe(true)
    expect(await second.write.forceUnlock()).toBe(true)
    expect(await second.write.isLocked()).toBe(false)
    expect(await second.read.isLocked()).toBe(false)
    await first.write.unlock().catch(() => undefined)
    leavesLeases()
  })

  test('testReadWriteTTL: the watchdog keeps both sides, and then the side that is left', async () => {
    const javaClient = await stage.newJavaClient({ watchdogMs: 1_200 })
    const nodeOptions = { leaseMs: 1_200 }
    const [first, second] = [sides(one, { javaClient, nodeOptions }), sides(other)]
    await first.write.lock()
    await first.read.lock()
    for (const end = performance.now() + 1_600; performance.now() < end; await pause(50)) {
      expect(await second.write.remainingMs()).toBeGreaterThan(0)
      expect(await second.read.tryLock()).toBe(false)
    }
    await first.write.unlock()
    for (const end = performance.now() + 1_600; performance.now() < end; await pause(50)) {
      expect(await second.read.remainingMs()).toBeGreaterThan(0)
      expect(await second.write.tryLock()).toBe(false)
    }
    await first.read.unlock()
    expect(await second.write.tryLock()).toBe(true)
    await second.write.unlock()
    await javaClient.shutdown()
  })

  test('testExpireRead: a reader does not wait for another reader, whose unlock works while its lease lasts', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.read.lock(2 * SOON_MS)
    const start = performance.now()
    await second.read.lock()
    expect(since(start)).toBeLessThan(SOON_MS)
    await second.read.unlock()
    await first.read.unlock()
    expect(await stage.hash()).toEqual({})
  })

  test('testExpireWrite: the next writer acquires the lock when the lease ends, and the unlock of the first writer fails', async () => {
    const [first, second] = [sides(one), sides(other)]
    const start = performance.now()
    await first.write.lock(700)
    await second.write.lock()
    expect(since(start)).toBeGreaterThan(680)
    expect(since(start)).toBeLessThan(700 + SOON_MS)
    await expect(first.write.unlock()).rejects.toThrow(NOT_HOLDER)
    expect(await second.write.isHeld()).toBe(true)
    await second.write.unlock()
  })

  test.each(['read', 'write'] as const)(
    'testHoldCount: a hold count of the %s lock is visible to its owner only',
    async (side) => {
      const [first, second] = [sides(one)[side], sides(other)[side]]
      const counts = async () => [await first.holdCount(), await second.holdCount()]
      expect(await counts()).toEqual([0, 0])
      await first.lock()
      expect(await counts()).toEqual([1, 0])
      await first.unlock()
      expect(await counts()).toEqual([0, 0])
      await first.lock()
      await first.lock()
      expect(await counts()).toEqual([2, 0])
      await first.unlock()
      expect(await counts()).toEqual([1, 0])
      await first.unlock()
      expect(await counts()).toEqual([0, 0])
    },
  )

  test('testIsHeldByCurrentThread: a reader sees its own hold', async () => {
    const { read } = sides(one)
    expect(await read.isHeld()).toBe(false)
    await read.lock()
    expect(await read.isHeld()).toBe(true)
    await read.unlock()
    expect(await read.isHeld()).toBe(false)
  })

  test('testIsHeldByCurrentThreadOtherThread: no other reader sees the hold as its own', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.read.lock()
    expect(await second.read.isHeld()).toBe(false)
    await second.read.lock()
    await first.read.unlock()
    expect([await first.read.isHeld(), await second.read.isHeld()]).toEqual([false, true])
    await second.read.unlock()
    expect(await second.read.isHeld()).toBe(false)
  })

  test('testIsLocked: a reader sees that the read lock is held, and that it is free', async () => {
    const { read } = sides(one)
    expect(await read.isLocked()).toBe(false)
    await read.lock()
    expect(await read.isLocked()).toBe(true)
    await read.unlock()
    expect(await read.isLocked()).toBe(false)
  })

  test('testIsLockedOtherThread: another owner sees that the read lock is held, and that it is free', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.read.lock()
    expect(await second.read.isLocked()).toBe(true)
    await first.read.unlock()
    expect(await second.read.isLocked()).toBe(false)
  })

  test('testUnlockFail: an owner that does not read cannot unlock the hold of a reader', async () => {
    const [first, second] = [sides(one), sides(other)]
    await first.read.lock()
    await expect(second.read.unlock()).rejects.toThrow(NOT_HOLDER)
    expect(await first.read.isHeld()).toBe(true)
    await first.read.unlock()
  })

  test('testLockUnlock: both languages read again and again, in turn', async () => {
    const [first, second] = [sides(one), sides(other)]
    for (const { read } of [first, second, first, second]) {
      await read.lock()
      await read.unlock()
    }
    expect(await stage.hash()).toEqual({})
  })

  test('testReentrancy: an owner reads twice, beside another reader', async () => {
    const [first, second, third] = [sides(one), sides(other), sides(other)]
    expect(await first.read.tryLock()).toBe(true)
    expect(await first.read.tryLock()).toBe(true)
    await first.read.unlock()
    expect(await second.read.tryLock()).toBe(true)
    expect(await third.write.tryLock()).toBe(false)
    await first.read.unlock()
    expect(await third.write.tryLock()).toBe(false)
    await second.read.unlock()
    expect(await stage.hash()).toEqual({})
  })
})

describe('RedissonReadWriteLockTest', () => {
  test('testReadLockLeaseTimeout: a hold in Java ends with the lease of the first read, after the second is released', async () => {
    const [first, second] = [sides('Java'), sides('Node')]
    const start = performance.now()
    expect(await first.read.tryLock(SOON_MS, 1_000)).toBe(true)
    await pause(500)
    expect(await first.read.tryLock(SOON_MS, 2 * SOON_MS)).toBe(true)
    await first.read.unlock()
    expect(await second.write.tryLock(2 * SOON_MS)).toBe(true)
    expect(since(start)).toBeGreaterThan(980)
    expect(since(start)).toBeLessThan(1_000 + SOON_MS)
    await second.write.unlock()
    leavesLeases()
  })

  test('testReadLockLeaseTimeout: a hold in Node keeps the longer lease, because all holds of one owner have one lease', async () => {
    const [first, second] = [sides('Node'), sides('Java')]
    expect(await first.read.tryLock(SOON_MS, 700)).toBe(true)
    const start = performance.now()
    expect(await first.read.tryLock(SOON_MS, 2_000)).toBe(true)
    await first.read.unlock()
    expect(await second.write.tryLock(2 * SOON_MS)).toBe(true)
    expect(since(start)).toBeGreaterThan(1_980)
    expect(since(start)).toBeLessThan(2_000 + SOON_MS)
    await second.write.unlock()
    leavesLeases()
  })

  test('testReadLockExpirationRenewal: readers of both languages keep their holds while their watchdogs renew', async () => {
    const javaClient = await stage.newJavaClient({ watchdogMs: 1_500 })
    const nodeOptions = { leaseMs: 1_500 }
    const readers = (['Java', 'Node'] as const).flatMap((language) =>
      Array.from({ length: 10 }, () => sides(language, { javaClient, nodeOptions }).read),
    )
    await Promise.all(readers.map((read) => read.lock()))
    await pause(2_200)
    await Promise.all(readers.map((read) => read.unlock()))
    expect(await stage.hash()).toEqual({})
    await javaClient.shutdown()
  })

  test('testName: a name with a tag is one lock, however many readers use it in turn', async () => {
    const name = `{test}:${stage.name}:key`
    const readers = (['Java', 'Node'] as const).flatMap((language) =>
      Array.from({ length: 5 }, () => sides(language, { name }).read),
    )
    await Promise.all(
      readers.map(async (read) => {
        for (let round = 0; round < 10; round++) {
          await read.lock()
          await read.unlock()
        }
      }),
    )
    expect(await stage.hash(name)).toEqual({})
    const [java, node] = [sides('Java', { name }), sides('Node', { name })]
    await java.read.lock()
    expect(await node.write.tryLock()).toBe(false)
    await java.read.unlock()
  })

  test('testAutoExpire: a Java client that shut down keeps the write lock until its lease ends', async () => {
    const javaClient = await stage.newJavaClient({ watchdogMs: 1_000 })
    await sides('Java', { javaClient }).write.lock()
    await javaClient.shutdown()
    const { write } = sides('Node')
    expect(await write.isLocked()).toBe(true)
    await eventually(() => write.tryLock(), { timeoutMs: SOON_MS })
    await write.unlock()
  })

  test('testAutoExpire: a Node process that was killed keeps the write lock until its lease ends', async () => {
    const args = [String(stage.server.port), stage.name, '1000', 'writeLock']
    const child = startChild('test/interop/support/taker.mjs', { args })
    await child.next()
    child.kill('SIGKILL')
    await child.exited
    const { write } = sides('Java')
    expect(await write.isLocked()).toBe(true)
    await eventually(() => write.tryLock(), { timeoutMs: SOON_MS })
    await write.unlock()
  })

  test.each(directions)(
    'testMultiInstanceReadLockZombieCleanup: a dead reader of %s blocks no writer once the reader of %s is done',
    async (one, other) => {
      const javaClient = await stage.newJavaClient({ watchdogMs: 1_000 })
      const rest = { javaClient, nodeOptions: { leaseMs: 1_000 } }
      if (one === 'Java') {
        const gone = await stage.newJavaClient({ watchdogMs: 1_000 })
        await sides('Java', { javaClient: gone }).read.lock()
        await gone.shutdown()
      } else {
        const args = [String(stage.server.port), stage.name, '1000', 'readLock']
        const child = startChild('test/interop/support/taker.mjs', { args })
        await child.next()
        child.kill('SIGKILL')
        await child.exited
      }
      const living = sides(other, rest)
      await living.read.lock()
      await pause(1_600)
      expect(await living.write.tryLock().catch(() => false)).toBe(false)
      await living.read.unlock()
      const writer = sides(one, rest)
      const start = performance.now()
      expect(await writer.write.tryLock(2 * SOON_MS)).toBe(true)
      expect(since(start)).toBeLessThan(SOON_MS)
      await writer.write.unlock()
      await javaClient.shutdown()
    },
  )
})
