/**
 * The tests of Redisson for RSemaphore, RPermitExpirableSemaphore and RCountDownLatch, with one party in Java and one
 * party in Node. The first word of a title is the name of Redisson's own method. README.md lists all these methods.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { Holdfast } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { atEnd } from '../../support/lifetime.ts'
import { startCluster } from '../../support/redis-cluster.ts'
import { directions, type Language } from '../support/holders.ts'
import { JavaLatch } from '../support/java.ts'
import { JavaPermitExpirableSemaphore, JavaSemaphore } from '../support/java-semaphores.ts'
import { staysPending } from '../support/pending.ts'
import { useStage } from '../support/stage.ts'

const stage = useStage()

/** Much shorter than any wait that ends without a message. */
const SOON_MS = 5_000

const since = (start: number) => performance.now() - start

/** The keys of the semaphores and latches of this test. */
async function ownKeys(name = stage.name): Promise<string[]> {
  const keys = await stage.server.admin.keys('*')
  return keys.filter(
    (key) => key === name || key.includes(`{${name}`) || key.startsWith(`${name}-`),
  )
}

// A semaphore stays until it is deleted, and so do permits that Java took without a lease.
beforeEach(() => {
  const { name } = stage
  atEnd(
    async () => {
      const keys = await ownKeys(name)
      if (keys.length > 0) await stage.server.admin.del(...keys)
    },
    { beforeCheck: true },
  )
})

let parties = 0

/** A plain semaphore, with the methods that both languages have. */
interface Plain {
  trySetPermits(permits: number, ttlMs?: number): Promise<boolean>
  addPermits(permits: number): Promise<unknown>
  availablePermits(): Promise<number>
  drainPermits(): Promise<number>
  acquire(permits?: number): Promise<void>
  tryAcquire(permits?: number, waitMs?: number): Promise<boolean>
  release(permits?: number): Promise<void>
}

function plain(language: Language, name = stage.name): Plain {
  parties += 1
  if (language === 'Java') {
    return new JavaSemaphore(stage.javaClient, name, stage.threadName(`${parties}`))
  }
  const semaphore = stage.nodeClient().getSemaphore(name)
  return {
    trySetPermits: (permits, ttlMs) =>
      semaphore.trySetPermits(permits, ttlMs === undefined ? {} : { ttlMs }),
    addPermits: (permits) => semaphore.addPermits(permits),
    availablePermits: () => semaphore.availablePermits(),
    drainPermits: () => semaphore.drainPermits(),
    acquire: (permits) => semaphore.acquire(permits ?? 1),
    tryAcquire: (permits = 1, waitMs) =>
      semaphore.tryAcquire({ permits, ...(waitMs === undefined ? {} : { waitMs }) }),
    release: (permits) => semaphore.release(permits),
  }
}

