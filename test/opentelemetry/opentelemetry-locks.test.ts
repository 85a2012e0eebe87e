import { channel } from 'node:diagnostics_channel'
import { context, trace } from '@opentelemetry/api'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { linksOf, Rig } from './opentelemetry-rig.ts'

const server = sharedServer()
let rig: Rig
beforeEach(() => {
  rig = new Rig({ nameOf: (name) => name.replace(/:.*/, '') })
})
afterEach(() => rig.end())

function newClient(): Holdfast {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const spansOf = (...names: string[]) => rig.spans.filter(({ name }) => names.includes(name))

test('a lock makes three spans in the trace of the request, and the code continues in the span of the request', async () => {
  const lock = newClient().getLock('order:1001')
  let after: unknown
  await rig.inSpan('request', async () => {
    const lease = await lock.lock()
    after = trace.getSpan(context.active())
    await lease.release()
  })
  const request = rig.span('request').spanContext()
  expect(after).toMatchObject({ name: 'request' })
  await eventually(() => rig.spans.length === 4)
  for (const name of ['holdfast.acquire', 'holdfast.hold', 'holdfast.release']) {
    const span = rig.span(name)
    expect(span.spanContext().traceId).toBe(request.traceId)
    expect(span.parentSpanContext?.spanId).toBe(request.spanId)
    expect(span.attributes['holdfast.lock.name']).toBe('order')
    expect(span.attributes['holdfast.fencing_token']).toBeGreaterThan(1e15)
  }
  expect(rig.span('holdfast.acquire').attributes).toMatchObject({
    'holdfast.acquire.outcome': 'granted',
    'holdfast.acquire.path': 'free',
  })
  expect(linksOf(rig.span('holdfast.hold'), rig.spans)).toEqual([['acquire', 'holdfast.acquire']])
})

test('a waiter in the same process is linked to the hold that it waited for', async () => {
  const lock = newClient().getLock('order:1001')
  const lease = await rig.inSpan('first', () => lock.lock())
  const next = rig.inSpan('second', () => lock.lock())
  await lease.release()
  await (await next).release()
  await eventually(() => spansOf('holdfast.hold').length === 2)
  const [, second] = spansOf('holdfast.acquire')
  const [first] = spansOf('holdfast.hold')
  expect(second?.attributes['holdfast.acquire.path']).toBe('local')
  expect(second?.links.map(({ context: { spanId } }) => spanId)).toEqual([
    first?.spanContext().spanId,
  ])
  expect(first?.spanContext().traceId).toBe(rig.span('first').spanContext().traceId)
})

test.each([
  ['a fair lock', (client: Holdfast) => client.getFairLock('order:1001'), 'fair'],
  [
    'a lock to read',
    (client: Holdfast) => client.getReadWriteLock('order:1001').readLock(),
    'read',
  ],
  [
    'a lock to write',
    (client: Holdfast) => client.getReadWriteLock('order:1001').writeLock(),
    'write',
  ],
] as const)('%s has its kind in each span', async (_, get, kind) => {
  await (await get(newClient()).lock()).release()
  await eventually(() => rig.spans.length === 3)
  for (const span of rig.spans) expect(span.attributes['holdfast.lock.kind']).toBe(kind)
})

test('permits have their kind in each span', async () => {
  leaves({ keys: true, why: 'the number of permits of a semaphore is kept' })
  const quota = newClient().getPermitExpirableSemaphore('order:1001')
  await quota.trySetPermits(2)
  await (await quota.acquire({ permits: 2 })).release()
  await eventually(() => rig.spans.length === 3)
  for (const span of rig.spans) expect(span.attributes['holdfast.lock.kind']).toBe('permits')
})

test('a lease that is taken away is an error of its hold, and a loss', async () => {
  const client = newClient()
  const lock = client.getLock('order:1001')
  const lease = await lock.lock({ leaseMs: 60_000 })
  await newClient().getLock('order:1001').forceUnlock()
  await lease.release()
  await eventually(() => spansOf('holdfast.hold').length === 1)
  expect(rig.span('holdfast.hold').attributes).toMatchObject({
    'holdfast.hold.outcome': 'gone',
    'error.type': 'HOLDFAST_LEASE_LOST',
  })
  const losses = (await rig.metrics()).get('holdfast.losses')
  expect(losses).toMatchObject([
    { value: 1, attributes: { 'holdfast.loss.reason': 'gone', 'holdfast.lock.name': 'order' } },
  ])
})

test('holds and waiters are measured while they last', async () => {
  const lock = newClient().getLock('order:1001')
  const lease = await lock.lock()
  const next = lock.lock()
  const now = async (name: string) => (await rig.metrics()).get(name)?.[0]?.value
  expect(await now('holdfast.lock.held')).toBe(1)
  expect(await now('holdfast.lock.waiting')).toBe(1)
  expect(await now('holdfast.wait.oldest_age')).toBeGreaterThan(0)
  await lease.release()
  await (await next).release()
  await eventually(async () => (await now('holdfast.lock.held')) === 0)
  expect(await now('holdfast.lock.waiting')).toBe(0)
})

describe('commands of the client itself', () => {
  /** The spans that are active when scripts are sent during `work`. */
  async function sentIn(work: () => Promise<unknown>): Promise<unknown[]> {
    const seen = new Set<unknown>()
    const sent = channel('tracing:ioredis:command:start')
    const look = (command: unknown) => {
      const { command: name } = command as { command: string }
      const span = trace.getSpan(context.active()) as { name?: string } | undefined
      if (name === 'evalsha' || name === 'eval') seen.add(span?.name)
    }
    sent.subscribe(look)
    try {
      await work()
    } finally {
      sent.unsubscribe(look)
    }
    return [...seen]
  }

  test('the watchdog sends its renewals outside the span of the first request', async () => {
    const client = new Holdfast({ redis: server.url, leaseMs: 900 })
    atEnd(() => client.close(), { beforeCheck: true })
    const lease = await rig.inSpan('request', () => client.getLock('order:1001').lock())
    const renewed = () => new Promise((resolve) => client.once('renewed', resolve))
    expect(await sentIn(renewed)).toStrictEqual([undefined])
    await lease.release()
  })

  test('the connection sends commands outside the span of the first request', async () => {
    const client = newClient()
    await rig.inSpan('first', async () => (await client.getLock('order:1').lock()).release())
    const held = await newClient().getLock('order:1001').lock()
    const waiting = rig.inSpan('second', () => client.getLock('order:1001').lock())
    await eventually(() =>
      server.admin.pubsub('NUMSUB', 'redisson_lock__channel:{order:1001}').then(([, n]) => n === 1),
    )
    const spans = await sentIn(async () => {
      await held.release()
      await (await waiting).release()
    })
    expect(spans).not.toHaveLength(0)
    expect(spans).not.toContain('first')
  })
})
