import { never } from '../support/eventually.ts'
import { startRedis } from '../support/redis-server.ts'
import { JavaLock } from './support/java.ts'
import { staysPending } from './support/pending.ts'
import { useStage } from './support/stage.ts'

const stage = useStage()

const since = (start: number) => performance.now() - start

/** A lease short enough to be sat out, and long enough to tell that from a wake-up. */
const LEASE_MS = 1_500

/** Far below any lease of 30 s. */
const SOON_MS = 5_000

describe('RSpinLock', () => {
  const spin = (thread = '') => stage.javaLock({ kind: 'RSpinLock', thread })

  test('and our lock exclude each other', async () => {
    const [java, node] = [spin(), stage.nodeLock()]
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    expect((await node.inspect()).holder).toBe(await stage.javaOwner())
    await java.unlock()
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(false)
    await expect(java.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
    await lease.release()
  })

  test('asks again by itself, and so has the lock soon after our release', async () => {
    const lease = await stage.nodeLock().lock()
    const waiting = spin().lock()
    await never(async () => (await stage.hash())[lease.owner] === undefined, 100)
    const start = performance.now()
    await lease.release()
    await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await spin().unlock()
  })

  test('sends no message: a waiter here has the lock when the lease that it saw is over', async () => {
    await spin().lock(LEASE_MS)
    const waiting = stage.nodeLock().lock()
    await stage.nodeSleeps()
    const seen = await stage.pttl()
    const start = performance.now()
    await spin().unlock()
    expect(await stage.hash()).toEqual({})
    await staysPending(waiting)
    const lease = await waiting
    expect(since(start)).toBeGreaterThan(seen - 100)
    expect(since(start)).toBeLessThan(SOON_MS)
    await lease.release()
  })
})

describe('RFairLock', () => {
  const fair = (thread = '') => stage.javaLock({ kind: 'RFairLock', thread })

  test('and our lock exclude each other', async () => {
    const [java, node] = [fair(), stage.nodeLock()]
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    expect((await node.inspect()).holder).toBe(await stage.javaOwner())
    await java.unlock()
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(false)
    await lease.release()
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })

  test('sends no message to us: a waiter here has the lock when the lease that it saw is over', async () => {
    await fair().lock(LEASE_MS)
    const waiting = stage.nodeLock().lock()
    await stage.nodeSleeps()
    const seen = await stage.pttl()
    const start = performance.now()
    await fair().unlock()
    expect(await stage.hash()).toEqual({})
    await staysPending(waiting)
    const lease = await waiting
    expect(since(start)).toBeGreaterThan(seen - 100)
    expect(since(start)).toBeLessThan(SOON_MS)
    await lease.release()
  })

  test('does not hear our message: a thread in its queue has the lock when the lease that it saw is over', async () => {
    const lease = await stage.nodeLock().lock(LEASE_MS)
    const waiting = fair().lock()
    await stage.fairThreadSleeps()
    const seen = await stage.pttl()
    const start = performance.now()
    await lease.release()
    await staysPending(waiting)
    await waiting
    expect(since(start)).toBeGreaterThan(seen - 100)
    expect(since(start)).toBeLessThan(SOON_MS)
    await fair().unlock()
  })

  test('has a queue that we are not in: our lock goes before the threads in it', async () => {
    const first = await stage.nodeLock().lock(LEASE_MS)
    const waiting = fair().lock()
    await stage.fairThreadSleeps()
    await first.release()
    const second = await stage.nodeLock().tryLock()
    expect(second).not.toBeNull()
    await second?.release()
    await waiting
    await fair().unlock()
  })

  test('keeps the order of its threads, whatever we do in between', async () => {
    const order: string[] = []
    const lease = await stage.nodeLock().lock(LEASE_MS)
    const threads: Promise<void>[] = []
    for (const thread of ['a', 'b', 'c']) {
      const lock = fair(thread)
      threads.push(
        lock.lock().then(() => {
          order.push(thread)
          return lock.unlock()
        }),
      )
      await stage.fairQueue(threads.length)
    }
    await lease.release()
    await stage.nodeLock().using(() => undefined)
    await Promise.all(threads)
    expect(order).toEqual(['a', 'b', 'c'])
  })
})

describe('RMultiLock', () => {
  const names = () => ['a', 'b', 'c'].map((each) => `${stage.name}:${each}`)
  const multi = () =>
    new JavaLock([stage.javaClient], 'RMultiLock', names(), stage.threadName('multi'))

  test('holds a lock that we exclude on each of its names', async () => {
    const client = stage.nodeClient()
    const java = multi()
    await java.lock()
    for (const name of names()) expect(await client.getLock(name).tryLock()).toBeNull()
    await java.unlock()
    for (const name of names()) await (await client.getLock(name).tryLock())?.release()
  })

  test('is not to be had while we hold one of its names, and leaves the others free', async () => {
    const client = stage.nodeClient()
    const [a, b, c] = names() as [string, string, string]
    const lease = await client.getLock(b).lock()
    expect(await multi().tryLock()).toBe(false)
    expect(await stage.server.admin.exists(a, c)).toBe(0)
    await lease.release()
  })

  test('that waits is woken by our release, and its unlock wakes us', async () => {
    const client = stage.nodeClient()
    const [, b] = names() as [string, string]
    const lease = await client.getLock(b).lock()
    const java = multi()
    const waiting = java.tryLock(4 * SOON_MS)
    await stage.waiters(1, b)
    const start = performance.now()
    await lease.release()
    expect(await waiting).toBe(true)
    const ours = client.getLock(b).lock()
    await stage.waiters(1, b)
    await java.unlock()
    await (await ours).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })
})

describe('RedissonRedLock over three masters', () => {
  async function threeMasters() {
    const servers = [stage.server, await startRedis(), await startRedis()]
    const clients = await Promise.all(servers.map(({ port }) => stage.java.client({ port })))
    return {
      java: new JavaLock(clients, 'RedissonRedLock', [stage.name], stage.threadName('red')),
      nodes: servers.map(({ port }) => stage.nodeClient({}, { port }).getLock(stage.name)),
    }
  }

  test('holds a lock that we exclude on every master', async () => {
    const { java, nodes } = await threeMasters()
    expect(await java.tryLock(1_000)).toBe(true)
    for (const node of nodes) expect(await node.tryLock()).toBeNull()
    await java.unlock()
    for (const node of nodes) await (await node.tryLock())?.release()
  })

  test('is not to be had while we hold the lock on two of them, and leaves the third free', async () => {
    const { java, nodes } = await threeMasters()
    const leases = await Promise.all(nodes.slice(0, 2).map((node) => node.lock()))
    expect(await java.tryLock()).toBe(false)
    expect(await nodes[2]?.isLocked()).toBe(false)
    for (const lease of leases) await lease.release()
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })

  test('is to be had while we hold the lock on one of them: that is no majority', async () => {
    const { java, nodes } = await threeMasters()
    const lease = await nodes[0]?.lock()
    expect(await java.tryLock()).toBe(true)
    expect(lease?.valid).toBe(true)
    await java.unlock()
    expect(await lease?.release()).toBe(true)
  })

  test('that waits is woken by our release, and its unlock wakes us', async () => {
    const { java, nodes } = await threeMasters()
    const leases = await Promise.all(nodes.slice(0, 2).map((node) => node.lock()))
    const waiting = java.tryLock(4 * SOON_MS) // For the first, and then for the second.
    await stage.waiters(1)
    const start = performance.now()
    for (const lease of leases) await lease.release()
    expect(await waiting).toBe(true)
    const ours = stage.nodeLock().lock()
    await stage.waiters(1)
    await java.unlock()
    await (await ours).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })
})

describe('RReadWriteLock, which does not mix', () => {
  const read = () => stage.javaLock({ kind: 'RReadWriteLock.readLock' })
  const write = () => stage.javaLock({ kind: 'RReadWriteLock.writeLock' })

  test.each([
    ['read', read],
    ['write', write],
  ])('its %s lock keeps our lock out', async (_, side) => {
    const [java, node] = [side(), stage.nodeLock()]
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    expect(await node.tryLock(50)).toBeNull()
    expect(await java.isHeldByCurrentThread()).toBe(true)
    await java.unlock()
    await (await node.tryLock())?.release()
  })

  test("its read lock does not see a lock of ours: both are held, and Java's unlock ends ours", async () => {
    const [java, node] = [read(), stage.nodeLock()]
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(true)
    expect(lease.valid).toBe(true)
    await java.unlock()
    expect(await stage.hash()).toEqual({})
    expect(await lease.release()).toBe(false)
  })

  test("its write lock does not see a lock of ours: both are held, and our release ends Java's", async () => {
    const [java, node] = [write(), stage.nodeLock()]
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(true)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    expect(await lease.release()).toBe(true)
    expect(await java.isHeldByCurrentThread()).toBe(false)
  })

  test('does not see an RLock of Java either', async () => {
    const plain = stage.javaLock({ thread: 'plain' })
    await plain.lock()
    expect(await read().tryLock()).toBe(true)
    await read().unlock()
    await expect(plain.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
  })
})