describe.each(directions)('RedissonSemaphoreTest, %s first, then %s', (one, other) => {
  test('testAcquireAfterAddPermits: a call for two permits waits until there are two', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.addPermits(1)
    const waiting = first.acquire(2)
    await staysPending(waiting)
    expect(await second.availablePermits()).toBe(1)
    await second.addPermits(1)
    await waiting
    expect(await second.availablePermits()).toBe(0)
  })

  test('testAcquireWithoutSetPermits: a release creates a semaphore whose permits were never set', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.release()
    await second.release()
    await first.acquire(2)
    expect(await second.availablePermits()).toBe(0)
  })

  test('testTrySetPermits: the number is set once, until the semaphore is gone', async () => {
    const [first, second] = [plain(one), plain(other)]
    expect(await first.trySetPermits(10)).toBe(true)
    expect(await second.availablePermits()).toBe(10)
    expect(await second.trySetPermits(15)).toBe(false)
    expect(await first.availablePermits()).toBe(10)
    await stage.server.admin.del(stage.name)
    expect(await first.trySetPermits(1, 1_500)).toBe(true)
    expect(await second.availablePermits()).toBe(1)
    await eventually(async () => (await second.availablePermits()) === 0, { timeoutMs: SOON_MS })
    expect(await stage.server.admin.exists(stage.name)).toBe(0)
  })

  test('testAddPermits: permits are added while all are acquired', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.trySetPermits(10)
    await second.acquire(10)
    expect(await first.availablePermits()).toBe(0)
    await first.addPermits(4)
    expect(await second.availablePermits()).toBe(4)
    await second.release(10)
    expect(await first.availablePermits()).toBe(14)
    await first.acquire(5)
    expect(await second.availablePermits()).toBe(9)
  })

  test('testReducePermits: permits are removed while they are acquired', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.trySetPermits(10)
    await second.acquire(10)
    await first.addPermits(-5)
    expect(await second.availablePermits()).toBe(-5)
    await second.release(10)
    expect(await first.availablePermits()).toBe(5)
    await first.acquire(5)
    expect(await second.availablePermits()).toBe(0)
  })

  test('testBlockingAcquire: a call waits until the other language releases its permit', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.trySetPermits(1)
    await first.acquire()
    expect(await second.availablePermits()).toBe(0)
    const waiting = second.acquire()
    await staysPending(waiting)
    await first.release()
    await waiting
    expect(await first.tryAcquire()).toBe(false)
    expect(await first.availablePermits()).toBe(0)
  })

  test('testBlockingNAcquire: a call for four permits gets them after the second release', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.trySetPermits(5)
    await first.acquire(3)
    expect(await second.availablePermits()).toBe(2)
    const waiting = second.acquire(4)
    await first.release()
    await staysPending(waiting)
    await first.release()
    await waiting
    expect(await first.availablePermits()).toBe(0)
  })

  test('testTryNAcquire: a call with a time limit gets four permits after the second release', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.trySetPermits(5)
    expect(await first.tryAcquire(3)).toBe(true)
    expect(await second.tryAcquire(4)).toBe(false)
    const waiting = second.tryAcquire(4, 2 * SOON_MS)
    const start = performance.now()
    await pause(200)
    await first.release()
    await pause(200)
    await first.release()
    expect(await waiting).toBe(true)
    expect(since(start)).toBeGreaterThan(390)
    expect(since(start)).toBeLessThan(SOON_MS)
    expect(await first.availablePermits()).toBe(0)
  })

  test('testReleaseWithoutPermits: a release without an acquisition adds a permit', async () => {
    await plain(one).release()
    expect(await plain(other).availablePermits()).toBe(1)
  })

  test('testDrainPermits: one language drains all permits that the other language has left', async () => {
    const [first, second] = [plain(one), plain(other)]
    expect(await first.drainPermits()).toBe(0)
    await second.trySetPermits(10)
    await second.acquire(3)
    expect(await first.drainPermits()).toBe(7)
    expect(await second.availablePermits()).toBe(0)
  })

  test('testReleaseAcquire: each language sees what the other language acquires and releases', async () => {
    const [first, second] = [plain(one), plain(other)]
    await first.trySetPermits(10)
    for (const [work, left] of [
      [() => first.acquire(), 9],
      [() => second.release(), 10],
      [() => second.acquire(5), 5],
      [() => first.release(5), 10],
    ] as const) {
      await work()
      expect([await first.availablePermits(), await second.availablePermits()]).toEqual([
        left,
        left,
      ])
    }
  })
})

