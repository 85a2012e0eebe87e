import { type Holdfast, type Lease, LeaseLostError } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { ours, useStage } from './support/stage.ts'

const stage = useStage()

/** Much shorter than the lease of 30 s, for which a waiter would wait without a message. */
const SOON_MS = 5_000

const since = (start: number) => performance.now() - start

describe.each(ours)('RLock and %s: a waiter in Node', (kind) => {
  test('is woken by an unlock in Java, not by the end of its lease', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock()
    const waiting = node.lock()
    await stage.nodeSleeps(kind)
    expect(await stage.pttl()).toBeGreaterThan(2 * SOON_MS)
    const start = performance.now()
    await java.unlock()
    const lease = await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    expect(lease.valid).toBe(true)
    await lease.release()
  })

  test('leaves Java its lock after it gives up in time, and has no place in the queue', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock()
    expect(await node.tryLock(150)).toBeNull()
    await expect(node.lock({ signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout/)
    await stage.listeners(0)
    await stage.fairPlaces(0)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    await java.unlock()
  })
})

describe.each(ours)('RLock and %s: a waiter in Java', (kind) => {
  test('is woken by a release in Node, not by the end of its lease', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const lease = await node.lock()
    const waiting = java.lock()
    await stage.javaSleeps()
    expect(await stage.pttl()).toBeGreaterThan(2 * SOON_MS)
    const start = performance.now()
    await lease.release()
    await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await java.unlock()
  })

  test('leaves Node its lock after it gives up in time', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const lease = await node.lock()
    expect(await java.tryLock(500)).toBe(false)
    await stage.listeners(0)
    expect(await lease.release()).toBe(true)
  })
})

test('RLock: many waiters, in both languages and of both kinds in Node, all get the lock in time', async () => {
  const first = await stage.nodeLock().lock()
  const start = performance.now()
  let inside = 0
  let served = 0
  const visit = async () => {
    inside += 1
    expect(inside).toBe(1)
    served += 1
    await eventually(() => true)
    inside -= 1
  }
  const nodes = Array.from({ length: 6 }, async (_, i) => {
    await stage.nodeLock(ours[i % 2]).using(visit)
  })
  const javas = Array.from({ length: 6 }, async (_, i) => {
    const lock = stage.javaLock({ thread: `${i}` })
    await lock.lock()
    await visit()
    await lock.unlock()
  })
  await stage.fairPlaces(3)
  await first.release()
  await Promise.all([...nodes, ...javas])
  expect(served).toBe(12)
  expect(since(start)).toBeLessThan(2 * SOON_MS)
})

test('RLock: a busy client lets Java acquire the lock', async () => {
  const lock = stage.nodeLock()
  let busy = true
  const tasks = Array.from({ length: 4 }, async () => {
    while (busy) await lock.using(() => eventually(() => true))
  })
  const java = stage.javaLock()
  for (let round = 0; round < 5; round++) {
    expect(await java.tryLock(SOON_MS)).toBe(true)
    await java.unlock()
  }
  busy = false
  await Promise.all(tasks)
})

test('RLock and getFairLock: waiters in Node are served in order, and before a thread of Java', async () => {
  const order: string[] = []
  const first = await stage.nodeLock('getFairLock').lock()
  const java = stage.javaLock()
  const javaWaiting = java.lock().then(() => order.push('Java'))
  await stage.javaSleeps()
  const nodes: Promise<void>[] = []
  for (const each of ['a', 'b', 'c']) {
    nodes.push(stage.nodeLock('getFairLock').using(() => void order.push(each)))
    await stage.fairPlaces(nodes.length)
  }
  await first.release()
  await Promise.all([javaWaiting, ...nodes])
  expect(order).toEqual(['a', 'b', 'c', 'Java'])
  await java.unlock()
})

describe.each(ours)('RLock and %s: re-entry', (kind) => {
  test('Node counts the holds of Java, and the last unlock frees the lock', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const counted = async () => (await node.inspect()).holdCount
    for (const count of [1, 2, 3]) {
      await java.lock()
      expect(await java.getHoldCount()).toBe(count)
      expect(await counted()).toBe(count)
    }
    const waiting = node.lock()
    await stage.nodeSleeps(kind)
    for (const count of [2, 1]) {
      await java.unlock()
      expect(await counted()).toBe(count)
    }
    await never(async () => (await node.inspect()).holder !== (await stage.javaOwner()), 100)
    await java.unlock()
    await (await waiting).release()
  })

  test('Java sees the hold count of Node, and the last release frees the lock', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const counts: string[] = []
    const count = async (lease: Lease) => {
      counts.push((await stage.javaClient.fields(stage.name))[lease.owner] ?? 'none')
      expect(await stage.javaLock({ thread: 'other' }).tryLock()).toBe(false)
    }
    let waiting: Promise<void> | undefined
    await node.using(async (outer) => {
      await count(outer)
      await node.using(async (inner) => {
        await count(inner)
        waiting = java.lock()
        await stage.javaSleeps()
      })
      await count(outer)
      await never(async () => (await stage.hash())[outer.owner] === undefined, 100)
    })
    await waiting
    expect(counts).toEqual(['1', '2', '1'])
    expect(await stage.hash()).toEqual({ [await stage.javaOwner()]: '1' })
    await java.unlock()
  })

  test('a thread that holds the lock re-enters it while Node waits', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock()
    const waiting = node.lock()
    await stage.nodeSleeps(kind)
    expect(await java.tryLock()).toBe(true)
    expect(await java.tryLock(1_000)).toBe(true)
    for (let i = 0; i < 3; i++) await java.unlock()
    await (await waiting).release()
  })

  test('another thread of the same JVM does not re-enter, and another client in Node does not either', async () => {
    await stage.javaLock({ thread: 'a' }).lock()
    expect(await stage.javaLock({ thread: 'b' }).tryLock()).toBe(false)
    await stage.javaLock({ thread: 'a' }).unlock()
    await stage.nodeLock(kind).using(async () => {
      expect(await stage.nodeLock(kind).tryLock()).toBeNull()
    })
  })
})

describe.each(ours)('RLock and %s: force', (kind) => {
  test('forceUnlock() in Java ends the lock of Node and wakes a waiter, and Node reports the loss', async () => {
    const holder: Holdfast = stage.nodeClient({ leaseMs: 600 })
    const lost = new Promise<unknown>((resolve) => {
      holder.once('lost', ({ error }) => resolve(error))
    })
    const lease = await holder[kind](stage.name).lock()
    const waiting = stage.nodeLock(kind).lock()
    await stage.nodeWaits(kind)
    expect(await stage.javaLock().forceUnlock()).toBe(true)
    const next = await waiting
    expect(await lost).toBeInstanceOf(LeaseLostError)
    expect(lease.signal.aborted).toBe(true)
    expect(await lease.release()).toBe(false)
    expect(next.valid).toBe(true)
    expect(await next.release()).toBe(true)
    expect(await stage.javaLock().forceUnlock()).toBe(false)
  })

  test('forceUnlock() in Node ends the lock of Java and wakes a waiter, and Java fails to unlock', async () => {
    const java = stage.javaLock()
    await java.lock()
    const waiting = stage.javaLock({ thread: 'waiter' }).tryLock(4 * SOON_MS)
    await stage.javaSleeps()
    expect(await stage.nodeLock(kind).forceUnlock()).toBe(true)
    expect(await waiting).toBe(true)
    expect(await java.isHeldByCurrentThread()).toBe(false)
    await expect(java.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
    await stage.javaLock({ thread: 'waiter' }).unlock()
    expect(await stage.nodeLock(kind).forceUnlock()).toBe(false)
  })
})
