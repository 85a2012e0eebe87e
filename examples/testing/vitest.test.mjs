import { LeaseLostError, RedisUnavailableError } from 'holdfast'
import { createMemoryServer } from 'holdfast/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ship } from './ship.cjs'

let server
let holdfast
let carrier

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  holdfast = server.newClient()
  carrier = { book: vi.fn(async () => {}), confirm: vi.fn(async () => {}) }
})
afterEach(() => holdfast.close())

test('an order is shipped, under the token of its lock', async () => {
  expect(await ship(holdfast, 7, carrier)).toBe('shipped')
  expect(carrier.confirm).toHaveBeenCalledWith(7, expect.any(Number))
})

test('an order that another client ships is left to that client after five seconds', async () => {
  const other = await server.hold('order:7')
  const shipping = ship(holdfast, 7, carrier)
  await server.advance(5_000)
  expect(await shipping).toBe('busy')
  expect(carrier.book).not.toHaveBeenCalled()
  await other.release()
})

test('nothing is confirmed once the lock is lost', async () => {
  carrier.book = async (_, lease) => server.lose(lease)
  await expect(ship(holdfast, 7, carrier)).rejects.toThrow(LeaseLostError)
  expect(carrier.confirm).not.toHaveBeenCalled()
})

test('an outage of Redis is an error, and not "busy"', async () => {
  server.beginOutage()
  const shipping = expect(ship(holdfast, 7, carrier)).rejects.toThrow(RedisUnavailableError)
  await server.advance(5_000)
  await shipping
})

test('virtual time goes beside fake timers', async () => {
  vi.useFakeTimers()
  carrier.book = () => new Promise((resolve) => setTimeout(resolve, 300_000))
  const shipping = ship(holdfast, 7, carrier)
  await server.advance(300_000)
  expect(carrier.confirm).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(300_000)
  expect(await shipping).toBe('shipped')
  vi.useRealTimers()
})

test('without virtual time a server goes by fake timers', async () => {
  vi.useFakeTimers()
  const other = createMemoryServer().newClient()
  const lease = await other.getLock('order:7').lock(10_000)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(lease.signal.aborted).toBe(true)
  await other.close()
  vi.useRealTimers()
})