describe('RedissonSemaphoreTest', () => {
  test('testZero: a call for no permits succeeds at once, and changes nothing', async () => {
    const [java, node] = [plain('Java'), plain('Node')]
    for (const each of [java, node]) {
      expect(await each.tryAcquire(0, SOON_MS)).toBe(true)
      await each.release(0)
      expect([await java.availablePermits(), await node.availablePermits()]).toEqual([0, 0])
    }
  })

  test('testReleaseIfExists: a permit returns to the semaphore of Java, and to no semaphore that does not exist', async () => {
    const node = stage.nodeClient().getSemaphore(stage.name)
    const java = plain('Java')
    expect(await node.releaseIfExists(1)).toBe(false)
    expect(await stage.server.admin.exists(stage.name)).toBe(0)
    await java.trySetPermits(10)
    await java.acquire()
    expect(await node.releaseIfExists(1)).toBe(true)
    expect(await java.availablePermits()).toBe(10)
  })

  test('testConcurrencyLoopMax_MultiInstance: calls for one permit and calls for 2,147,483,647 all succeed', async () => {
    const most = 2_147_483_647
    await plain('Java').trySetPermits(most)
    let served = 0
    const work = async (party: Plain, i: number) => {
      for (let round = 0; round < 5; round++) {
        const permits = (i + round) % 2 === 0 ? 1 : most
        await party.acquire(permits)
        served += 1
        await party.release(permits)
      }
    }
    const all = (['Java', 'Java', 'Node', 'Node'] as const).map((language) => plain(language))
    await Promise.all(all.map(work))
    expect(served).toBe(20)
    expect(await plain('Node').availablePermits()).toBe(most)
  })
})

/**
 * A semaphore of permits with leases, with the methods that both languages have. Permits are represented by their ids.
 */
interface Leased {
  trySetPermits(permits: number): Promise<boolean>
  setPermits(permits: number): Promise<void>
  addPermits(permits: number): Promise<unknown>
  numbers(): Promise<{ permits: number | null; available: number; taken: number }>
  acquire(permits?: number, leaseMs?: number): Promise<readonly string[]>
  /** Resolves to no ids if the permits are not available. */
  tryAcquire(permits?: number, waitMs?: number, leaseMs?: number): Promise<readonly string[]>
  /** True if all permits were released; false if none was released. */
  tryRelease(ids: readonly string[]): Promise<boolean>
}

function leased(language: Language, name = stage.name): Leased {
  parties += 1
  if (language === 'Java') {
    const thread = stage.threadName(`${parties}`)
    const java = new JavaPermitExpirableSemaphore(stage.javaClient, name, thread)
    return {
      trySetPermits: (permits) => java.trySetPermits(permits),
      setPermits: (permits) => java.setPermits(permits),
      addPermits: (permits) => java.addPermits(permits),
      numbers: async () => ({
        permits: await java.getPermits(),
        available: await java.availablePermits(),
        taken: await java.acquiredPermits(),
      }),
      acquire: (permits, leaseMs) => java.acquire(permits, leaseMs),
      tryAcquire: (permits, waitMs, leaseMs) => java.tryAcquire(permits, waitMs, leaseMs),
      tryRelease: async (ids) =>
        ids.length === 1
          ? java.tryRelease(ids[0] as string)
          : (await java.tryReleaseAll(ids)) === ids.length,
    }
  }
  const node = stage.nodeClient().getPermitExpirableSemaphore(name)
  const of = (leaseMs?: number) => (leaseMs === undefined ? {} : { leaseMs })
  return {
    trySetPermits: (permits) => node.trySetPermits(permits),
    setPermits: (permits) => node.setPermits(permits),
    addPermits: (permits) => node.addPermits(permits),
    numbers: async () => {
      const { permits, available, taken } = await node.inspect()
      return { permits, available, taken }
    },
    acquire: async (permits = 1, leaseMs) => (await node.acquire({ permits, ...of(leaseMs) })).ids,
    tryAcquire: async (permits = 1, waitMs, leaseMs) => {
      const wait = waitMs === undefined ? {} : { waitMs }
      return (await node.tryAcquire({ permits, ...wait, ...of(leaseMs) }))?.ids ?? []
    },
    tryRelease: async (ids) => node.release(ids as string[]),
  }
}

