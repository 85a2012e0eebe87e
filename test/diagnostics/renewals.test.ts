import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Holdfast } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { Recorder, wrongSteps } from './recorder.ts'

let server: MemoryServer
let one: Holdfast
let two: Holdfast
let told: Recorder

function start(virtualTime: boolean, leaseMs = 30_000) {
  server = createMemoryServer({ virtualTime })
  one = server.newClient({ label: 'first', leaseMs })
  two = server.newClient()
}

beforeEach(() => {
  told = new Recorder()
})
afterEach(async () => {
  server.endOutage()
  await Promise.all([one.close(), two.close()])
  told.stop()
})

/** Blocks this thread. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('one request of the watchdog is one fact for all its holds, and counts the holds that are gone', async () => {
  start(true)
  for (const name of ['a', 'b', 'c']) await one.getLock(name).lock()
  // A fixed lease is checked but not renewed.
  await one.getLock('fixed').lock(60_000)
  await two.getLock('b').forceUnlock()
  await server.advance(10_000)
  expect(told.of('renew')).toHaveLength(1)
  const [first] = told.of('renew')
  expect(first).toMatchObject({ client: one.id, label: 'first', holds: 3, renewed: 2, gone: 1 })
  expect(first?.latenessMs).toBeCloseTo(0)
  await server.advance(10_000)
  expect(told.of('renew')[1]).toMatchObject({ holds: 2, renewed: 2, gone: 0 })
  await one.close()
  expect(wrongSteps(told)).toEqual([])
})

test('a renewal without an answer ends with an error, and the loss that follows is not reported as a stall', async () => {
  start(true)
  await one.getLock('it').lock()
  await server.advance(5_000)
  server.beginOutage()
  await server.advance(30_000)
  const renewals = told.of('renew')
  expect(renewals.length).toBeGreaterThan(1)
  for (const { renewed, gone, error } of renewals) {
    expect([renewed, gone, error]).toEqual([0, 0, expect.any(Error)])
  }
  expect(told.of('hold').map(({ outcome, stalledMs }) => [outcome, stalledMs])).toEqual([
    ['expired', undefined],
  ])
  expect(wrongSteps(told)).toEqual([])
})

test('a late renewal has the length of its delay', async () => {
  start(false, 3_000)
  const lease = await one.getLock('it').lock()
  const blockedAt = performance.now()
  block(1_500)
  // The renewal was due at most 1,000 ms after the block began. Clocks may differ by a few milliseconds.
  const lateMs = performance.now() - blockedAt - 1_000 - 5
  await eventually(() => told.of('renew').some(({ latenessMs }) => latenessMs >= lateMs))
  await lease.release()
})

test.each(['a timer', 'its holder'])(
  'a lease that is lost during a stall of the event loop has the length of the stall, when %s detects the loss',
  async (who) => {
    start(false, 600)
    const lease = await one.getLock('it').lock()
    block(1_000)
    if (who === 'its holder') expect(lease.signal.aborted).toBe(true)
    await eventually(() => told.of('hold')[0]?.outcome !== undefined)
    expect(told.of('hold')[0]).toMatchObject({ outcome: 'expired' })
    // The client checks the clocks every 250 ms.
    expect(told.of('hold')[0]?.stalledMs).toBeGreaterThanOrEqual(700)
  },
)

test('a fixed lease that ends, or the end of maxHoldMs, is not a stall', async () => {
  start(false, 600)
  await one.getLock('fixed').lock(300)
  await one.getLock('limited').lock({ maxHoldMs: 300 })
  block(1_000)
  await eventually(() => told.of('hold').every(({ outcome }) => outcome !== undefined))
  expect(told.of('hold').map(({ outcome, stalledMs }) => [outcome, stalledMs])).toEqual([
    ['expired', undefined],
    ['expired', undefined],
  ])
})

test('timers of the client do not run in the context of the first caller', async () => {
  start(false, 1_500)
  const requests = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const hear = () => seen.push(requests.getStore())
  const heard = ['tracing:holdfast:renew:start', 'tracing:holdfast:hold:asyncEnd']
  const [fixed, renewed] = await requests.run('request', async () => [
    await one.getLock('fixed').lock(100),
    await one.getLock('renewed').lock(),
  ])
  for (const name of heard) subscribe(name, hear)
  await eventually(() => !fixed.valid && told.of('renew').length > 2)
  for (const name of heard) unsubscribe(name, hear)
  expect(seen.length).toBeGreaterThan(3)
  expect(new Set(seen)).toEqual(new Set([undefined]))
  await renewed.release()
})
