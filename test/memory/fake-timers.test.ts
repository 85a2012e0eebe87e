import { createMemoryServer } from '../../src/testing.ts'

// Loaded first, as by every test that replaces them: the leak check of these tests uses timers too.
const { setImmediate: nextTurn } = globalThis

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
})
afterEach(() => jest.useRealTimers())

/** Lets time pass, and what is under way come to its end. */
const pass = async (ms: number) => {
  await jest.advanceTimersByTimeAsync(ms)
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => nextTurn(resolve))
}

test('a watched lease goes on for as long as fake time passes', async () => {
  const client = createMemoryServer().newClient()
  const lease = await client.getLock('it').lock()
  for (let minute = 0; minute < 10; minute++) await pass(60_000)
  expect(lease.valid).toBe(true)
  expect(await lease.release()).toBe(true)
  await client.close()
})