describe.each(directions)(
  'RedissonPermitExpirableSemaphoreTest, %s first, then %s',
  (one, other) => {
    test('testNotExistent: a semaphore that was never set has no permits', async () => {
      expect((await leased(one).numbers()).available).toBe(0)
      expect(await leased(other).tryAcquire()).toEqual([])
    })

    test('testAvailablePermits, testAcquiredPermits, testGetPermits: permits are acquired, and return when their leases end', async () => {
      const [first, second] = [leased(one), leased(other)]
      const agree = async (available: number) => {
        const numbers = { permits: 2, available, taken: 2 - available }
        expect(await first.numbers()).toEqual(numbers)
        expect(await second.numbers()).toEqual(numbers)
      }
      expect(await first.trySetPermits(2)).toBe(true)
      await agree(2)
      expect(await first.tryAcquire(1, 600, 2_000)).toHaveLength(1)
      await agree(1)
      expect(await second.tryAcquire(1, 600, 2_000)).toHaveLength(1)
      expect(await first.tryAcquire(1, 200, 2_000)).toEqual([])
      await agree(0)
      const again = await second.acquire(1, 2_000)
      expect(again).toHaveLength(1)
      await eventually(async () => (await first.numbers()).taken === 0, { timeoutMs: SOON_MS })
      await agree(2)
    })

    test('testExpire: a waiter gets the permit when its lease ends, and its old id releases nothing', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(1)
      const start = performance.now()
      const old = await first.acquire(1, 700)
      const ids = await second.acquire()
      expect(since(start)).toBeGreaterThan(680)
      expect(since(start)).toBeLessThan(700 + SOON_MS)
      expect(await first.tryRelease(old)).toBe(false)
      expect(await second.tryRelease(ids)).toBe(true)
      expect((await first.numbers()).available).toBe(1)
    })

    test('testExpireTryAcquire: a permit from tryAcquire expires in the same way', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(1)
      const start = performance.now()
      const old = await first.tryAcquire(1, 600, 700)
      expect(old).toHaveLength(1)
      const ids = await second.acquire()
      expect(since(start)).toBeGreaterThan(680)
      expect(await second.tryRelease(old)).toBe(false)
      expect(await second.tryRelease(ids)).toBe(true)
    })

    test('testTrySetPermits: the number is set once', async () => {
      const [first, second] = [leased(one), leased(other)]
      expect(await first.trySetPermits(10)).toBe(true)
      expect((await second.numbers()).available).toBe(10)
      expect(await second.trySetPermits(15)).toBe(false)
      expect((await first.numbers()).available).toBe(10)
    })

    test('testSetPermits: the number is set again, even below the number of acquired permits', async () => {
      const [first, second] = [leased(one), leased(other)]
      const agree = async (permits: number, taken: number) => {
        const numbers = { permits, available: permits - taken, taken }
        expect(await first.numbers()).toEqual(numbers)
        expect(await second.numbers()).toEqual(numbers)
      }
      await first.setPermits(10)
      await agree(10, 0)
      expect(await second.trySetPermits(15)).toBe(false)
      await agree(10, 0)
      for (const permits of [15, 15, 5]) {
        await second.setPermits(permits)
        await agree(permits, 0)
      }
      for (const each of [first, second, first]) {
        expect(await each.tryAcquire(1, 600, 2 * SOON_MS)).toHaveLength(1)
      }
      await agree(5, 3)
      await first.setPermits(3)
      await agree(3, 3)
      await second.setPermits(2)
      await agree(2, 3)
    })

    test('testAddPermits: the number is raised and lowered, even below zero', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(10)
      for (const [permits, left] of [
        [5, 15],
        [-10, 5],
        [-10, -5],
      ] as const) {
        await second.addPermits(permits)
        expect((await first.numbers()).available).toBe(left)
      }
    })

    test('testBlockingAcquire: a call waits until the other language releases its permit', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(1)
      const ids = await first.acquire()
      expect(ids).toEqual([expect.stringMatching(/^[\da-f]{32}$/)])
      expect((await second.numbers()).available).toBe(0)
      const waiting = second.acquire()
      await staysPending(waiting)
      expect(await first.tryRelease(ids)).toBe(true)
      expect(await waiting).toHaveLength(1)
      expect(await first.tryAcquire()).toEqual([])
      expect((await first.numbers()).available).toBe(0)
    })

    test('testBlockingAcquireMany, testTryAcquireMany: many permits are acquired at once, and released by the other language', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(10)
      const ids = await first.acquire(6)
      expect((await second.numbers()).available).toBe(4)
      expect(await second.tryRelease(ids)).toBe(true)
      expect((await first.numbers()).available).toBe(10)
      expect(await first.tryAcquire(4)).toHaveLength(4)
      expect(await second.tryAcquire(5)).toHaveLength(5)
      expect((await first.numbers()).available).toBe(1)
    })

    test('testTryAcquire: a call with a time limit gets the permit as soon as it is released', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(1)
      const ids = await first.tryAcquire()
      expect(ids).toEqual([expect.stringMatching(/^[\da-f]{32}$/)])
      expect(await second.tryAcquire()).toEqual([])
      const start = performance.now()
      const waiting = second.tryAcquire(1, 2 * SOON_MS)
      await pause(400)
      await first.tryRelease(ids)
      expect(await waiting).toEqual([expect.stringMatching(/^[\da-f]{32}$/)])
      expect(since(start)).toBeGreaterThan(390)
      expect(since(start)).toBeLessThan(SOON_MS)
      expect((await first.numbers()).available).toBe(0)
    })

    test('testReleaseExpired: a permit whose lease has ended is not released, and not lost', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(1)
      const ids = await first.tryAcquire(1, 600, 100)
      await pause(200)
      expect(await second.tryRelease(ids)).toBe(false)
      expect((await first.numbers()).available).toBe(1)
    })

    test('testAcquire: a call gets a free permit at once', async () => {
      await leased(one).trySetPermits(1)
      const start = performance.now()
      expect(await leased(other).acquire(1, SOON_MS)).toHaveLength(1)
      expect(since(start)).toBeLessThan(1_000)
    })

    test('testRelease, testReleaseAsyncMany: many permits are released in parts, and none of them twice', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(10)
      const ids = await first.acquire(6)
      expect((await second.numbers()).available).toBe(4)
      expect(await second.tryRelease(ids.slice(0, 4))).toBe(true)
      expect((await first.numbers()).available).toBe(8)
      expect(await first.tryRelease(ids.slice(4))).toBe(true)
      expect((await second.numbers()).available).toBe(10)
      expect(await second.tryRelease(ids)).toBe(false)
      expect((await first.numbers()).available).toBe(10)
    })

    test('testReleaseManyExpiredDoesNotThrow: the permits of ended leases are counted again, once', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(10)
      await first.acquire(6, 800)
      expect((await second.numbers()).available).toBe(4)
      await pause(900)
      await second.acquire(1, 800)
      expect((await first.numbers()).available).toBe(9)
      await eventually(async () => (await first.numbers()).available === 10)
    })

    test('testTryReleaseManyExpired: permits with a lease return by themselves, and other permits return at their release', async () => {
      const [first, second] = [leased(one), leased(other)]
      await first.trySetPermits(10)
      const timed = await first.tryAcquire(3, 600, 800)
      const others = await second.tryAcquire(3)
      expect((await first.numbers()).available).toBe(4)
      await pause(900)
      expect(await second.tryRelease(others)).toBe(true)
      expect((await first.numbers()).available).toBe(10)
      expect(await second.tryRelease(timed)).toBe(false)
      expect((await first.numbers()).available).toBe(10)
    })

    test('testConcurrencyMultiPermits, testConcurrencyMultiPermits2: two calls that want both permits get them in turn', async () => {
      await leased(one).trySetPermits(2)
      for (const wanted of [2, 1]) {
        const [first, second] = [leased(one), leased(other)]
        const work = async (party: Leased, permits: number) => {
          const ids = await party.tryAcquire(permits, 2 * SOON_MS)
          await pause(300)
          return ids.length > 0 && (await party.tryRelease(ids))
        }
        const both = [work(first, wanted), work(second, 2)]
        expect(await Promise.all(both)).toEqual([true, true])
      }
      expect((await leased(other).numbers()).available).toBe(2)
    })
  },
)

