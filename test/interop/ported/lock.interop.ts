/**
 * The tests of Redisson for RLock, RFairLock, RFencedLock and RMultiLock, with one owner in Java and one owner in Node.
 * The first word of a title is the name of Redisson's own method. README.md lists all these methods.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../../support/children.ts'
import { eventually } from '../../support/eventually.ts'
import { leaves } from '../../support/leaks.ts'
import { startRedis } from '../../support/redis-server.ts'
import { directions, holdersOn, type LockPair, NOT_HOLDER } from '../support/holders.ts'
import { JavaLock } from '../support/java.ts'
import { staysPending } from '../support/pending.ts'
import { useStage } from '../support/stage.ts'

const stage = useStage()
const holder = holdersOn(stage)

/** A lease whose end a test can wait for. */
const LEASE_MS = 800

/** Much shorter than the lease of 30 s, for which a waiter would wait without a message. */
const SOON_MS = 5_000

const since = (start: number) => performance.now() - start

const PLAIN: LockPair = { java: 'RLock', node: 'getLock' }
const FAIR: LockPair = { java: 'RFairLock', node: 'getFairLock' }

describe.each([
  ['RedissonLockTest', PLAIN],
  ['RedissonFairLockTest', FAIR],
] as const)('%s', (_, pair) => {
  describe.each(directions)('%s first, then %s', (one, other) => {
    test('testTryLockWait: a wait for a held lock fails when its time is up', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      await first.lock()
      const start = performance.now()
      expect(await second.tryLock(1_000)).toBe(false)
      expect(since(start)).toBeGreaterThan(990)
      expect(since(start)).toBeLessThan(1_000 + SOON_MS)
      await first.unlock()
    })

    test('testForceUnlock: another owner frees the lock by force', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      await first.lock()
      expect(await second.forceUnlock()).toBe(true)
      expect(await first.isLocked()).toBe(false)
      expect(await second.isLocked()).toBe(false)
      expect(await second.forceUnlock()).toBe(false)
      await first.unlock().catch(() => undefined)
    })

    test('testExpire: the next owner acquires the lock when the lease ends, and not before', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      const start = performance.now()
      await first.lock(LEASE_MS)
      await second.lock()
      expect(since(start)).toBeGreaterThan(LEASE_MS - 20)
      expect(since(start)).toBeLessThan(LEASE_MS + SOON_MS)
      await expect(first.unlock()).rejects.toThrow(NOT_HOLDER)
      expect(await second.isHeld()).toBe(true)
      await second.unlock()
    })

    test('testGetHoldCount: a hold count is visible to its owner only', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
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
      expect(await second.tryLock()).toBe(false)
      await first.unlock()
      expect(await counts()).toEqual([0, 0])
    })

    test('testIsHeldByCurrentThread: an owner sees its own hold', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      expect([await first.isHeld(), await second.isHeld()]).toEqual([false, false])
      await first.lock()
      expect([await first.isHeld(), await second.isHeld()]).toEqual([true, false])
      await first.unlock()
      await second.lock()
      expect([await first.isHeld(), await second.isHeld()]).toEqual([false, true])
      await second.unlock()
    })

    test('testIsHeldByCurrentThreadOtherThread: no other owner sees the hold as its own', async () => {
      const first = holder(one, pair)
      await first.lock()
      expect(await holder(other, pair).isHeld()).toBe(false)
      expect(await holder(one, pair).isHeld()).toBe(false)
      await first.unlock()
      expect(await holder(other, pair).isHeld()).toBe(false)
    })

    test('testIsLocked: an owner sees whether the lock is held, by itself or by another', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      expect(await first.isLocked()).toBe(false)
      await first.lock()
      expect(await first.isLocked()).toBe(true)
      await first.unlock()
      expect(await first.isLocked()).toBe(false)
      await second.lock()
      expect(await first.isLocked()).toBe(true)
      await second.unlock()
    })

    test('testIsLockedOtherThread: another owner sees that the lock is held, and that it is free', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      await first.lock()
      expect(await second.isLocked()).toBe(true)
      await first.unlock()
      expect(await second.isLocked()).toBe(false)
    })

    test('testUnlockFail: an owner that does not hold the lock cannot unlock it', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      await first.lock()
      await expect(second.unlock()).rejects.toThrow(NOT_HOLDER)
      expect(await first.isHeld()).toBe(true)
      await first.unlock()
    })

    test('testLockUnlock: both languages acquire the lock again and again, in turn', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      for (const each of [first, second, first, second]) {
        await each.lock()
        await each.unlock()
      }
      expect(await stage.hash()).toEqual({})
    })

    test('testReentrancy: the holder acquires the lock twice, and another owner gets it after both releases', async () => {
      const [first, second] = [holder(one, pair), holder(other, pair)]
      expect(await first.tryLock()).toBe(true)
      expect(await first.tryLock()).toBe(true)
      await first.unlock()
      expect(await second.tryLock()).toBe(false)
      await first.unlock()
      expect(await second.tryLock()).toBe(true)
      await second.unlock()
    })
  })

  test('testAutoExpire: a Java client that shut down keeps the lock until its lease ends', async () => {
    const javaClient = await stage.newJavaClient({ watchdogMs: 1_000 })
    await holder('Java', pair, { javaClient }).lock()
    await javaClient.shutdown()
    const next = holder('Node', pair)
    expect(await next.isLocked()).toBe(true)
    await eventually(async () => !(await next.isLocked()), { timeoutMs: SOON_MS })
    expect(await next.tryLock()).toBe(true)
    await next.unlock()
  })

  test('testAutoExpire: a Node process that was killed keeps the lock until its lease ends', async () => {
    const port = String(stage.server.port)
    const child = startChild('test/interop/support/taker.mjs', { args: [port, stage.name, '1000'] })
    await child.next()
    child.kill('SIGKILL')
    await child.exited
    const next = holder('Java', pair)
    expect(await next.isLocked()).toBe(true)
    await eventually(async () => !(await next.isLocked()), { timeoutMs: SOON_MS })
    expect(await next.tryLock()).toBe(true)
    await next.unlock()
  })
})

