import { execFileSync } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { join, resolve } from 'node:path'
import { Counter, Registry, register } from 'prom-client'
import type { OutageFact } from '../../src/index.ts'
import { collectMetrics, type MetricsOptions } from '../../src/observe/metrics/metrics.ts'
import { instrument } from '../../src/observe/opentelemetry/opentelemetry.ts'
import {
  acquiring,
  holding,
  newAcquire,
  outageTrace,
  renewing,
  settledChannel,
} from '../opentelemetry/told.ts'
import { Page } from './page.ts'

const root = resolve(__dirname, '../..')

let page: Page
const start = (options?: MetricsOptions) => {
  page = new Page(options)
}
beforeEach(() => start())
afterEach(() => page.stop())

/** Starts again with other options. */
const startAgain = (options: MetricsOptions) => {
  page.stop()
  start(options)
}

test('acquisitions are counted by kind, outcome and path', async () => {
  for (let i = 0; i < 3; i++) acquiring()({ outcome: 'granted', path: 'free', waitedMs: 1 })
  acquiring(newAcquire({ kind: 'fair' }))({ outcome: 'granted', path: 'granted', waitedMs: 0 })
  acquiring()({ outcome: 'timeout', waitedMs: 0 })
  acquiring()({ outcome: 'outage', waitedMs: 5 })
  expect(await page.of('acquire_duration_seconds')).toEqual({
    'kind=lock,outcome=granted,path=free': 3,
    'kind=fair,outcome=granted,path=granted': 1,
    'kind=lock,outcome=timeout': 1,
    'kind=lock,outcome=outage': 1,
  })
})

test('durations are the durations of the facts, in seconds', async () => {
  acquiring()({ outcome: 'granted', path: 'raced', waitedMs: 2_000 })
  holding()({ outcome: 'released', heldMs: 90_000 })
  settledChannel.publish({ client: 'c', label: 'l', key: 'k', unknownMs: 4_500 })
  renewing({ latenessMs: 20 })({ renewed: 3 })
  expect(await page.sum('acquire_duration_seconds')).toBe(2)
  expect(await page.sum('hold_duration_seconds')).toBe(90)
  expect(await page.sum('unknown_duration_seconds')).toBe(4.5)
  expect(await page.sum('renew_lateness_seconds')).toBe(0.02)
})

test('gauges count the holds and the waiters of the moment, and are 0 afterwards', async () => {
  const read = { kind: 'read' } as const
  const ends = [holding(), holding(read), holding(read)]
  const acquired = acquiring(newAcquire(read))
  expect(await page.of('lock_held')).toEqual({ 'kind=lock': 1, 'kind=read': 2 })
  expect(await page.of('lock_waiting')).toEqual({ 'kind=read': 1 })
  for (const end of ends) end({ outcome: 'released', heldMs: 1 })
  acquired({ outcome: 'granted', path: 'free', waitedMs: 1 })
  expect(await page.of('lock_held')).toEqual({})
  expect(await page.text()).toContain('holdfast_lock_held{kind="read"} 0')
})

test('a hold or a wait that never ends is visible by the age of the oldest', async () => {
  const now = jest.spyOn(performance, 'now')
  try {
    now.mockReturnValue(10_000)
    const first = holding()
    acquiring()
    now.mockReturnValue(15_000)
    holding()
    now.mockReturnValue(40_000)
    expect(await page.of('hold_oldest_age_seconds')).toEqual({ 'kind=lock': 30 })
    expect(await page.of('wait_oldest_age_seconds')).toEqual({ 'kind=lock': 30 })
    first({ outcome: 'released', heldMs: 30_000 })
    expect(await page.of('hold_oldest_age_seconds')).toEqual({ 'kind=lock': 25 })
  } finally {
    now.mockRestore()
  }
})

test('losses are counted by reason, and stalls that cost a lease by length', async () => {
  holding()({ outcome: 'expired', heldMs: 40_000, stalledMs: 35_000 })
  holding()({ outcome: 'gone', heldMs: 1 })
  holding()({ outcome: 'forced', heldMs: 1 })
  holding()({ outcome: 'released', heldMs: 1 })
  holding()({ outcome: 'closed', heldMs: 1 })
  expect(await page.of('losses_total')).toEqual({
    'kind=lock,reason=expired': 1,
    'kind=lock,reason=gone': 1,
    'kind=lock,reason=forced': 1,
  })
  expect(await page.of('stall_duration_seconds')).toEqual({ '': 1 })
  expect(await page.sum('stall_duration_seconds')).toBe(35)
})