describe('RedissonPermitExpirableSemaphoreTest', () => {
  const java = () =>
    new JavaPermitExpirableSemaphore(stage.javaClient, stage.name, stage.threadName('leased'))
  const node = () => stage.nodeClient().getPermitExpirableSemaphore(stage.name)

  test('testUpdateLeaseTime: Java extends and shortens the lease of a Node permit until the lease has ended', async () => {
    const [theirs, ours] = [java(), node()]
    await theirs.trySetPermits(1)
    expect(await theirs.updateLeaseTime('1234', 1_000)).toBe(false)
    const permit = await ours.acquire({ leaseMs: 2 * SOON_MS })
    const [id = ''] = permit.ids
    expect(await theirs.updateLeaseTime(id, 300)).toBe(true)
    await pause(400)
    expect(await theirs.updateLeaseTime(id, 300)).toBe(false)
    const next = await ours.acquire({ leaseMs: 1_000 })
    expect(await theirs.updateLeaseTime(next.ids[0] as string, 2_000)).toBe(true)
    await pause(1_100)
    expect(await ours.availablePermits()).toBe(0)
    await eventually(async () => (await ours.availablePermits()) === 1, { timeoutMs: SOON_MS })
    expect(await theirs.updateLeaseTime(next.ids[0] as string, 300)).toBe(false)
    await permit.release()
    await next.release()
    expect(await theirs.availablePermits()).toBe(1)
  })

  test('testUpdateLeaseTime: Java sees an extend() of Node', async () => {
    const [theirs, ours] = [java(), node()]
    await theirs.trySetPermits(1)
    const permit = await ours.acquire({ leaseMs: 2_000 })
    await permit.extend(20_000)
    expect(await theirs.getLeaseTime(permit.ids[0] as string)).toBeGreaterThan(10_000)
    await permit.release()
  })

  test('testGetLeaseTime: Java reads the lease of a Node permit, and Node reads the lease of a Java permit', async () => {
    const [theirs, ours] = [java(), node()]
    await theirs.trySetPermits(1)
    await expect(theirs.getLeaseTime('1234')).rejects.toThrow()
    const [id = ''] = await theirs.acquire()
    expect(await theirs.getLeaseTime(id)).toBe(-1)
    const leaseOf = async (wanted: string) =>
      (await ours.inspect()).acquired.find((one) => one.id === wanted)?.ttlMs
    expect(await leaseOf(id)).toBeNull()
    expect(await ours.release(id)).toBe(true)
    const permit = await ours.acquire({ leaseMs: 1_100 })
    await pause(100)
    expect(await theirs.getLeaseTime(permit.ids[0] as string)).toBeLessThanOrEqual(1_000)
    await eventually(async () => (await theirs.availablePermits()) === 1, { timeoutMs: SOON_MS })
    await permit.release()
  })

  test('testReleaseWithoutPermits: an unknown id releases nothing', async () => {
    const [theirs, ours] = [java(), node()]
    await theirs.trySetPermits(1)
    await expect(theirs.release('1234')).rejects.toThrow()
    const [id = ''] = await theirs.acquire()
    await theirs.release(id)
    await expect(theirs.release(id)).rejects.toThrow()
    expect(await ours.release(id)).toBe(false)
    expect(await ours.availablePermits()).toBe(1)
  })

  test('testReleaseManyNotExistOrExpired: with a wrong id in a list, Java releases none, and Node releases the others', async () => {
    const [theirs, ours] = [java(), node()]
    await theirs.trySetPermits(10)
    const timed = await ours.acquire({ permits: 2, leaseMs: 1_000 })
    const ids = await theirs.tryAcquire(8)
    expect(await theirs.tryReleaseAll(ids.slice(0, 2))).toBe(2)
    expect(await ours.availablePermits()).toBe(2)
    await pause(1_100)
    await expect(theirs.releaseAll(timed.ids)).rejects.toThrow()
    expect(await ours.availablePermits()).toBe(4)
    const twice = [...ids.slice(2, 4), ...ids.slice(0, 2)]
    await expect(theirs.releaseAll(twice)).rejects.toThrow()
    expect(await ours.availablePermits()).toBe(4)
    expect(await ours.release(twice)).toBe(false)
    expect(await theirs.availablePermits()).toBe(6)
    await timed.release()
  })

  test('testExpiration: a semaphore with an expiry is deleted with all its keys, even while a permit is held', async () => {
    const ours = node()
    await ours.trySetPermits(1)
    await stage.server.admin.pexpire(stage.name, 1_500)
    expect(await ours.tryAcquire({ leaseMs: 600 })).not.toBeNull()
    const parts = [stage.name, `{${stage.name}}:timeout`]
    expect(await stage.server.admin.exists(...parts)).toBe(2)
    const areGone = async () => (await stage.server.admin.exists(...parts)) === 0
    await eventually(areGone, { timeoutMs: SOON_MS })
    expect(await java().availablePermits()).toBe(0)
    // The notes of Holdfast about the semaphore expire, too.
    for (const key of await ownKeys()) {
      expect([key, await stage.server.admin.pttl(key)]).toEqual([key, expect.any(Number)])
      expect(await stage.server.admin.pttl(key)).not.toBe(-1)
    }
  })

  test('testGetInClusterNameMapper: in a cluster with a NameMapper, both languages use one semaphore', async () => {
    const cluster = await startCluster()
    const [first] = cluster.masters
    const settings = { port: first?.port as number, sharded: 'AUTO', prefix: 'test::' } as const
    const client = await stage.java.client(settings)
    const theirs = new JavaPermitExpirableSemaphore(client, 'semaphore', stage.threadName('in it'))
    const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
    const holdfast = new Holdfast({ redis: nodes, keyPrefix: 'test::' })
    atEnd(() => holdfast.close().finally(() => nodes.disconnect()), { beforeCheck: true })
    const ours = holdfast.getPermitExpirableSemaphore('semaphore')
    expect(await theirs.trySetPermits(1)).toBe(true)
    const [id = ''] = await theirs.acquire()
    expect(await ours.tryAcquire()).toBeNull()
    await theirs.release(id)
    const permit = await ours.acquire()
    expect(await theirs.tryAcquire()).toEqual([])
    await permit.release()
    expect(await theirs.availablePermits()).toBe(1)
    await client.shutdown()
    for (const { admin } of cluster.masters) await admin.flushall()
  })
})