describe('RedissonLockTest', () => {
  describe.each(directions)('%s first, then %s', (one, other) => {
    test('testRemainTimeToLive: another owner sees the rest of the lease, even of a lease of the watchdog', async () => {
      const [first, second] = [holder(one, PLAIN), holder(other, PLAIN)]
      await first.lock(3_600_000)
      expect(await second.remainingMs()).toBeGreaterThan(3_600_000 - SOON_MS)
      expect(await second.remainingMs()).toBeLessThanOrEqual(3_600_000)
      await first.unlock()
      expect(await second.remainingMs()).toBe(0)
      await first.lock()
      expect(await second.remainingMs()).toBeGreaterThan(30_000 - SOON_MS)
      expect(await second.remainingMs()).toBeLessThanOrEqual(30_000)
      await first.unlock()
    })

    test('testRemainTimeToLive2: re-entry does not add up leases, and a release keeps them', async () => {
      const [first, second] = [holder(one, PLAIN), holder(other, PLAIN)]
      for (const _ of [1, 2, 3]) await first.lock(10_000)
      await first.unlock()
      await first.unlock()
      expect(await second.remainingMs()).toBeGreaterThan(10_000 - SOON_MS)
      expect(await second.remainingMs()).toBeLessThanOrEqual(10_000)
      expect(await second.tryLock()).toBe(false)
      await first.unlock()
      expect(await second.isLocked()).toBe(false)
    })
  })

  test('testLockIsNotRenewedAfterInterruptedTryLock: a Node call that is aborted during its request leaves the lock to Java', async () => {
    const client = stage.nodeClient({ leaseMs: 1_000 })
    const java = holder('Java', PLAIN)
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const asking = client.getLock(stage.name).tryLock({ signal: controller.signal })
      if (round % 2 === 1) await pause(Math.random() * 2)
      controller.abort()
      const lease = await asking.catch(() => null)
      if (lease !== null) {
        expect(await java.tryLock()).toBe(false)
        expect(await lease.release()).toBe(true)
      }
      await eventually(() => java.tryLock(), { timeoutMs: SOON_MS })
      await java.unlock()
    }
  })

  test('testSinglePubSub: a Java client with one subscription and Node clients wait for two names at once', async () => {
    const javaClient = await stage.newJavaClient({ subscriptions: 1 })
    const names = [`${stage.name}-one`, `${stage.name}-two`]
    for (let round = 0; round < 2; round++) {
      const got = names.flatMap((name) =>
        (['Java', 'Node', 'Java', 'Node'] as const).map(async (language) => {
          const each = holder(language, PLAIN, { name, javaClient })
          const has = await each.tryLock(2 * SOON_MS)
          if (has) await each.unlock()
          return has
        }),
      )
      expect(await Promise.all(got)).toEqual(got.map(() => true))
    }
  })

  test('testSubscriptionsPerConnection: many threads with one subscription and many Node calls all get the lock, and no channel stays', async () => {
    const javaClient = await stage.newJavaClient({ subscriptions: 1 })
    const client = stage.nodeClient()
    const names = [1, 2, 3].map((n) => `${stage.name}-${n}`)
    const here = names.flatMap((name) =>
      [1, 2, 3].map(async () => {
        for (let round = 0; round < 10; round++) {
          await client.getLock(name).using(() => pause(Math.random() * 5))
        }
      }),
    )
    const there = names.flatMap((name) =>
      [1, 2, 3].map(async () => {
        const java = holder('Java', PLAIN, { name, javaClient })
        for (let round = 0; round < 10; round++) {
          await java.lock()
          await pause(Math.random() * 5)
          await java.unlock()
        }
      }),
    )
    await Promise.all([...here, ...there])
    await client.close()
    const listening = async () => (await stage.server.admin.pubsub('CHANNELS')) as string[]
    await eventually(async () => (await listening()).length === 0, { timeoutMs: SOON_MS })
  })

  test('testLockListener: listeners in Java are called when a hold of Node is released or ends, until they are removed', async () => {
    const { admin } = stage.server
    await admin.config('SET', 'notify-keyspace-events', 'Egx')
    try {
      const lock = stage.nodeLock()
      const counts = await stage.javaClient.listen(stage.name)
      await (await lock.lock(SOON_MS)).release()
      await eventually(async () => (await counts()).deleted === 1)
      await lock.lock(LEASE_MS)
      await eventually(async () => (await counts()).expired === 1, { timeoutMs: SOON_MS })
      expect(await lock.isLocked()).toBe(false)
      expect(await counts()).toEqual({ deleted: 1, expired: 1 })
      await counts.end()
      await (await lock.lock()).release()
      await pause(50)
      expect(await counts()).toEqual({ deleted: 1, expired: 1 })
    } finally {
      await admin.config('SET', 'notify-keyspace-events', '')
    }
  })
})

