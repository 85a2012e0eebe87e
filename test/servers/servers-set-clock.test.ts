import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { granted, outcome, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import * as scripts from '../support/scripts.ts'
import { type SettableServer, startSettable } from '../support/settable-clock.ts'

/** The test changes the clock of the server while clients are connected. */
let server: SettableServer
let proxy: FaultProxy

beforeEach(async () => {
  server = await startSettable()
  for (const { source } of Object.values(scripts)) await server.admin.script('LOAD', source)
  proxy = await startProxy(server.port)
})

/** Only a client that must give up needs a short `outageMs`. Other clients wait for a slow machine. */
function client(url: string, options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const one = new Holdfast({ redis: url, commandTimeoutMs: 20_000, outageMs: 40_000, ...options })
  atEnd(() => one.close(), { beforeCheck: true })
  atEnd(() => proxy.heal(), { beforeCheck: true })
  return one
}

/** The request for the lock is lost. It reaches the server after the call has failed. */
async function lateRequest(how: 'plain' | 'fair'): Promise<void> {
  const late = client(proxy.url, { commandTimeoutMs: 400, outageMs: 400 })
  const kind = how === 'plain' ? 'getLock' : 'getFairLock'
  // The client connects and learns the time of the server. A slow machine may need several calls.
  const warm = await eventually(() => late[kind]('warm').tryLock())
  await eventually(() => warm.release().then(() => true))
  await server.step(-600_000)
  const script = how === 'plain' ? scripts.acquire : scripts.acquireFair
  const trap = proxy.onNextRequest(script.sha1, 'cutBefore')
  const trying = outcome(late[kind]('it').tryLock())
  const lost = await within(5_000, trap.seen)
  proxy.refuse()
  expect((await within(5_000, trying)).error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  await pause(300)
  await proxy.replay(lost)
}

test.each(['plain', 'fair'] as const)(
  'a request of a caller that gave up acquires no %s lock, although the clock was set back',
  async (how) => {
    await lateRequest(how)
    await never(() => server.admin.exists('it').then((exists) => exists === 1), 100)
  },
)

test.each([
  ['back', -600_000],
  ['forward', 600_000],
])(
  'after the clock was set %s, the next request is sent twice, and later requests once',
  async (...cell) => {
    const [, stepMs] = cell
    const one = client(proxy.url)
    const lock = one.getLock('it')
    await granted(await lock.tryLock()).release()
    await server.step(stepMs)
    const before = proxy.count(scripts.acquire.sha1)
    const lease = granted(await lock.tryLock())
    expect(proxy.count(scripts.acquire.sha1) - before).toBe(2)
    expect(await lease.release()).toBe(true)
    await granted(await lock.tryLock()).release()
    expect(proxy.count(scripts.acquire.sha1) - before).toBe(3)
  },
)

test('a fixed lease that a clock set forward has ended is lost at the next check', async () => {
  const holder = client(server.url, { leaseMs: 900 })
  const lease = granted(await holder.getLock('it').tryLock({ leaseMs: 60_000 }))
  await server.step(120_000)
  const next = granted(await client(server.url).getLock('it').tryLock())
  expect(next.token).toBeGreaterThan(lease.token)
  await eventually(() => lease.signal.aborted, { timeoutMs: 5_000 })
  expect(lease.signal.reason).toMatchObject({ reason: 'gone' })
  await next.release()
})

test('tokens rise although the clock was set back', async () => {
  const lock = client(server.url).getLock('it')
  const first = granted(await lock.tryLock())
  await first.release()
  await server.step(-600_000)
  const second = granted(await lock.tryLock())
  expect(second.token).toBeGreaterThan(first.token)
  await second.release()
})

test('a nested release that came too late does not undo a re-entry made meanwhile', async () => {
  const one = client(server.url)
  const lock = one.getLock('it', { owner: one.owner() })
  await lock.lock()
  const second = await lock.lock()
  await server.step(-600_000)
  const [, third] = await Promise.all([second.release(), lock.lock()])
  expect(await lock.holdCount()).toBe(2)
  await third.release()
  await lock.unlock()
})
