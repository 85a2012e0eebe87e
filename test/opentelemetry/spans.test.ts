import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, AlwaysOnSampler } from '@opentelemetry/sdk-trace-base'
import { LeaseLostError, RedisUnavailableError } from '../../src/index.ts'
import { linksOf, Rig } from './opentelemetry-rig.ts'
import { acquiring, holding, MemoryNotes, newAcquire, releasing } from './told.ts'

let rig: Rig
const start = (options?: ConstructorParameters<typeof Rig>[0]) => {
  rig = new Rig(options)
  return rig
}
afterEach(() => rig.end())

test('an acquisition, its hold and its release are spans of the caller, and the hold is linked to the acquisition', () => {
  start()
  const acquire = newAcquire()
  rig.inSpan('request', () => {
    const acquired = acquiring(acquire)
    const held = holding({ acquire })
    acquired({ outcome: 'granted', path: 'free', token: 7 })
    const released = releasing()
    held({ outcome: 'released' })
    released({ outcome: 'freed' })
  })
  const request = rig.span('request').spanContext()
  for (const name of ['holdfast.acquire', 'holdfast.hold', 'holdfast.release']) {
    expect(rig.span(name)).toMatchObject({
      kind: SpanKind.INTERNAL,
      parentSpanContext: { spanId: request.spanId },
      status: { code: SpanStatusCode.UNSET },
      events: [],
    })
  }
  expect(rig.span('holdfast.acquire').attributes).toEqual({
    'holdfast.lock.kind': 'lock',
    'holdfast.acquire.outcome': 'granted',
    'holdfast.acquire.path': 'free',
    'holdfast.fencing_token': 7,
  })
  expect(rig.span('holdfast.hold').attributes).toEqual({
    'holdfast.lock.kind': 'lock',
    'holdfast.fencing_token': 7,
    'holdfast.hold.outcome': 'released',
  })
  expect(rig.span('holdfast.release').attributes).toEqual({
    'holdfast.lock.kind': 'lock',
    'holdfast.fencing_token': 7,
    'holdfast.release.outcome': 'freed',
  })
  expect(linksOf(rig.span('holdfast.hold'), rig.spans)).toEqual([['acquire', 'holdfast.acquire']])
})

test('the hold belongs to the span of the caller, wherever the reply arrives', () => {
  start()
  const acquire = newAcquire()
  const acquired = rig.inSpan('request', () => acquiring(acquire))
  rig.inSpan('another request, which heard the message', () => {
    holding({ acquire })({ outcome: 'released' })
    acquired({ outcome: 'granted' })
  })
  const { spanId } = rig.span('request').spanContext()
  expect(rig.span('holdfast.hold').parentSpanContext?.spanId).toBe(spanId)
})

test('a hold with an unknown acquisition has no parent', () => {
  start()
  rig.inSpan('another request', () => holding()({ outcome: 'released' }))
  expect(rig.span('holdfast.hold').parentSpanContext).toBeUndefined()
  expect(rig.span('holdfast.hold').links).toEqual([])
})

test.each([
  ['outage', new RedisUnavailableError('no answer', 'order:1001'), 'HOLDFAST_UNAVAILABLE'],
  ['failed', new RangeError('odd'), 'RangeError'],
  ['failed', 'a text', 'failed'],
] as const)(
  'an acquisition that failed by %s is an error, and its span does not contain the name',
  (outcome, error, type) => {
    start()
    acquiring()({ outcome, error })
    const span = rig.span('holdfast.acquire')
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(span.attributes['error.type']).toBe(type)
    expect(JSON.stringify([span.name, span.attributes, span.status])).not.toContain('order:1001')
  },
)

test.each(['timeout', 'aborted'] as const)(
  'an acquisition that ended by %s is not an error',
  (outcome) => {
    start()
    acquiring()({ outcome, error: new Error('the reason of the caller') })
    expect(rig.span('holdfast.acquire').status).toEqual({ code: SpanStatusCode.UNSET })
    expect(rig.span('holdfast.acquire').attributes).not.toHaveProperty(['error.type'])
  },
)

test('a lost lease is an error of its hold, with the length of the stall', () => {
  start()
  const error = new LeaseLostError('lost', 'order:1001', 'expired', 7)
  holding()({ outcome: 'expired', stalledMs: 2_500, error })
  expect(rig.span('holdfast.hold')).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: {
      'holdfast.hold.outcome': 'expired',
      'holdfast.hold.stalled': 2.5,
      'error.type': 'HOLDFAST_LEASE_LOST',
    },
  })
})

test('names are the groups of nameOf, and are left out without a group', () => {
  start({
    nameOf: (name) => {
      if (name === 'secret') throw new Error('not for you')
      return name.startsWith('order:') ? 'order' : undefined
    },
  })
  for (const name of ['order:1001', 'user:ann', 'secret']) {
    acquiring(newAcquire({ name }))({ outcome: 'granted' })
  }
  const named = rig.spans.map(({ attributes }) => attributes['holdfast.lock.name'])
  expect(named).toEqual(['order', undefined, undefined])
})

test.each([
  ['is sampled', 'writes and removes a note', new AlwaysOnSampler(), 2],
  ['is not sampled', 'writes no note', new AlwaysOffSampler(), 0],
])('a span that %s %s', (_, __, sampler, count) => {
  start({ sampler })
  const notes = new MemoryNotes()
  const acquire = newAcquire({ notes })
  acquiring(acquire)({ outcome: 'granted' })
  holding({ acquire, notes })({ outcome: 'released' })
  expect(notes.told).toHaveLength(count)
})

test('no span is made after stop(), and an earlier acquisition makes no span', () => {
  start()
  const acquired = acquiring()
  rig.stop()
  acquired({ outcome: 'granted' })
  acquiring()({ outcome: 'granted' })
  expect(rig.spans).toEqual([])
  expect(trace.getSpan(context.active())).toBeUndefined()
})
