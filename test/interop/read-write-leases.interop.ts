import { setTimeout as pause } from 'node:timers/promises'
import { LeaseLostError } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { startJava } from './support/java.ts'
import { staysPending } from './support/pending.ts'
import { javaHold, NOT_HELD, readWriteOn, SOON_MS, since } from './support/read-write.ts'
import { redissonVersion, useStage } from './support/stage.ts'

const stage = useStage()
const { javaRead, javaWrite, nodeLock, take, listeners, javaSleeps, timeouts, timeoutOf } =
  readWriteOn(stage)

describe('RReadWriteLock and getReadWriteLock: hold counts', () => {
  test('in Java, renewed over many leases, do not change when Node readers come and go', async () => {
    const client = await stage.newJavaClient({ watchdogMs: 1_500 })
    const java = javaRead({ client })
    // The watchdog of Redisson 3.x never renews the lease of an owner that has re-entered, even if only Java uses the
    // lock.
    const counts = redissonVersion.startsWith('3.') ? [1] : [1, 2, 3]
    for (const _ of counts) await java.lock()
    const owner = await stage.javaOwner('', client)
    const keys = counts.map((n) => timeoutOf(owner, n))
    const node = nodeLock().readLock()
    const start = performance.now()
    while (since(start) < 4_000) {
      await node.using(() => node.using(() => pause(20)))
      expect((await stage.hash())[owner]).toBe(`${counts.length}`)
      expect(Object.keys(await timeouts())).toEqual(keys)
    }
    expect(await java.getHoldCount()).toBe(counts.length)
    for (const left of counts.slice(0, -1).reverse()) {
      await node.using(() => java.unlock())
      expect(await nodeLock().inspect()).toMatchObject({ holders: [{ owner, holdCount: left }] })
      expect(Object.keys(await timeouts())).toEqual(keys.slice(0, left))
      expect(await nodeLock().writeLock().tryLock()).toBeNull()
    }
    await java.unlock()
    expect(await stage.hash()).toEqual({})
  })

  test('in Java block a writer in Node while Java renews the lock', async () => {
    const client = await stage.newJavaClient({ watchdogMs: 1_500 })
    const java = javaRead({ client })
    await java.lock()
    await java.lock()
    const owner = await stage.javaOwner('', client)
    const waiting = nodeLock().writeLock().lock()
    await listeners(1)
    const start = performance.now()
    while (since(start) < 4_000) {
      expect(await nodeLock().writeLock().tryLock()).toBeNull()
      expect(await nodeLock().readLock().isLocked()).toBe(true)
      expect(await nodeLock().inspect()).toMatchObject({ holders: [{ owner, holdCount: 2 }] })
      await pause(50)
    }
    await staysPending(waiting)
    expect(await java.getHoldCount()).toBe(2)
    await java.unlock()
    // The first unlock in Redisson 3.x finds no lease of this owner, and releases the whole lock.
    if ((await java.getHoldCount()) > 0) await java.unlock()
    await (await waiting).release()
  })

  test('in Node, renewed over many leases, do not change when Java readers come and go', async () => {
    const node = nodeLock({ leaseMs: 1_500 }).readLock()
    await node.using(async (outer) => {
      await node.using(async () => {
        const java = javaRead()
        const start = performance.now()
        while (since(start) < 4_000) {
          await java.lock()
          await java.lock()
          await java.unlock()
          await java.unlock()
          expect(await stage.hash()).toEqual({ mode: 'read', [outer.owner]: '2' })
          expect(Object.keys(await timeouts())).toEqual([timeoutOf(outer.owner)])
          expect(outer.valid).toBe(true)
        }
      })
      expect(await javaWrite().tryLock()).toBe(false)
    })
    expect(await stage.hash()).toEqual({})
  })

  test('for a writer of either language are visible in the other language', async () => {
    const java = javaWrite()
    await java.lock()
    await java.lock()
    expect(await nodeLock().inspect()).toMatchObject({ mode: 'write', holders: [{ holdCount: 2 }] })
    await java.unlock()
    expect(await nodeLock().readLock().tryLock()).toBeNull()
    await java.unlock()
    const node = nodeLock().writeLock()
    await node.using(async (lease) => {
      await node.using(async () => {
        expect(await stage.javaClient.fields(stage.name)).toEqual({
          mode: 'write',
          [lease.owner]: '2',
        })
      })
      expect(await java.tryLock()).toBe(false)
      expect(await javaRead().tryLock()).toBe(false)
    })
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })
})

