import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'

let clients: [Holdfast, Holdfast]

beforeEach(() => {
  jest.useFakeTimers()
  const server = createMemoryServer()
  clients = [server.newClient(), server.newClient()]
})
afterEach(async () => {
  const closing = Promise.all(clients.map((client) => client.close()))
  await pass(10)
  await closing
  jest.useRealTimers()
})

/** Advances the time, and lets pending operations end. */
const pass = async (ms: number) => {
  await jest.advanceTimersByTimeAsync(ms)
  for (let turns = 0; turns < 20; turns++) await nextTurn()
}

test('a watched lease stays valid while fake time passes', async () => {
  const [one, two] = clients
  const lease = await one.getLock('it').lock()
  for (let minute = 0; minute < 10; minute++) await pass(60_000)
  expect(lease.valid).toBe(true)
  expect(await two.getLock('it').tryLock()).toBeNull()
  expect(await lease.release()).toBe(true)
})

test.each(['getLock', 'getFairLock'] as const)(
  'a fixed lease ends by fake time, and the waiter of %s acquires the lock',
  async (form) => {
    const [one, two] = clients
    const lease = await one[form]('it').lock(20_000)
    const waiting = two[form]('it').lock()
    await pass(15_000)
    expect([lease.valid, lease.signal.aborted]).toEqual([true, false])
    // Fake time continues while an answer is on its way.
    await pass(6_000)
    expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
    expect((await waiting).token).toBeGreaterThan(lease.token)
  },
)

test('`tryLock(waitMs)` returns null after that much fake time, and not before', async () => {
  const [one, two] = clients
  await one.getLock('it').lock()
  const waiting = two.getLock('it').tryLock(60_000)
  let isOver = false
  void waiting.finally(() => {
    isOver = true
  })
  await pass(59_000)
  expect(isOver).toBe(false)
  await pass(2_000)
  expect(await waiting).toBeNull()
})
