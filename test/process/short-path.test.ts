import { startChild } from '../support/children.ts'
import { startRedis } from '../support/redis-server.ts'

interface Counted {
  readonly verb: string
  readonly promises: number
  readonly timers: number
}

/**
 * Each of the two calls makes four promises. Two of them are from ioredis, and one is from the `then` of the caller.
 */
const MOST_PROMISES = 8

test('acquiring and releasing a free lock makes at most 8 promises and no timer', async () => {
  const server = await startRedis()
  const child = startChild('test/process/fixtures/counted.mjs', { args: [String(server.port)] })
  await child.next((message) => message === 'done')
  const counted = child.all as Counted[]
  const least = (verb: string, of: 'promises' | 'timers') =>
    Math.min(...counted.filter((one) => one.verb === verb).map((one) => one[of]))
  expect(least('lock', 'promises') + least('release', 'promises')).toBeLessThanOrEqual(
    MOST_PROMISES,
  )
  expect([least('lock', 'timers'), least('release', 'timers')]).toEqual([0, 0])
  // The program has counted at all.
  expect(Math.min(least('lock', 'promises'), least('release', 'promises'))).toBeGreaterThan(1)
  expect(await child.exited).toEqual({ code: 0, signal: null })
})