describe('RReadWriteLock and getReadWriteLock: leases', () => {
  test.each(['readLock', 'writeLock'] as const)(
    'a Node process that is killed with the %s blocks a writer of Java until its lease ends',
    async (side) => {
      const args = [stage.server.port, stage.name, 1_200, side].map(String)
      const child = startChild('test/interop/support/taker.mjs', { args })
      await child.next()
      const waiting = javaWrite().tryLock(20_000)
      await listeners(1)
      child.kill('SIGKILL')
      await child.exited
      const ttl = await stage.pttl()
      const start = performance.now()
      expect(await waiting).toBe(true)
      expect(since(start)).toBeGreaterThan(ttl - 50)
      expect(since(start)).toBeLessThan(SOON_MS)
      await javaWrite().unlock()
    },
  )

  test.each([
    ['a reader of Java', 'a writer of Java'],
    ['a reader of Java', 'a writer here'],
    ['a reader here', 'a writer of Java'],
    ['a reader here', 'a writer here'],
  ] as const)(
    'a killed Node reader causes no longer wait when %s has read for longer, and %s waits',
    async (who, next) => {
      const args = [stage.server.port, stage.name, 600, 'readLock'].map(String)
      const child = startChild('test/interop/support/taker.mjs', { args })
      await child.next()
      const hold = await take[who](25_000)
      child.kill('SIGKILL')
      await child.exited
      const waiting =
        next === 'a writer here'
          ? nodeLock().writeLock().lock()
          : javaHold(javaWrite({ thread: 'writer' }))
      await listeners(1)
      await eventually(async () => Object.keys(await timeouts()).length === 1)
      const start = performance.now()
      await hold.release()
      await (await waiting).release()
      expect(since(start)).toBeLessThan(SOON_MS)
    },
  )

  test.each(['a reader of Java', 'a reader here'] as const)(
    'when %s with a long lease leaves, a later writer of Java waits only for the lease of a killed reader',
    async (who) => {
      const args = [stage.server.port, stage.name, 3_000, 'readLock'].map(String)
      const child = startChild('test/interop/support/taker.mjs', { args })
      await child.next()
      const hold = await take[who](25_000)
      child.kill('SIGKILL')
      await child.exited
      await hold.release()
      expect(await stage.pttl()).toBeLessThanOrEqual(3_000)
      const start = performance.now()
      await javaWrite().lock()
      expect(since(start)).toBeLessThan(2 * SOON_MS)
      await javaWrite().unlock()
    },
  )

  test('a JVM that is killed while it reads blocks a writer in Node until its lease ends', async () => {
    const jvm = startJava()
    const client = await jvm.client({ port: stage.server.port, watchdogMs: 1_200 })
    await javaRead({ client }).lock()
    const lease = await nodeLock().readLock().lock()
    const waiting = nodeLock().writeLock().lock()
    await listeners(1)
    await jvm.kill()
    const start = performance.now()
    await lease.release()
    const writing = await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await writing.release()
  })

  test('a reader in Node that extends its lease has a longer lease in Java too', async () => {
    const lease = await nodeLock().readLock().lock(2_000)
    await lease.extend(20_000)
    expect(await javaRead().remainTimeToLive()).toBeGreaterThan(10_000)
    await lease.release()
  })

  test('both languages see the end of a lease', async () => {
    await javaRead().lock(700)
    const lease = await nodeLock().readLock().lock(700)
    const start = performance.now()
    const writing = await nodeLock().writeLock().lock()
    expect(since(start)).toBeGreaterThan(400)
    expect(since(start)).toBeLessThan(SOON_MS)
    await expect(javaRead().unlock()).rejects.toMatchObject(NOT_HELD)
    expect(await lease.release()).toBe(false)
    expect(await stage.hash()).toEqual({ mode: 'write', [writing.owner]: '1' })
    await writing.release()
  })
})

describe('RReadWriteLock and getReadWriteLock: force', () => {
  test.each([
    ['readLock', javaRead],
    ['writeLock', javaWrite],
  ] as const)(
    'forceUnlock() in Java ends the %s of Node and wakes a waiter, and Node reports the loss',
    async (side, java) => {
      leaves({ keys: true, why: "Redisson's forceUnlock leaves the leases of those who read" })
      const client = stage.nodeClient({ leaseMs: 900 })
      const lost = new Promise<unknown>((resolve) => {
        client.once('lost', ({ error }) => resolve(error))
      })
      const lease = await client.getReadWriteLock(stage.name)[side]().lock()
      const waiting = nodeLock().writeLock().lock()
      await listeners(1)
      const [other] = [javaRead, javaWrite].filter((each) => each !== java)
      expect(await other?.().forceUnlock()).toBe(false)
      expect(await java().forceUnlock()).toBe(true)
      const next = await waiting
      expect(await lost).toBeInstanceOf(LeaseLostError)
      expect(lease.signal.aborted).toBe(true)
      expect(await lease.release()).toBe(false)
      expect(next.valid).toBe(true)
      expect(await next.release()).toBe(true)
    },
  )

  test.each([
    ['readLock', javaRead],
    ['writeLock', javaWrite],
  ] as const)(
    'forceUnlock() in Node ends the %s of Java and wakes a waiter, and Java fails to unlock',
    async (side, java) => {
      const held = java({ thread: 'holder' })
      await held.lock()
      const waiting = javaWrite({ thread: 'waiter' }).tryLock(4 * SOON_MS)
      await javaSleeps()
      expect(await nodeLock()[side]().forceUnlock()).toBe(true)
      expect(await waiting).toBe(true)
      expect(await held.isHeldByCurrentThread()).toBe(false)
      await expect(held.unlock()).rejects.toMatchObject(NOT_HELD)
      await javaWrite({ thread: 'waiter' }).unlock()
      expect(await nodeLock()[side]().forceUnlock()).toBe(false)
    },
  )
})
