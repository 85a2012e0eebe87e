import { setTimeout as pause } from 'node:timers/promises'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { Notes } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { linksOf, Rig } from './opentelemetry-rig.ts'
import { acquiring, holding, MemoryNotes, newAcquire } from './told.ts'

let rig: Rig
beforeEach(() => {
  rig = new Rig()
})
afterEach(() => rig.end())

/** So long that the client requests the note of the holder, in milliseconds. */
const LONG_MS = 80
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const noted = { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52) }
const waited = () => rig.spans.find(({ name }) => name === 'holdfast.acquire')
const durationMs = ({ duration: [seconds, nanoseconds] }: ReadableSpan) =>
  seconds * 1_000 + nanoseconds / 1e6

describe('in the same process', () => {
  test('the span of a wait is linked to the span of the hold, even when the hold ended first', () => {
    const held = holding({ owner: 'c1:o1' })
    const acquire = newAcquire()
    const acquired = acquiring(acquire)
    acquire.holder = 'c1:o1'
    held({ outcome: 'released' })
    acquired({ outcome: 'granted', path: 'local' })
    expect(linksOf(rig.span('holdfast.acquire'), rig.spans)).toEqual([['holder', 'holdfast.hold']])
  })

  test('a waiter behind others is linked to the holder that handed the lock over', () => {
    const acquired = acquiring()
    holding({ owner: 'c1:o1' })({ outcome: 'released' })
    holding({ owner: 'c1:o2' })({ outcome: 'released' })
    holding({ name: 'order:1002' })({ outcome: 'released' })
    acquired({ outcome: 'granted', path: 'local' })
    const [, last] = rig.spans.filter(({ name }) => name === 'holdfast.hold')
    expect(waited()?.links.map(({ context: { spanId } }) => spanId)).toEqual([
      last?.spanContext().spanId,
    ])
  })

  test('the link leads to the hold of the same lock if the owner has several locks', () => {
    const others = ['a', 'b'].map((name) => holding({ name, owner: 'c1:o1', token: 1 }))
    acquiring(newAcquire({ name: 'a', holder: 'c1:o1' }))({ outcome: 'timeout' })
    for (const end of others) end({ outcome: 'released' })
    const [first] = rig.spans.filter(({ name }) => name === 'holdfast.hold')
    expect(waited()?.links[0]?.context.spanId).toBe(first?.spanContext().spanId)
  })
})

describe('the notes of another process', () => {
  test('a hold has a note while it lasts', () => {
    const notes = new MemoryNotes()
    const held = holding({ notes })
    expect(notes.told).toEqual([
      ['c1:o1', expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-01$/)],
    ])
    held({ outcome: 'released' })
    expect(notes.told[1]).toEqual(['c1:o1', undefined])
    const { traceId, spanId } = rig.span('holdfast.hold').spanContext()
    expect(notes.told[0]?.[1]).toBe(`00-${traceId}-${spanId}-01`)
  })

  test('an owner of several locks has the note of the last lock that is left', () => {
    const notes = new MemoryNotes()
    const first = holding({ notes, name: 'a' })
    const second = holding({ notes, name: 'b' })
    second({ outcome: 'released' })
    first({ outcome: 'released' })
    const [a, b, again, none] = notes.told.map(([, text]) => text)
    expect([a === b, again === a, none]).toEqual([false, true, undefined])
  })

  test('notes of open holds are removed at the end', () => {
    const notes = new MemoryNotes()
    holding({ notes })
    rig.stop()
    expect(notes.told[1]).toEqual(['c1:o1', undefined])
  })

  test('a wait is linked to the holder even if the note is gone at the end of the wait', async () => {
    const notes = new MemoryNotes()
    notes.set('c2:o9', traceparent)
    const acquired = acquiring(newAcquire({ notes, holder: 'c2:o9' }))
    await eventually(() => notes.asked.length > 0)
    notes.set('c2:o9', undefined)
    acquired({ outcome: 'granted', path: 'granted' })
    expect(waited()?.links).toMatchObject([{ context: { ...noted, isRemote: true } }])
  })

  test('a wait is linked to each of several holders', async () => {
    const notes = new MemoryNotes()
    notes.set('c2:o9', traceparent)
    notes.set('c3:o1', traceparent.replace('b7ad', 'aaaa'))
    const acquire = newAcquire({ notes, holder: 'c2:o9' })
    const acquired = acquiring(acquire)
    await eventually(() => notes.asked.length > 0)
    acquire.holder = 'c3:o1'
    acquired({ outcome: 'granted' })
    const span = await eventually(waited)
    expect(span.links.map(({ context }) => context.spanId.slice(0, 4))).toEqual(['b7ad', 'aaaa'])
  })

  test('many waiters of one holder share a request for its note', async () => {
    const notes = new MemoryNotes()
    const all = Array.from({ length: 50 }, () => acquiring(newAcquire({ notes, holder: 'c2:o9' })))
    await eventually(() => notes.asked.length > 0)
    for (const acquired of all) acquired({ outcome: 'granted' })
    await eventually(() => rig.spans.length === 50)
    expect(notes.asked.length).toBeLessThan(5)
  })

  test('a short wait has no link and asks for no note', async () => {
    const notes = new MemoryNotes()
    notes.set('c2:o9', traceparent)
    acquiring(newAcquire({ notes, holder: 'c2:o9' }))({ outcome: 'granted' })
    expect(rig.span('holdfast.acquire').links).toEqual([])
    await pause(LONG_MS)
    expect(notes.asked).toEqual([])
  })

  test.each([
    ['is missing', async () => undefined],
    ['is not a traceparent', async () => 'hello'],
    ['belongs to a span that is not sampled', async () => traceparent.replace(/01$/, '00')],
    ['is all zeros', async () => traceparent.replaceAll(/[1-9a-f]/g, '0')],
    ['cannot be read', () => Promise.reject(new Error('no'))],
    [
      'throws when it is read',
      () => {
        throw new Error('no')
      },
    ],
  ])('a note that %s gives no link', async (_, get) => {
    const acquired = acquiring(newAcquire({ notes: { set() {}, get }, holder: 'c2:o9' }))
    await pause(LONG_MS)
    acquired({ outcome: 'granted' })
    expect((await eventually(waited)).links).toEqual([])
  })

  test('a span whose note never comes ends a second later, with the time of its true end', async () => {
    const notes: Notes = { set() {}, get: () => new Promise(() => {}) }
    const began = performance.now()
    const acquired = acquiring(newAcquire({ notes, holder: 'c2:o9' }))
    await pause(LONG_MS)
    acquired({ outcome: 'granted' })
    const trueMs = performance.now() - began
    expect(waited()).toBeUndefined()
    const span = await eventually(waited)
    expect(performance.now() - began).toBeGreaterThan(trueMs + 500)
    expect(durationMs(span)).toBeLessThanOrEqual(trueMs)
    expect(durationMs(span)).toBeGreaterThanOrEqual(LONG_MS - 5)
  })

  test('spans that wait for a note end at stop()', async () => {
    const notes: Notes = { set() {}, get: () => new Promise(() => {}) }
    const acquired = acquiring(newAcquire({ notes, holder: 'c2:o9' }))
    await pause(LONG_MS)
    acquired({ outcome: 'granted' })
    rig.stop()
    expect(waited()).toBeDefined()
  })
})
