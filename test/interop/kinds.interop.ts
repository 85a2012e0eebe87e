import { RedisRefusedError } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { startProxy } from '../support/proxy.ts'
import type { ProxyRequest } from '../support/proxy-pairing.ts'
import { startRedis } from '../support/redis-server.ts'
import { JavaLock } from './support/java.ts'
import { staysPending } from './support/pending.ts'
import { ours, useStage } from './support/stage.ts'

const stage = useStage()

const since = (start: number) => performance.now() - start

/** A lease whose end a test can wait for, and which differs clearly from a wake-up. */
const LEASE_MS = 2_000

/** Much shorter than a lease of 30 s. */
const SOON_MS = 5_000

describe.each(ours)('RSpinLock and %s', (kind) => {
  const spin = () => stage.javaLock({ kind: 'RSpinLock' })

  test('exclude each other', async () => {
    const [java, node] = [spin(), stage.nodeLock(kind)]
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    expect((await node.inspect()).holder).toBe(await stage.javaOwner())
    await java.unlock()
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(false)
    await expect(java.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
    await lease.release()
  })

  test('Java retries by itself, and acquires the lock soon after the release in Node', async () => {
    const lease = await stage.nodeLock(kind).lock()
    const waiting = spin().lock()
    await eventually(async () => (await stage.calls('pttl')) >= 2)
    const start = performance.now()
    await lease.release()
    await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await spin().unlock()
  })
})

/** Tests waiters in Node if the unlock in Java sends no message. */
function unheardUnlock(javaLock: () => JavaLock): void {
  test('and getLock: a waiter in Node acquires the lock at the end of the lease that it saw', async () => {
    await javaLock().lock(LEASE_MS)
    const waiting = stage.nodeLock().lock()
    await stage.nodeSleeps('getLock')
    const seen = await stage.pttl()
    const start = performance.now()
    await javaLock().unlock()
    expect(await stage.hash()).toEqual({})
    await staysPending(waiting)
    const lease = await waiting
    expect(since(start)).toBeGreaterThan(seen - 100)
    expect(since(start)).toBeLessThan(SOON_MS)
    await lease.release()
  })

  test('and getLock: a waiter in Node acquires the lock within about six seconds, however long the lease is', async () => {
    await javaLock().lock()
    const waiting = stage.nodeLock().lock()
    await stage.nodeSleeps('getLock')
    const start = performance.now()
    await javaLock().unlock()
    await staysPending(waiting)
    await (await waiting).release()
    expect(since(start)).toBeLessThan(6_000 + SOON_MS)
  })

  test('and getFairLock: a waiter in Node finds the free lock with its next heartbeat', async () => {
    await javaLock().lock()
    const waiting = stage.nodeLock('getFairLock').lock()
    await staysPending(waiting)
    const start = performance.now()
    await javaLock().unlock()
    await (await waiting).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })
}

describe('RSpinLock, which sends no message,', () => {
  const spin = () => stage.javaLock({ kind: 'RSpinLock' })

  unheardUnlock(spin)
})

describe.each(ours)('RFairLock and %s', (kind) => {
  const fair = () => stage.javaLock({ kind: 'RFairLock' })

  test('exclude each other', async () => {
    const [java, node] = [fair(), stage.nodeLock(kind)]
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

  test('have separate queues: the queue of Node goes before the queue of Java', async () => {
    const first = await stage.nodeLock(kind).lock()
    const waiting = fair().lock()
    await stage.javaPlaces(1)
    const second = stage.nodeLock('getFairLock').lock()
    await stage.fairPlaces(1)
    const start = performance.now()
    await first.release()
    const lease = await second
    expect(await stage.hash()).toEqual({ [lease.owner]: '1' })
    await lease.release()
    await waiting
    // The release in Node woke the thread, because both leases that the thread saw last 30 s.
    expect(since(start)).toBeLessThan(SOON_MS)
    await fair().unlock()
  })

  test('a thread of Java that requests the lock right after a release gets it if it is free', async () => {
    const proxy = await startProxy(stage.server.port)
    const client = await stage.java.client({ port: proxy.port })
    const java = stage.javaLock({ kind: 'RFairLock', client })
    await java.lock() // from now on, the server knows the script
    await java.unlock()
    const first = await stage.nodeLock(kind).lock()
    // The thread sends a request, listens, and sends another request.
    const asks = ({ command, args }: ProxyRequest) =>
      command === 'EVALSHA' && args.includes(`redisson_lock_timeout:{${stage.name}}`)
    const again = proxy.onNextRequest(asks, 'hold', { nth: 2 })
    const waiting = java.lock()
    await again.seen
    const second = stage.nodeLock('getFairLock').lock()
    await stage.fairPlaces(1)
    await first.release()
    again.release()
    const isFirst = await Promise.race([waiting.then(() => 'Java'), second.then(() => 'we')])
    // A fair lock of Node is granted to the next waiter in its queue. A plain lock is free, so the first request
    // acquires it.
    if (kind === 'getFairLock') expect(isFirst).toBe('we')
    const start = performance.now()
    if (isFirst === 'Java') await java.unlock()
    await (await second).release()
    await waiting
    if (isFirst === 'we') await java.unlock()
    expect(since(start)).toBeLessThan(SOON_MS)
  })

  test('keep the order of the threads of Java, whatever Node does in between', async () => {
    const order: string[] = []
    const lease = await stage.nodeLock(kind).lock(LEASE_MS)
    const threads: Promise<void>[] = []
    for (const thread of ['a', 'b', 'c']) {
      const lock = stage.javaLock({ kind: 'RFairLock', thread })
      threads.push(
        lock.lock().then(() => {
          order.push(thread)
          return lock.unlock()
        }),
      )
      await stage.javaPlaces(threads.length)
    }
    await lease.release()
    // A thread that sees this lease may sleep until the end of the lease.
    await stage.nodeLock(kind).using(() => undefined, { leaseMs: LEASE_MS })
    await Promise.all(threads)
    expect(order).toEqual(['a', 'b', 'c'])
  })
})

describe('RFairLock, whose threads each listen on their own channel,', () => {
  const fair = () => stage.javaLock({ kind: 'RFairLock' })

  test('and getLock: a thread in its queue acquires the lock at the end of the lease that it saw', async () => {
    const lease = await stage.nodeLock().lock(LEASE_MS)
    const waiting = fair().lock()
    await stage.javaPlaces(1)
    await stage.allSleep()
    const seen = await stage.pttl()
    const start = performance.now()
    await lease.release()
    await staysPending(waiting)
    await waiting
    expect(since(start)).toBeGreaterThan(seen - 100)
    expect(since(start)).toBeLessThan(SOON_MS)
    await fair().unlock()
  })

  test('and getFairLock: a release in Node wakes a thread in its queue', async () => {
    const lease = await stage.nodeLock('getFairLock').lock()
    const waiting = fair().lock()
    await stage.javaPlaces(1)
    await stage.allSleep()
    const start = performance.now()
    await lease.release()
    await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await fair().unlock()
  })

  unheardUnlock(fair)
})

describe.each(ours)('RMultiLock and %s', (kind) => {
  const names = () => ['a', 'b', 'c'].map((each) => `${stage.name}:${each}`)
  const multi = () =>
    new JavaLock([stage.javaClient], 'RMultiLock', names(), stage.threadName('multi'))

  test('exclude each other on each of its names', async () => {
    const client = stage.nodeClient()
    const java = multi()
    await java.lock()
    for (const name of names()) expect(await client[kind](name).tryLock()).toBeNull()
    await java.unlock()
    for (const name of names()) await (await client[kind](name).tryLock())?.release()
  })

  test('exclude each other when Node holds one name, and Java leaves the other names free', async () => {
    const client = stage.nodeClient()
    const [a, b, c] = names() as [string, string, string]
    const lease = await client[kind](b).lock()
    expect(await multi().tryLock()).toBe(false)
    expect(await stage.server.admin.exists(a, c)).toBe(0)
    await lease.release()
  })

  test('wake each other', async () => {
    const client = stage.nodeClient()
    const [, b] = names() as [string, string]
    const lease = await client[kind](b).lock()
    const java = multi()
    const waiting = java.tryLock(4 * SOON_MS)
    await stage.javaSleeps(b)
    const start = performance.now()
    await lease.release()
    expect(await waiting).toBe(true)
    const ours = client[kind](b).lock()
    await stage.nodeSleeps(kind, b)
    await java.unlock()
    await (await ours).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })
})

describe.each(ours)('RedissonRedLock over three masters, and %s', (kind) => {
  async function threeMasters() {
    const servers = [stage.server, await startRedis(), await startRedis()]
    const clients = await Promise.all(servers.map(({ port }) => stage.java.client({ port })))
    return {
      java: new JavaLock(clients, 'RedissonRedLock', [stage.name], stage.threadName('red')),
      nodes: servers.map(({ port }) => stage.nodeClient({}, { port })[kind](stage.name)),
    }
  }

  test('exclude each other on every master', async () => {
    const { java, nodes } = await threeMasters()
    expect(await java.tryLock(1_000)).toBe(true)
    for (const node of nodes) expect(await node.tryLock()).toBeNull()
    await java.unlock()
    for (const node of nodes) await (await node.tryLock())?.release()
  })

  test('exclude each other when Node holds the lock on two masters, and Java leaves the third master free', async () => {
    const { java, nodes } = await threeMasters()
    const leases = await Promise.all(nodes.slice(0, 2).map((node) => node.lock()))
    expect(await java.tryLock()).toBe(false)
    expect(await nodes[2]?.isLocked()).toBe(false)
    for (const lease of leases) await lease.release()
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })

  test('are both granted when Node holds the lock on one master, which is no majority', async () => {
    const { java, nodes } = await threeMasters()
    const lease = await nodes[0]?.lock()
    expect(await java.tryLock()).toBe(true)
    expect(lease?.valid).toBe(true)
    await java.unlock()
    expect(await lease?.release()).toBe(true)
  })

  test('wake each other', async () => {
    const { java, nodes } = await threeMasters()
    const leases = await Promise.all(nodes.slice(0, 2).map((node) => node.lock()))
    const waiting = java.tryLock(4 * SOON_MS) // waits for the first lock, and then for the second
    await stage.javaSleeps()
    const start = performance.now()
    for (const lease of leases) await lease.release()
    expect(await waiting).toBe(true)
    const ours = stage.nodeLock(kind).lock()
    await stage.nodeSleeps(kind)
    await java.unlock()
    await (await ours).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })
})

describe.each(ours)('RReadWriteLock, which does not mix with %s', (kind) => {
  const read = () => stage.javaLock({ kind: 'RReadWriteLock.readLock' })
  const write = () => stage.javaLock({ kind: 'RReadWriteLock.writeLock' })

  test.each([
    ['read', read],
    ['write', write],
  ])('Node refuses a name whose %s lock Java holds, and changes nothing', async (_, side) => {
    const [java, node] = [side(), stage.nodeLock(kind)]
    await java.lock()
    const before = await stage.hash()
    const refusal = { code: 'HOLDFAST_REFUSED', message: expect.stringMatching(/read-write lock/) }
    await expect(node.lock()).rejects.toBeInstanceOf(RedisRefusedError)
    await expect(node.lock()).rejects.toMatchObject(refusal)
    await expect(node.tryLock()).rejects.toMatchObject(refusal)
    await expect(node.tryLock(1_000)).rejects.toMatchObject(refusal)
    await expect(node.using(() => undefined)).rejects.toMatchObject(refusal)
    await expect(node.forceUnlock()).rejects.toMatchObject(refusal)
    await expect(node.inspect()).rejects.toMatchObject(refusal)
    expect(await stage.hash()).toEqual(before)
    await java.unlock()
    await (await node.lock()).release()
  })

  test.each([
    ['read', read],
    ['write', write],
  ])(
    'its %s lock does not see a lock of Node: Java acquires it, and the watchdog of Node reports the loss',
    async (_, side) => {
      const client = stage.nodeClient({ leaseMs: 900 })
      const lost = new Promise<unknown>((resolve) => {
        client.once('lost', ({ error }) => resolve(error))
      })
      const lease = await client[kind](stage.name).lock()
      const java = side()
      expect(await java.tryLock()).toBe(true)
      expect(await lost).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
      expect(lease.signal.aborted).toBe(true)
      expect(await lease.release()).toBe(false)
      await never(async () => !(await java.isHeldByCurrentThread()), 100)
      await java.unlock()
      await eventually(async () => (await stage.hash()).mode === undefined)
    },
  )

  test('a waiter in Node is refused when Java uses the name as a read-write lock', async () => {
    const holder = stage.javaLock({ thread: 'holder' })
    await holder.lock(LEASE_MS)
    const waiting = stage.nodeLock(kind).lock()
    waiting.catch(() => undefined)
    await stage.nodeSleeps(kind)
    expect(await write().tryLock()).toBe(true)
    await expect(waiting).rejects.toBeInstanceOf(RedisRefusedError)
    await write().unlock()
    leaves({ keys: true, why: "Redisson's unlock left the other lock's field behind" })
  })

  test('a release in Node ends its own part, and leaves the part of Java', async () => {
    const [java, node] = [write(), stage.nodeLock(kind)]
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(true)
    expect(await lease.release()).toBe(false)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    expect(await stage.hash()).toEqual({
      mode: 'write',
      [`${await stage.javaOwner()}:write`]: '1',
    })
    await java.unlock()
    expect(await stage.hash()).toEqual({})
  })
})

test('RReadWriteLock does not see an RLock of Java either', async () => {
  const plain = stage.javaLock({ thread: 'plain' })
  const read = stage.javaLock({ kind: 'RReadWriteLock.readLock' })
  await plain.lock()
  expect(await read.tryLock()).toBe(true)
  await read.unlock()
  await expect(plain.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
})
