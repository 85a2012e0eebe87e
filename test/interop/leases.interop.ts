import { startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { startJava } from './support/java.ts'
import { ours, useStage } from './support/stage.ts'

const stage = useStage()

const startTaker = (leaseMs = 30_000) =>
  startChild('test/interop/support/taker.mjs', {
    args: [stage.server.port, stage.name, leaseMs].map(String),
  })

const since = (start: number) => performance.now() - start

describe.each(ours)('RLock and %s: the watchdog', (kind) => {
  test('in Java keeps its lock over many leases while Node waits', async () => {
    const client = await stage.newJavaClient({ watchdogMs: 1_000 })
    const java = stage.javaLock({ client })
    const node = stage.nodeLock(kind)
    await java.lock()
    const waiting = node.lock()
    await stage.nodeWaits(kind)
    const owner = await stage.javaOwner('', client)
    await never(async () => (await stage.hash())[owner] !== '1', 2_500, { everyMs: 10 })
    await java.unlock()
    await (await waiting).release()
  })

  test('in Node keeps its lock over many leases while Java waits', async () => {
    const java = stage.javaLock()
    const lease = await stage.nodeLock(kind, { leaseMs: 1_000 }).lock()
    const waiting = java.lock()
    await stage.listeners(1)
    await never(async () => (await stage.hash())[lease.owner] !== '1', 2_500, { everyMs: 10 })
    expect(lease.valid).toBe(true)
    expect(await lease.release()).toBe(true)
    await waiting
    await java.unlock()
  })
})

describe.each(ours)('RLock and %s: a fixed lease', (kind) => {
  test('in Java is not renewed, and Node acquires the lock at its end', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock(800)
    const start = performance.now()
    const lease = await node.lock()
    expect(since(start)).toBeGreaterThan(500)
    expect(since(start)).toBeLessThan(5_000)
    await expect(java.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
    expect(await lease.release()).toBe(true)
  })

  test('in Node is not renewed, and Java acquires the lock at its end', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const lease = await node.lock(800)
    const start = performance.now()
    expect(await java.tryLock(20_000)).toBe(true)
    expect(since(start)).toBeGreaterThan(500)
    expect(since(start)).toBeLessThan(5_000)
    expect(lease.valid).toBe(false)
    expect(await lease.release()).toBe(false)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    await java.unlock()
  })
})

describe('RLock: a fixed lease', () => {
  test('is set by `tryLock(waitMs, leaseMs)` in Node, which waits for Java', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock()]
    await java.lock()
    const start = performance.now()
    expect(await node.tryLock(300, 5_000)).toBeNull()
    expect(since(start)).toBeGreaterThan(290)
    const waiting = node.tryLock(20_000, 5_000)
    await stage.listeners(1)
    await java.unlock()
    const lease = await waiting
    expect(await stage.pttl()).toBeLessThanOrEqual(5_000)
    expect(await java.remainTimeToLive()).toBeGreaterThan(1_000)
    expect(await lease?.release()).toBe(true)
  })

  test('is set by `tryLock(waitTime, leaseTime)` in Java, which waits for Node', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock()]
    const lease = await node.lock()
    const start = performance.now()
    expect(await java.tryLock(600, 5_000)).toBe(false)
    expect(since(start)).toBeGreaterThan(590)
    const waiting = java.tryLock(20_000, 5_000)
    await stage.listeners(1)
    await lease.release()
    expect(await waiting).toBe(true)
    expect(await node.remainingMs()).toBeLessThanOrEqual(5_000)
    expect(await node.remainingMs()).toBeGreaterThan(1_000)
    await java.unlock()
  })

  test('is longer in Java too after an extension in Node', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock()]
    const lease = await node.lock(2_000)
    await lease.extend(20_000)
    expect(await java.remainTimeToLive()).toBeGreaterThan(10_000)
    await lease.release()
  })
})

describe.each(ours)('RLock and %s: a JVM that is killed', (kind) => {
  test('blocks Node until the lease of its lock ends, and no longer', async () => {
    const jvm = startJava()
    const client = await jvm.client({ port: stage.server.port, watchdogMs: 1_200 })
    await stage.javaLock({ client }).lock()
    const waiting = stage.nodeLock(kind).lock()
    await stage.nodeWaits(kind)
    await jvm.kill()
    const ttl = await stage.pttl()
    const start = performance.now()
    const lease = await waiting
    expect(since(start)).toBeGreaterThan(ttl - 50)
    expect(since(start)).toBeLessThan(5_000)
    await lease.release()
  })
})

describe('RLock: a process that is killed', () => {
  test('a Node process blocks Java until the lease of its lock ends, and no longer', async () => {
    const child = startTaker(1_200)
    await child.next()
    const java = stage.javaLock()
    const waiting = java.tryLock(20_000)
    await stage.listeners(1)
    child.kill('SIGKILL')
    await child.exited
    const ttl = await stage.pttl()
    const start = performance.now()
    expect(await waiting).toBe(true)
    expect(since(start)).toBeGreaterThan(ttl - 50)
    expect(since(start)).toBeLessThan(5_000)
    await java.unlock()
  })

  test('a JVM that waited blocks no client', async () => {
    const jvm = startJava()
    const client = await jvm.client({ port: stage.server.port })
    const lease = await stage.nodeLock().lock()
    const killed = stage.javaLock({ client }).lock()
    killed.catch(() => undefined)
    await stage.listeners(1)
    await jvm.kill()
    await stage.listeners(0)
    const waiting = stage.javaLock().tryLock(20_000)
    await stage.javaSleeps()
    await lease.release()
    expect(await waiting).toBe(true)
    await stage.javaLock().unlock()
  })

  test('a Node process that waited blocks no client', async () => {
    const java = stage.javaLock()
    await java.lock()
    const child = startTaker()
    await stage.listeners(1)
    child.kill('SIGKILL')
    await child.exited
    await stage.listeners(0)
    const waiting = stage.nodeLock().lock()
    await stage.nodeSleeps('getLock')
    await java.unlock()
    await (await waiting).release()
  })
})

test('RLock: `shutdown()` of a Redisson client does not release its locks; the locks end with their leases', async () => {
  const client = await stage.newJavaClient({ watchdogMs: 1_000 })
  await stage.javaLock({ client }).lock()
  const owner = await stage.javaOwner('', client)
  await client.shutdown()
  expect(await stage.hash()).toEqual({ [owner]: '1' })
  await eventually(async () => (await stage.pttl()) === -2)
})