interface Latch {
  trySetCount(count: number): Promise<boolean>
  countDown(): Promise<unknown>
  count(): Promise<number>
  await(waitMs?: number): Promise<boolean>
  delete(): Promise<boolean>
}

function latchOf(language: Language, name = stage.name): Latch {
  parties += 1
  if (language === 'Java') {
    const latch = new JavaLatch(stage.javaClient, name, stage.threadName(`${parties}`))
    return {
      trySetCount: (count) => latch.trySetCount(count),
      countDown: () => latch.countDown(),
      count: () => latch.getCount(),
      await: (waitMs) => latch.await(waitMs),
      delete: () => latch.delete(),
    }
  }
  const latch = stage.nodeClient().getCountDownLatch(name)
  return {
    trySetCount: (count) => latch.trySetCount(count),
    countDown: () => latch.countDown(),
    count: () => latch.count(),
    await: (waitMs) => latch.await(waitMs === undefined ? {} : { waitMs }),
    delete: () => latch.delete(),
  }
}

describe.each(directions)('RedissonCountDownLatchTest, %s first, then %s', (one, other) => {
  test('testAwaitTimeout: a waiter continues when the other language has counted down in time', async () => {
    const [first, second] = [latchOf(one), latchOf(other)]
    expect(await first.trySetCount(1)).toBe(true)
    expect(await second.count()).toBe(1)
    const waiting = second.await(2 * SOON_MS)
    const start = performance.now()
    await pause(300)
    await first.countDown()
    expect(await waiting).toBe(true)
    expect(since(start)).toBeGreaterThan(290)
    expect(since(start)).toBeLessThan(SOON_MS)
  })

  test('testAwaitTimeoutFail: a waiter gets false when its time is up', async () => {
    const [first, second] = [latchOf(one), latchOf(other)]
    expect(await first.trySetCount(1)).toBe(true)
    const start = performance.now()
    expect(await second.await(500)).toBe(false)
    expect(since(start)).toBeGreaterThan(490)
    await first.countDown()
    expect(await second.count()).toBe(0)
  })

  test('testMultiAwait: several waiters of both languages all continue', async () => {
    await latchOf(one).trySetCount(5)
    const waiting = Promise.all(
      Array.from({ length: 5 }, (_, i) => latchOf(i % 2 === 0 ? one : other).await(2 * SOON_MS)),
    )
    await staysPending(waiting)
    for (const each of [one, other, one, other, one] as const) await latchOf(each).countDown()
    expect(await waiting).toEqual([true, true, true, true, true])
    expect(await latchOf(other).count()).toBe(0)
  })

  test('testCountDown: a latch at zero stays at zero, and every waiter continues', async () => {
    const [first, second] = [latchOf(one), latchOf(other)]
    await first.trySetCount(2)
    expect(await second.count()).toBe(2)
    await second.countDown()
    expect(await first.count()).toBe(1)
    await first.countDown()
    for (const each of [second, first, second]) {
      expect(await each.count()).toBe(0)
      expect(await each.await(SOON_MS)).toBe(true)
      await each.countDown()
    }
    const name = `${stage.name}-never-set`
    const [third, fourth] = [latchOf(one, name), latchOf(other, name)]
    expect(await third.count()).toBe(0)
    expect(await fourth.await(SOON_MS)).toBe(true)
    await fourth.countDown()
    expect(await third.count()).toBe(0)
    expect(await third.await(SOON_MS)).toBe(true)
  })

  test('testDelete, testDeleteFailed: one language deletes the count of the other language, once', async () => {
    const [first, second] = [latchOf(one), latchOf(other)]
    expect(await second.delete()).toBe(false)
    await first.trySetCount(1)
    expect(await second.delete()).toBe(true)
    expect(await first.delete()).toBe(false)
  })

  test('testTrySetCount, testCount: the count is set once', async () => {
    const [first, second] = [latchOf(one), latchOf(other)]
    expect(await second.count()).toBe(0)
    expect(await first.trySetCount(1)).toBe(true)
    expect(await second.trySetCount(2)).toBe(false)
    expect(await second.count()).toBe(1)
  })
})

test('RedissonCountDownLatchConcurrentTest, testSingleCountDownAwait_SingleInstance: all waiters continue after the last count-down, and read a count of 0', async () => {
  const many = 6
  const languages = Array.from({ length: many }, (_, i): Language => (i % 2 ? 'Java' : 'Node'))
  await latchOf('Java').trySetCount(many)
  let counted = 0
  const waiting = languages.map(async (language) => {
    const latch = latchOf(language)
    expect(await latch.await(2 * SOON_MS)).toBe(true)
    expect(counted).toBe(many)
    expect(await latch.count()).toBe(0)
  })
  await staysPending(Promise.all(waiting))
  const counting = languages.map(async (language) => {
    const latch = latchOf(language)
    counted += 1 // before the count-down, because waiters continue at once
    await latch.countDown()
  })
  await Promise.all([...waiting, ...counting])
})
