import { leaves } from '../support/leaks.ts'
import { ours, useStage } from './support/stage.ts'

const stage = useStage()

const fenced = () => stage.javaLock({ kind: 'RFencedLock' })
const counter = () => `redisson_lock_token:{${stage.name}}`

const isRising = (tokens: readonly number[]) =>
  tokens.every((token, i) => i === 0 || token > Number(tokens[i - 1]))

describe.each(ours)('RFencedLock and %s', (kind) => {
  test('exclude each other, and wake each other', async () => {
    const [java, node] = [fenced(), stage.nodeLock(kind)]
    await java.lock()
    expect(await node.tryLock()).toBeNull()
    const waiting = node.lock()
    await stage.nodeSleeps(kind)
    await java.unlock()
    const lease = await waiting
    expect(await java.tryLock()).toBe(false)
    expect(await java.tryLockAndGetToken(0)).toBeNull()
    const javaWaiting = java.tryLockAndGetToken(20_000, 10_000)
    await stage.javaSleeps()
    await lease.release()
    expect(await javaWaiting).toBeGreaterThan(lease.token)
    await java.unlock()
  })

  test('issue strictly increasing tokens in turn', async () => {
    const [java, node] = [fenced(), stage.nodeLock(kind)]
    const tokens: number[] = []
    for (let round = 0; round < 10; round++) {
      tokens.push(await java.lockAndGetToken())
      await java.unlock()
      tokens.push(await node.using(({ token }) => token))
      tokens.push((await java.tryLockAndGetToken()) ?? 0)
      await java.unlock()
      const lease = await node.tryLock(5_000, 5_000)
      tokens.push(lease?.token ?? 0)
      await lease?.release()
    }
    expect(tokens).toHaveLength(40)
    expect(isRising(tokens)).toBe(true)
    expect(tokens.every(Number.isSafeInteger)).toBe(true)
  })

  test('issue strictly increasing tokens under contention', async () => {
    const node = stage.nodeLock(kind)
    const tokens: number[] = []
    const here = async () => {
      for (let i = 0; i < 25; i++) await node.using(({ token }) => void tokens.push(token))
    }
    const there = async (thread: string) => {
      const java = stage.javaLock({ kind: 'RFencedLock', thread })
      for (let i = 0; i < 25; i++) {
        const token = await java.lockAndGetToken()
        tokens.push(token)
        await java.unlock()
      }
    }
    await Promise.all([here(), here(), there('a'), there('b')])
    expect(tokens).toHaveLength(100)
    expect(isRising(tokens)).toBe(true)
  })

  test("read each other's tokens", async () => {
    const [java, node] = [fenced(), stage.nodeLock(kind)]
    const token = await java.lockAndGetToken()
    expect((await node.inspect()).token).toBe(token)
    await java.unlock()
    const lease = await node.lock()
    expect(await java.getToken()).toBe(lease.token)
    await lease.release()
    expect(await java.getToken()).toBe(lease.token)
  })

  test('continue from a counter of 1, 2, 3 that only Java has used', async () => {
    const [java, node] = [fenced(), stage.nodeLock(kind)]
    const tokens = [await java.lockAndGetToken()]
    await java.unlock()
    tokens.push(await node.using(({ token }) => token))
    tokens.push(await java.lockAndGetToken())
    await java.unlock()
    const [first, ours, next] = tokens as [number, number, number]
    expect(first).toBe(1)
    expect(ours).toBeGreaterThan(1e15) // the time of the server's clock, in µs
    expect(next).toBe(ours + 1)
  })

  test('issue a new token for each re-entry in Java, and the same token for a re-entry in Node', async () => {
    const [java, node] = [fenced(), stage.nodeLock(kind)]
    const first = await java.lockAndGetToken()
    expect(await java.lockAndGetToken()).toBe(first + 1)
    await java.unlock()
    await java.unlock()
    await node.using(async ({ token }) => {
      expect(await node.using((inner) => inner.token)).toBe(token)
    })
  })

  test('issue a higher token after a forced unlock by Java', async () => {
    const [java, node] = [fenced(), stage.nodeLock(kind)]
    const lease = await node.lock()
    await java.forceUnlock()
    const token = await java.lockAndGetToken()
    expect(token).toBeGreaterThan(lease.token)
    expect(await lease.release()).toBe(false)
    expect(await java.isHeldByCurrentThread()).toBe(true)
    await java.unlock()
  })
})

describe('RLock, which issues no token', () => {
  test('leaves the tokens of Node rising, and has no token itself', async () => {
    const [java, node] = [stage.javaLock(), stage.nodeLock()]
    const tokens: number[] = []
    for (let round = 0; round < 3; round++) {
      tokens.push(await node.using(({ token }) => token))
      await java.lock()
      expect((await node.inspect()).token).toBe(tokens.at(-1))
      await java.unlock()
    }
    expect(isRising(tokens)).toBe(true)
  })
})

describe('RFencedLock: the counter', () => {
  test('never expires while only Java uses it; the first hold of Node gives it an expiry', async () => {
    const [java, node] = [fenced(), stage.nodeLock()]
    await java.lockAndGetToken()
    await java.unlock()
    expect(await stage.pttl(counter())).toBe(-1)
    await node.using(() => undefined)
    expect(await stage.pttl(counter())).toBeGreaterThan(3_500_000)
    await java.lockAndGetToken()
    await java.unlock()
    expect(await stage.pttl(counter())).toBeGreaterThan(0)
  })

  test('starts at 1 again in Java after it expired, but not in Node', async () => {
    const [java, node] = [fenced(), stage.nodeLock()]
    const before = await node.using(({ token }) => token)
    await stage.server.admin.pexpire(counter(), 0) // as if no client had used the counter for long
    expect(await java.lockAndGetToken()).toBe(1)
    await java.unlock()
    await stage.server.admin.pexpire(counter(), 0)
    expect(await node.using(({ token }) => token)).toBeGreaterThan(before)
  })

  test.each(ours)('stays forever with `keepCounters`, through %s too', async (kind) => {
    leaves({ keys: true, why: 'the counter has no expiry' })
    const [java, node] = [fenced(), stage.nodeLock(kind, { keepCounters: true })]
    const tokens = [await java.lockAndGetToken()]
    await java.unlock()
    for (let round = 0; round < 2; round++) {
      tokens.push(await node.using(({ token }) => token))
      expect(await stage.pttl(counter())).toBe(-1)
      tokens.push(await java.lockAndGetToken())
      await java.unlock()
      expect(await stage.pttl(counter())).toBe(-1)
    }
    expect(isRising(tokens)).toBe(true)
  })

  test('gets an expiry from a client without `keepCounters`, and loses it to the next client with the option', async () => {
    leaves({ keys: true, why: 'the counter has no expiry' })
    const [without, kept] = [stage.nodeLock(), stage.nodeLock('getLock', { keepCounters: true })]
    await kept.using(() => undefined)
    await without.using(() => undefined)
    expect(await stage.pttl(counter())).toBeGreaterThan(3_500_000)
    await kept.using(() => undefined)
    expect(await stage.pttl(counter())).toBe(-1)
  })
})