test('a loss and an outage are 0 before the first, so that the first is an increase', async () => {
  expect(await page.text()).toContain('holdfast_losses_total{kind="fair",reason="expired"} 0')
  acquiring()
  const text = await page.text()
  expect(text).toContain('holdfast_acquire_duration_seconds_count{kind="lock",outcome="outage"} 0')
})

test('a renewal has its lateness, and its duration by outcome', async () => {
  renewing()({ renewed: 3 })
  renewing()({ error: new Error('no answer') })
  expect(await page.of('renew_lateness_seconds')).toEqual({ '': 2 })
  expect(await page.of('renew_duration_seconds')).toEqual({
    'outcome=renewed': 1,
    'outcome=failed': 1,
  })
})

describe('names of locks', () => {
  test('names are not exported without nameOf', async () => {
    acquiring(newAcquire({ name: 'secret:1' }))({ outcome: 'granted', path: 'free', waitedMs: 1 })
    expect(await page.text()).not.toMatch(/secret|name=/)
  })

  test('names come from nameOf, and are left out if nameOf returns no text or throws', async () => {
    const groups: Record<string, unknown> = { 'a:1': 'a', 'n:1': 7 }
    startAgain({
      nameOf(name) {
        if (name === 'throws') throw new Error('a mistake')
        return groups[name] as string | undefined
      },
    })
    for (const name of ['a:1', 'n:1', 'throws', 'unknown']) holding({ name })
    expect(await page.of('lock_held')).toEqual({ 'kind=lock,name=a': 1, 'kind=lock': 3 })
    expect(await page.of('losses_total')).toEqual({})
    expect(await page.text()).toContain(
      'holdfast_losses_total{kind="lock",name="a",reason="gone"} 0',
    )
  })

  test('names are left out of the count of outages, which is 0 before the first outage', async () => {
    startAgain({ nameOf: (name) => name })
    const acquired = acquiring()
    expect(await page.text()).toContain(
      'holdfast_acquire_duration_seconds_count{kind="lock",outcome="outage"} 0',
    )
    acquired({ outcome: 'outage', waitedMs: 5 })
    acquiring(newAcquire({ name: 'another' }))({ outcome: 'outage', waitedMs: 5 })
    expect(await page.of('acquire_duration_seconds')).toEqual({ 'kind=lock,outcome=outage': 2 })
  })

  test('names beyond mostNames share the series "other", and are counted', async () => {
    startAgain({ nameOf: (name) => name, mostNames: 2 })
    for (let i = 0; i < 50; i++) {
      acquiring(newAcquire({ name: `l${i}` }))({ outcome: 'granted', path: 'free', waitedMs: 1 })
    }
    const of = 'kind=lock,name='
    const granted = 'outcome=granted,path=free'
    expect(await page.of('acquire_duration_seconds')).toEqual({
      [`${of}l0,${granted}`]: 1,
      [`${of}l1,${granted}`]: 1,
      [`${of}other,${granted}`]: 48,
    })
    expect(await page.of('other_names_total')).toEqual({ '': 48 })
  })
})

describe('a registry', () => {
  test('the default registry is the registry of the process, and is empty after stop()', async () => {
    const metrics = collectMetrics()
    expect(await register.metrics()).toContain('holdfast_losses_total')
    metrics.stop()
    expect(await register.metrics()).toBe('\n')
  })

  test('a registry is filled once for several calls, until the last call has stopped', async () => {
    const { register: one } = page
    const second = collectMetrics({ register: one })
    acquiring()({ outcome: 'granted', path: 'free', waitedMs: 1 })
    const granted = { 'kind=lock,outcome=granted,path=free': 1 }
    expect(await page.of('acquire_duration_seconds')).toEqual(granted)
    second.stop()
    second.stop()
    expect(await page.of('acquire_duration_seconds')).toEqual(granted)
    page.stop()
    expect(await page.text()).toBe('\n')
  })

  test('a registry refuses a second call with other names of locks', () => {
    expect(() => collectMetrics({ register: page.register, mostNames: 7 })).toThrow(
      /already has metrics .*, from a call of collectMetrics\(\) with another nameOf or mostNames/,
    )
    collectMetrics({ register: page.register, mostNames: 7, prefix: 'second_' }).stop()
  })

  test('a registry that was cleared can be filled again, and the earlier call removes nothing from it', async () => {
    page.register.clear()
    const again = collectMetrics({ register: page.register })
    page.stop()
    acquiring()({ outcome: 'granted', path: 'free', waitedMs: 1 })
    expect(Object.values(await page.of('acquire_duration_seconds'))).toEqual([1])
    again.stop()
  })

  test('a registry with a foreign metric of the same name stays unchanged', async () => {
    const taken = new Registry()
    const metric = new Counter({ name: 'holdfast_losses_total', help: 'mine', registers: [taken] })
    metric.inc(7)
    expect(() => collectMetrics({ register: taken })).toThrow(/holdfast_losses_total.*registered/)
    expect(await taken.metrics()).toBe(
      '# HELP holdfast_losses_total mine\n# TYPE holdfast_losses_total counter\nholdfast_losses_total 7\n',
    )
  })
})