describe('RedissonFairLockTest', () => {
  test('testLeaseTimeout: owners of both languages that never release get the lock in turn as leases end', async () => {
    const order: string[] = []
    const waiting: Promise<void>[] = []
    const first = holder('Node', FAIR)
    await first.lock(LEASE_MS)
    for (const n of [1, 2, 3]) {
      for (const language of ['Java', 'Node'] as const) {
        const got = holder(language, FAIR).tryLock(4 * SOON_MS, 200)
        waiting.push(
          got.then((has) => {
            expect(has).toBe(true)
            order.push(`${language} ${n}`)
          }),
        )
      }
      await stage.javaPlaces(n)
      await stage.fairPlaces(n)
    }
    await Promise.all(waiting)
    for (const language of ['Java', 'Node']) {
      const own = order.filter((each) => each.startsWith(language))
      expect(own).toEqual([1, 2, 3].map((n) => `${language} ${n}`))
    }
    await eventually(async () => !(await first.isLocked()), { timeoutMs: SOON_MS })
    leaves({ keys: true, why: 'no release cleans up what the queue knew: it ends with its expiry' })
  })

  test.each(directions)(
    'testTryLockNonDelayed: %s holds the lock and the wait of %s fails; afterwards both acquire it without a wait',
    async (one, other) => {
      const [first, second] = [holder(one, FAIR), holder(other, FAIR)]
      expect(await first.tryLock()).toBe(true)
      expect(await second.tryLock(500)).toBe(false)
      await expect(second.unlock()).rejects.toThrow(NOT_HOLDER)
      await first.unlock()
      for (const each of [second, first]) {
        expect(await each.tryLock()).toBe(true)
        await each.unlock()
      }
    },
  )

  test('testConcurrency_MultiInstance_Ordering: Node callers that wait for a lock of Java get it in the order of their calls', async () => {
    const java = holder('Java', FAIR)
    await java.lock()
    const order: number[] = []
    const waiting: Promise<void>[] = []
    for (const n of [1, 2, 3, 4]) {
      const each = holder('Node', FAIR)
      waiting.push(
        each.lock().then(() => {
          order.push(n)
          return each.unlock()
        }),
      )
      await stage.fairPlaces(n)
    }
    await java.unlock()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3, 4])
  })

  test('testAbandonedTimeoutDrift_Descrete: a Java thread that left the queue without a message blocks no Node caller', async () => {
    const javaClient = await stage.newJavaClient({})
    const first = holder('Node', FAIR)
    await first.lock()
    const waiting = holder('Java', FAIR, { javaClient }).lock()
    waiting.catch(() => undefined)
    await stage.javaPlaces(1)
    await javaClient.shutdown()
    const second = holder('Node', FAIR)
    const start = performance.now()
    await first.unlock()
    await second.lock()
    await second.unlock()
    expect(since(start)).toBeLessThan(SOON_MS)
    leaves({ keys: true, why: 'the place of a dead thread stays in the queue of Redisson' })
  })

  test('testFirstThreadDeathTimeoutDrift: a Node process that is killed in the queue blocks no Java thread', async () => {
    const first = holder('Node', FAIR)
    await first.lock()
    const { admin } = stage.server
    const connections = async () =>
      String(await admin.client('LIST'))
        .trim()
        .split('\n').length
    const before = await connections()
    const args = [String(stage.server.port), stage.name, '30000', 'fair']
    const child = startChild('test/interop/support/taker.mjs', { args })
    // A release may grant the lock to the dead process if the server does not yet know that the process is gone. Java
    // receives no message about the end of such a grant, and sleeps until the end of the lease.
    const marks = () => admin.hvals(`holdfast_waiting:{${stage.name}}`)
    await eventually(async () => (await marks()).some((mark) => /^\d+ 2/.test(mark)))
    child.kill('SIGKILL')
    await eventually(async () => (await connections()) <= before)
    const java = holder('Java', FAIR)
    const waiting = java.lock()
    await stage.javaPlaces(1)
    const start = performance.now()
    await first.unlock()
    await waiting
    expect(since(start)).toBeLessThan(2 * SOON_MS)
    await java.unlock()
  })

  test('testNameMapper: the keyPrefix in Node is the prefix of a NameMapper in Java', async () => {
    const javaClient = await stage.newJavaClient({ prefix: 'test::' })
    const java = holder('Java', FAIR, { javaClient })
    const node = holder('Node', FAIR, { nodeOptions: { keyPrefix: 'test::' } })
    await java.lock()
    expect(await node.isLocked()).toBe(true)
    expect(await node.tryLock()).toBe(false)
    expect(await holder('Node', FAIR).isLocked()).toBe(false)
    await java.unlock()
    await node.lock()
    expect(await java.tryLock()).toBe(false)
    expect(Object.keys(await stage.hash(`test::${stage.name}`))).toHaveLength(1)
    await node.unlock()
  })
})

