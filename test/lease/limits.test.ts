import { type Holdfast, LeaseLostError } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'

let server: MemoryServer
let one: Holdfast
let two: Holdfast

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  one = server.newClient({ leaseMs: 1_000 })
  two = server.newClient()
})
afterEach(() => Promise.all([one.close(), two.close()]))

test('a repeated `extend()` does not make the lease longer than `maxHoldMs`', async () => {
  const lease = await one.getLock('it').lock({ leaseMs: 5_000, renew: true, maxHoldMs: 6_000 })
  const extended = lease.extend(5_500)
  server.beginOutage()
  await server.advance(3_000)
  server.endOutage()
  await server.advance(500)
  await extended
  expect((await one.getLock('it').inspect()).ttlMs).toBeLessThanOrEqual(2_500)
  expect(lease.remaining()).toBeLessThan(2_500)
  await server.advance(2_500)
  expect(lease.signal.aborted).toBe(true)
  expect(await two.getLock('it').tryLock()).not.toBeNull()
})

test('`extend()` reports a lost lease even before a timer has seen that `maxHoldMs` is over', async () => {
  const client = createMemoryServer().newClient()
  const lease = await client.getLock('it').lock({ maxHoldMs: 30 })
  for (const until = performance.now() + 50; performance.now() < until; );
  await expect(lease.extend(10)).rejects.toThrow(LeaseLostError)
  await client.close()
})

test('a re-entry that was given up is released even after a long outage', async () => {
  const owner = one.owner()
  const lock = one.getLock('it', { owner })
  const lease = await lock.lock(1_000)
  const again = lock.lock(600_000)
  again.catch(() => undefined)
  server.beginOutage()
  await server.advance(10_000)
  await expect(again).rejects.toThrow()
  await lease.release()
  await server.advance(30_000)
  server.endOutage()
  await server.advance(5_000)
  expect(await two.getLock('it').tryLock()).not.toBeNull()
})

test('the loss after an `extend()` without an answer reports the time that was confirmed', async () => {
  const lease = await one.getLock('it').lock(3_000)
  server.beginOutage()
  lease.extend(600_000).catch(() => undefined)
  await server.advance(3_000)
  expect(lease.signal.reason.message).toContain('and was valid for 2868 ms')
  server.endOutage()
  await server.advance(5_000)
})

test('`maxHoldMs` of several locks leaves each lock the lease of its own client', async () => {
  const locks = [two.getLock('a'), one.getLock('b')]
  const lease = await two.getMultiLock(...locks).lock({ maxHoldMs: 60_000 })
  expect(await one.getLock('b').remainingMs()).toBeLessThanOrEqual(1_000)
  expect(await two.getLock('a').remainingMs()).toBeGreaterThan(29_000)
  await server.advance(50_000)
  expect(lease.valid).toBe(true)
  await lease.release()
})
