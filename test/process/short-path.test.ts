import { startChild } from '../support/children.ts'
import { startRedis } from '../support/redis-server.ts'

interface Counted {
  readonly verb: string
  readonly promises: number
  readonly timers: number
}

/** Of those four and four two are of ioredis, and one of each is the `then` of the caller. */
const MOST_PROMISES = 8

test('a lock and release of a free lock make at most 8 promises and no timer', async () => {
  const server = await startRedis()
  const child = startChild('test/process/fixtures/counted.mjs', { args: [String(server.port)] })
  const lock = await child.next<Counted>(({ verb }) => verb === 'lock')
  const release = await child.next<Counted>(({ verb }) => verb === 'release')
  expect(lock.promises + release.promises).toBeLessThanOrEqual(MOST_PROMISES)
  expect(lock.timers + release.timers).toBe(0)
  // It counts at all.
  expect(Math.min(lock.promises, release.promises)).toBeGreaterThan(1)
  expect(await child.exited).toEqual({ code: 0, signal: null })
})