describe('RedissonFencedLockTest', () => {
  test('testTokenIncrease: each way to acquire the lock, in either language, gives a higher token than before', async () => {
    const java = stage.javaLock({ kind: 'RFencedLock' })
    const node = stage.nodeLock('getLock', { keepCounters: true })
    const tokens: number[] = []
    const here = async (leaseMs?: number) => {
      const lease = await node.lock(leaseMs)
      tokens.push(Number(lease.token))
      await lease.release()
    }
    tokens.push(await java.lockAndGetToken())
    await java.unlock()
    await here()
    await java.lock()
    tokens.push(await java.getToken())
    await java.unlock()
    await here(10_000)
    await java.lock(10_000)
    tokens.push(await java.getToken())
    await java.unlock()
    const lease = await node.tryLock()
    tokens.push(Number(lease?.token))
    await lease?.release()
    tokens.push((await java.tryLockAndGetToken()) as number)
    await java.unlock()
    for (const [i, token] of tokens.entries()) {
      if (i > 0) expect(token).toBeGreaterThan(tokens[i - 1] as number)
    }
    await stage.server.admin.del(`redisson_lock_token:{${stage.name}}`)
  })
})

describe('RedissonMultiLockTest', () => {
  const names = () => ['1', '2', '3'].map((n) => `${stage.name}-lock${n}`)
  const javaMulti = (thread = 'multi') =>
    new JavaLock([stage.javaClient], 'RMultiLock', names(), stage.threadName(thread))
  const nodeMulti = () => {
    const client = stage.nodeClient()
    const [first, ...rest] = names().map((name) => client.getLock(name))
    return client.getMultiLock(first as NonNullable<typeof first>, ...rest)
  }

  test('testLockUnlock: one language holds all names, and the other language gets them after the release', async () => {
    const [java, node] = [javaMulti(), nodeMulti()]
    await java.lock(10_000)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    expect(await node.isLocked()).toBe(true)
    expect(await node.tryLock()).toBeNull()
    await java.unlock()
    expect(await java.isHeldByCurrentThread()).toBe(false)
    const lease = await node.lock(10_000)
    expect(await java.isHeldByCurrentThread()).toBe(false)
    expect(await java.tryLock()).toBe(false)
    await lease.release()
    expect(await node.isLocked()).toBe(false)
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })

  test('testWaitAndLeaseTimeouts: at most one of ten callers in both languages gets all names, and no other caller keeps a part', async () => {
    const clients = Array.from({ length: 5 }, nodeMulti)
    await Promise.all(clients.map((each) => each.isLocked()))
    const got = await Promise.all([
      ...clients.map(async (each) => (await each.tryLock({ leaseMs: 10_000 })) !== null),
      ...clients.map((__, i) => javaMulti(`${i}`).tryLock(-1, 10_000)),
    ])
    const winners = got.filter(Boolean).length
    // Threads of Java acquire one name after the other, so two threads with a common name may both give up.
    expect(winners).toBeLessThanOrEqual(1)
    const held = await Promise.all(names().map((name) => stage.server.admin.exists(name)))
    expect(held).toEqual(names().map(() => winners))
    await stage.server.admin.del(...names())
  })

  test.each(directions)(
    'testMultiThreads: %s holds the lock, and %s waits until the release',
    async (one) => {
      const node = nodeMulti()
      const release = async () => {
        if (one === 'Java') await javaMulti().unlock()
        else await held?.release()
      }
      const held = one === 'Node' ? await node.lock() : undefined
      if (one === 'Java') await javaMulti().lock()
      const waiting =
        one === 'Java'
          ? nodeMulti().lock()
          : javaMulti('other')
              .lock()
              .then(() => undefined)
      await staysPending(waiting)
      const start = performance.now()
      await release()
      const lease = await waiting
      expect(since(start)).toBeLessThan(2 * SOON_MS)
      if (lease === undefined) await javaMulti('other').unlock()
      else await lease.release()
    },
  )

  test('test: over three servers an RMultiLock excludes a Node lock on each server', async () => {
    const servers = [stage.server, await startRedis(), await startRedis()]
    const clients = await Promise.all(servers.map(({ port }) => stage.java.client({ port })))
    const thread = stage.threadName('three')
    const java = new JavaLock(clients, 'RMultiLock', [stage.name], thread)
    const nodes = servers.map(({ port }) => stage.nodeClient({}, { port }).getLock(stage.name))
    await java.lock()
    for (const node of nodes) {
      expect(await node.tryLock()).toBeNull()
      expect(await node.tryLock()).toBeNull()
    }
    await java.unlock()
    for (const node of nodes) {
      const lease = await node.lock()
      expect(await java.tryLock()).toBe(false)
      expect(await java.tryLock()).toBe(false)
      await lease.release()
    }
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })
})