test('an error of a handler does not reach the process, and the other handlers are called', async () => {
  const thrown: unknown[] = []
  const hear = (error: unknown) => thrown.push(error)
  process.on('uncaughtException', hear)
  const startSpan = jest.fn(() => {
    throw new Error('a mistake')
  })
  const { stop } = instrument({ tracerProvider: { getTracer: () => ({ startSpan }) as never } })
  holding()
  expect(startSpan).toHaveBeenCalled()
  // An error of a subscriber is thrown on the next tick.
  await new Promise((resolve) => setImmediate(resolve))
  stop()
  process.off('uncaughtException', hear)
  expect(thrown).toEqual([])
  expect(await page.of('lock_held')).toEqual({ 'kind=lock': 1 })
})

test('after stop() nothing subscribes to the channels', () => {
  const names = ['tracing:holdfast:acquire:start', 'tracing:holdfast:hold:asyncEnd']
  const listened = () => names.map((name) => channel(name).hasSubscribers)
  expect(listened()).toEqual([true, true])
  page.stop()
  expect(listened()).toEqual([false, false])
})

test('a hold that began before the metrics is not counted as held, but its loss counts', async () => {
  const late = holding()
  startAgain({})
  expect(await page.of('lock_held')).toEqual({})
  late({ outcome: 'gone', heldMs: 1 })
  expect(await page.of('losses_total')).toEqual({ 'kind=lock,reason=gone': 1 })
})

test('both builds of the package in one process fill one registry once', () => {
  const program = `
    const { register } = require('prom-client')
    const cjs = require('holdfast/metrics')
    import('holdfast/metrics').then(async (esm) => {
      if (esm.collectMetrics === cjs.collectMetrics) throw new Error('one build')
      const both = [cjs.collectMetrics(), esm.collectMetrics()]
      const { createMemoryServer } = await import('holdfast/testing')
      const esmClient = createMemoryServer().newClient()
      const cjsClient = require('holdfast/testing').createMemoryServer().newClient()
      for (const client of [esmClient, cjsClient]) await client.getLock('it').using(() => {})
      const page = await register.metrics()
      for (const one of both) one.stop()
      console.log(/released"} (\\d+)/.exec(/_seconds_count.*released.*/.exec(page)[0])[1])
    })`
  const args = ['-e', program]
  const env = { ...process.env, NODE_OPTIONS: '' }
  const options = { cwd: join(root, 'test'), encoding: 'utf8', env } as const
  expect(execFileSync(process.execPath, args, options).trim()).toBe('2')
})

test.each([
  [{ register: {} }, /register must be a Registry/],
  [{ prefix: '1x' }, /prefix must consist of letters/],
  [{ prefix: '' }, /prefix must consist of letters/],
  [{ nameOf: 'order' }, /nameOf must be a function, got 'order'/],
  [{ mostNames: 0 }, /mostNames must be a whole number of at least 1, got 0/],
  [{ mostNames: 1.5 }, /mostNames must be a whole number of at least 1, got 1.5/],
  [null, /takes an object of options, got null/],
])('collectMetrics() refuses %j', (options, message) => {
  expect(() => collectMetrics(options as MetricsOptions)).toThrow(message)
})

test('an outage of a server is counted by its address while it lasts, and its length afterwards', async () => {
  const fact = (): OutageFact => ({ client: 'c', label: 'l', address: 'redis-1:6379' })
  const [one, two] = [fact(), fact()]
  for (const begun of [one, two]) outageTrace.start.publish(begun)
  expect(await page.of('server_outages')).toEqual({ 'address=redis-1:6379': 2 })
  expect(await page.of('server_outages_total')).toEqual({ 'address=redis-1:6379': 2 })
  outageTrace.asyncEnd.publish(Object.assign(one, { outcome: 'recovered', outageMs: 32_000 }))
  outageTrace.asyncEnd.publish(Object.assign(two, { outcome: 'closed', outageMs: 9_000 }))
  expect(await page.text()).toContain('holdfast_server_outages{address="redis-1:6379"} 0')
  expect(await page.sum('server_outage_duration_seconds')).toBe(32)
})
