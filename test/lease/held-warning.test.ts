import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { takes } from '../support/takes.ts'
import { catchWarnings } from '../support/warnings.ts'

const server = sharedServer()

function newClient(options: Omit<HoldfastOptions, 'redis'> = { heldWarningMs: 300 }): Holdfast {
  const client = new Holdfast({ redis: server.url, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const warnings = catchWarnings()

afterEach(() => void jest.useRealTimers())

const named = (name: string) => warnings.filter(({ message }) => message.includes(`"${name}"`))

test('a lease that is held too long causes one warning, with its name, its token and the line that acquired it', async () => {
  const client = newClient()
  const free = client.getLock('spare')
  const semaphore = client.getPermitExpirableSemaphore('permit')
  await semaphore.trySetPermits(1)
  const warned = deferred<void>()
  const warning = takes({ atLeast: 290 }, warned.promise)
  const held = {
    plain: await client.getLock('plain').lock(),
    fixed: await client.getLock('fixed').lock(60_000),
    tried: await client.getLock('tried').tryLock(1_000),
    fair: await client.getFairLock('fair').lock(),
    read: await client.getReadWriteLock('read').readLock().lock(),
    several: await client.getMultiLock(free, client.getLock('several')).lock(),
    permit: await semaphore.acquire(),
  }
  let leave = () => {}
  const inside = client
    .getLock('using')
    .using(() => new Promise<void>((resolve) => (leave = resolve)))
  const names = [...Object.keys(held), 'using']
  await eventually(() => names.every((name) => named(name).length > 0))
  warned.resolve()
  await warning
  await never(() => names.some((name) => named(name).length > 1), 350)
  for (const name of names) {
    const { code, message } = named(name)[0] as (typeof warnings)[0]
    expect(code).toBe('HOLDFAST_HELD_LONG')
    expect(message).toMatch(/token \d+\) is held for longer than `heldWarningMs`.*\d+ ms/)
    const [, first] = message.split('\n')
    expect([name, first]).toEqual([name, expect.stringContaining('held-warning.test.ts')])
  }
  expect(named('plain')[0]?.message).toContain(`token ${held.plain.token})`)
  leave()
  await inside
  for (const lease of Object.values(held)) await lease?.release()
  await server.admin.del('permit')
})

test('the warning begins with the line that acquired the lock, even with a store on the diagnostics channel', async () => {
  const context = new AsyncLocalStorage<object>()
  const { start } = tracingChannel('holdfast:acquire')
  start.bindStore(context, () => ({}))
  atEnd(() => start.unbindStore(context))
  const client = newClient()
  const lease = await client.getLock('traced').lock()
  let leave = () => {}
  const inside = client
    .getLock('traced using')
    .using(() => new Promise<void>((resolve) => (leave = resolve)))
  const names = ['traced', 'traced using']
  await eventually(() => names.every((name) => named(name).length > 0))
  for (const name of names) {
    const [, first] = named(name)[0]?.message.split('\n') ?? []
    expect([name, first]).toEqual([name, expect.stringContaining('held-warning.test.ts')])
  }
  leave()
  await inside
  await lease.release()
})

test('the warning says how the lease ends: by its `maxHoldMs`, by its fixed time, or only by its release', async () => {
  const client = newClient({ heldWarningMs: 300, maxHoldMs: 60_000 })
  const leases = [
    await client.getLock('limited').lock(),
    await client.getLock('limited by the call').lock({ maxHoldMs: 30_000 }),
    await client.getLock('fixed').lock(50_000),
    await client.getLock('unlimited').lock({ maxHoldMs: Infinity }),
  ]
  const messageOf = (name: string) => named(name)[0]?.message ?? ''
  await eventually(() => warnings.length === leases.length)
  expect(messageOf('limited')).toMatch(
    /It ends in 5\d{4} ms, when its `maxHoldMs` of 60000 ms is over\./,
  )
  expect(messageOf('limited by the call')).toMatch(
    /in 2\d{4} ms, when its `maxHoldMs` of 30000 ms is over\./,
  )
  expect(messageOf('fixed')).toMatch(/It is not renewed and ends in 4\d{4} ms\./)
  for (const name of ['limited', 'limited by the call', 'fixed']) {
    expect(messageOf(name)).not.toMatch(/has no `maxHoldMs`/)
  }
  expect(messageOf('unlimited')).toContain('It has no `maxHoldMs`')
  for (const lease of leases) await lease.release()
})

test('a lease that is released or lost in time, or has no `heldWarningMs`, causes no warning', async () => {
  // Each hold is much shorter than this time, and all of them together are longer.
  const [client, silent] = [newClient({ heldWarningMs: 1_000 }), newClient({})]
  const quiet = await silent.getLock('quiet').lock()
  const lost = await client.getLock('lost').lock(100)
  const turns = async (name: string) => {
    for (let i = 0; i < 4; i++) {
      const lease = await client.getLock(name).lock()
      await pause(350)
      await lease.release()
    }
  }
  await Promise.all([turns('a'), turns('b')])
  expect(warnings).toEqual([])
  await quiet.release()
  expect(await lost.release()).toBe(false)
})

test('there is one timer for all held leases, and none after the last release', async () => {
  // With real time, a part of the 250 ms may pass before the timer starts.
  jest.useFakeTimers()
  const client = createMemoryServer().newClient({ heldWarningMs: 60_000 })
  const set = jest.spyOn(globalThis, 'setTimeout')
  const cleared = jest.spyOn(globalThis, 'clearTimeout')
  const timers = () => set.mock.results.filter((_, n) => set.mock.calls[n]?.[1] === 250)
  const leases = await Promise.all(['a', 'b', 'c'].map((name) => client.getLock(name).lock()))
  expect(timers()).toHaveLength(1)
  for (const lease of leases) await lease.release()
  expect(cleared.mock.calls.flat()).toContain(timers()[0]?.value)
  const closed = client.close()
  await jest.advanceTimersByTimeAsync(10)
  await closed
})

test.each([0, -1, 1.5, Infinity, 'a minute', null])('heldWarningMs: %j is refused', (value) => {
  expect(() => newClient({ heldWarningMs: value as number })).toThrow('`heldWarningMs`')
})
