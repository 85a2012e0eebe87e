import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { LeaseLostError, RedisUnavailableError } from 'holdfast'
import { createMemoryServer } from 'holdfast/testing'
import { ship } from './ship.cjs'

let server
let holdfast
let carrier

beforeEach(() => {
  server = createMemoryServer({ virtualTime: true })
  holdfast = server.newClient()
  carrier = { book: mock.fn(async () => {}), confirm: mock.fn(async () => {}) }
})
afterEach(() => holdfast.close())

test('an order is shipped, under the token of its lock', async () => {
  assert.equal(await ship(holdfast, 7, carrier), 'shipped')
  const [order, token] = carrier.confirm.mock.calls[0].arguments
  assert.equal(order, 7)
  assert.equal(typeof token, 'number')
})

test('an order that another client ships is left to that client after five seconds', async () => {
  const other = await server.hold('order:7')
  const shipping = ship(holdfast, 7, carrier)
  await server.advance(5_000)
  assert.equal(await shipping, 'busy')
  assert.equal(carrier.book.mock.callCount(), 0)
  await other.release()
})

test('nothing is confirmed once the lock is lost', async () => {
  carrier.book = async (_, lease) => server.lose(lease)
  await assert.rejects(ship(holdfast, 7, carrier), LeaseLostError)
  assert.equal(carrier.confirm.mock.callCount(), 0)
})

test('an outage of Redis is an error, and not "busy"', async () => {
  server.beginOutage()
  const shipping = assert.rejects(ship(holdfast, 7, carrier), RedisUnavailableError)
  await server.advance(5_000)
  await shipping
})

test('virtual time goes beside fake timers', async (t) => {
  t.mock.timers.enable()
  let hasBegun
  const begun = new Promise((resolve) => {
    hasBegun = resolve
  })
  carrier.book = () => new Promise((resolve) => setTimeout(resolve, 300_000, hasBegun()))
  const shipping = ship(holdfast, 7, carrier)
  await begun
  await server.advance(300_000)
  assert.equal(carrier.confirm.mock.callCount(), 0)
  t.mock.timers.tick(300_000)
  assert.equal(await shipping, 'shipped')
})

test('without virtual time a server goes by fake timers', async (t) => {
  t.mock.timers.enable()
  const other = createMemoryServer().newClient()
  const lease = await other.getLock('order:7').lock(10_000)
  t.mock.timers.tick(10_000)
  assert.equal(lease.valid, false)
  await other.close()
})
