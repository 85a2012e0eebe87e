import { NotHeldError } from '../../src/index.ts'
import { ours, useStage } from './support/stage.ts'

const stage = useStage()

describe.each(ours)('RLock and %s: a lock that Java holds', (kind) => {
  test('is not granted to Node until Java unlocks it', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    expect(await node.tryLock(30)).toBeNull()
    expect(await node.tryUsing(() => 'ran')).toBeNull()
    await java.unlock()
    const lease = await node.tryLock()
    expect(lease?.valid).toBe(true)
    await lease?.release()
  })

  test('shows its holder, its hold count and its lease in Node', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock(20_000)
    expect(await node.isLocked()).toBe(true)
    expect(await node.isHeld()).toBe(false)
    expect(await node.holdCount()).toBe(0)
    expect(await node.remainingMs()).toBeGreaterThan(10_000)
    expect(await node.remainingMs()).toBeLessThanOrEqual(20_000)
    expect(await node.inspect()).toMatchObject({
      holder: await stage.javaOwner(),
      holdCount: 1,
      token: null,
    })
    await java.unlock()
    expect(await node.isLocked()).toBe(false)
  })

  test('is not released by `unlock()` in Node', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    await java.lock()
    await expect(node.unlock()).rejects.toThrow(NotHeldError)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    await java.unlock()
  })
})

describe.each(ours)('RLock and %s: a lock that Node holds', (kind) => {
  test('is not granted to Java until Node releases it', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const lease = await node.lock()
    expect(await java.tryLock()).toBe(false)
    expect(await java.tryLock(500)).toBe(false)
    await lease.release()
    expect(await java.tryLock()).toBe(true)
    await java.unlock()
  })

  test('shows its lease in Java, and is not held by the Java thread', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const lease = await node.lock(20_000)
    expect(await java.isLocked()).toBe(true)
    expect(await java.isHeldByCurrentThread()).toBe(false)
    expect(await java.getHoldCount()).toBe(0)
    expect(await java.remainTimeToLive()).toBeGreaterThan(10_000)
    expect(await java.remainTimeToLive()).toBeLessThanOrEqual(20_000)
    expect(await stage.javaClient.fields(stage.name)).toEqual({ [lease.owner]: '1' })
    await lease.release()
    expect(await java.isLocked()).toBe(false)
  })

  test('is not released by `unlock()` in Java', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock(kind)]
    const lease = await node.lock()
    await expect(java.unlock()).rejects.toMatchObject({ type: 'IllegalMonitorStateException' })
    expect(await lease.release()).toBe(true)
  })

  test('is released by `close()`, and Java acquires it at once', async () => {
    const client = stage.nodeClient()
    await client[kind](stage.name).lock()
    const waiting = stage.javaLock().tryLock(20_000)
    await stage.javaSleeps()
    await client.close()
    expect(await waiting).toBe(true)
    await stage.javaLock().unlock()
  })
})

describe.each(ours)('RLock and %s: one name is one lock in both languages', (kind) => {
  test.each([
    ['with spaces', 'order 1001'],
    ['with a tag', 'stock:{ada}:1001'],
    ['that begins with a tag', '{ada}:1001'],
    ['in other scripts', 'Straße-注文-🔒'],
    ['with characters of a pattern', 'a*b?[c]'],
    ['that is long', 'x'.repeat(2_000)],
  ])('a name %s', async (_, name) => {
    const java = stage.javaLock({ name })
    const node = stage.nodeClient()[kind](name)
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    const waiting = node.lock()
    await stage.nodeWaits(kind, name)
    await java.unlock()
    const lease = await waiting

    const javaWaiting = java.tryLock(20_000)
    await stage.listeners(1, name)
    await lease.release()
    expect(await javaWaiting).toBe(true)
    await java.unlock()
  })

  test('the `keyPrefix` in Node is the prefix of a NameMapper in Java', async () => {
    const client = await stage.newJavaClient({ prefix: 'app:' })
    const java = stage.javaLock({ client })
    const node = stage.nodeLock(kind, { keyPrefix: 'app:' })
    await java.lock()
    expect(await stage.hash(`app:${stage.name}`)).toEqual({
      [await stage.javaOwner('', client)]: '1',
    })
    expect(await node.tryLock()).toBeNull()
    const waiting = node.lock()
    await stage.nodeWaits(kind, `app:${stage.name}`)
    await java.unlock()
    const lease = await waiting
    expect(await java.tryLock()).toBe(false)
    await lease.release()
  })
})

describe('RLock: two separate locks', () => {
  test('with different prefixes', async () => {
    const java = stage.javaLock()
    const node = stage.nodeLock('getLock', { keyPrefix: 'app:' })
    await java.lock()
    const lease = await node.tryLock()
    expect(lease).not.toBeNull()
    await lease?.release()
    await java.unlock()
  })

  test('in different databases of one server', async () => {
    const elsewhere = stage.nodeClient({}, { db: 1 }).getLock(stage.name)
    const java = stage.javaLock()
    await java.lock()
    const lease = await elsewhere.tryLock()
    expect(lease).not.toBeNull()
    await lease?.release()
    await java.unlock()
  })
})

test('RLock: among many simultaneous tries in both languages and of both kinds, exactly one gets the lock', async () => {
  const nodes = Array.from({ length: 8 }, (_, i) => stage.nodeLock(ours[i % 2]))
  const javas = Array.from({ length: 8 }, (_, i) => stage.javaLock({ thread: `${i}` }))
  await Promise.all(nodes.map((lock) => lock.isLocked()))
  const [here, there] = await Promise.all([
    Promise.all(nodes.map((lock) => lock.tryLock())),
    Promise.all(javas.map((lock) => lock.tryLock())),
  ])
  expect([...here.map((lease) => lease !== null), ...there].filter(Boolean)).toHaveLength(1)
  expect(Object.values(await stage.hash())).toEqual(['1'])
  await Promise.all(here.map((lease) => lease?.release()))
  await Promise.all(there.map((got, i) => (got ? javas[i]?.unlock() : undefined)))
  expect(await stage.hash()).toEqual({})
})
