import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AcquireFact, Holdfast, KeepFact, ReleaseFact } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { Page } from '../metrics/page.ts'

const KEEP_MS = 5_000

let server: MemoryServer
let keeper: Holdfast
let other: Holdfast
let page: Page

beforeEach(() => {
  page = new Page()
  server = createMemoryServer({ virtualTime: true })
  keeper = server.newClient({ keepMs: KEEP_MS, label: 'keeper' })
  other = server.newClient()
})
afterEach(async () => {
  await Promise.all([keeper.close(), other.close()])
  page.stop()
})

/** Records the facts of a channel when they end. */
function endsOf<F>(channel: string): F[] {
  const facts: F[] = []
  const name = `tracing:holdfast:${channel}:asyncEnd`
  const listener = (fact: unknown) => facts.push(fact as F)
  subscribe(name, listener)
  stops.push(() => unsubscribe(name, listener))
  return facts
}
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

async function use(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) await (await keeper.getLock('it').lock()).release()
}

test('the facts of a kept lock say how it was released and acquired, and how the keeping ended', async () => {
  const kept = endsOf<KeepFact>('keep')
  const acquired = endsOf<AcquireFact>('acquire')
  const released = endsOf<ReleaseFact>('release')
  // The client does not keep the first hold, because it does not receive messages yet.
  await use(2)
  await server.advance(0)
  await use(1)
  expect(acquired.map(({ path }) => path)).toEqual(['free', 'free', 'kept'])
  expect(released.map(({ outcome }) => outcome)).toEqual(['freed', 'kept', 'kept'])
  expect(kept).toMatchObject([
    { name: 'it', kind: 'lock', label: 'keeper', outcome: 'used', token: acquired[1]?.token },
  ])
  await server.advance(KEEP_MS + 1)
  expect(kept.map(({ outcome }) => outcome)).toEqual(['used', 'freed'])
  expect(kept[1]?.keptMs).toBeCloseTo(KEEP_MS, -1)
  await use(1)
  await (await other.getLock('it').lock()).release()
  expect(kept.map(({ outcome }) => outcome)).toEqual(['used', 'freed', 'freed'])
  await use(1)
  // The event loop makes no turn between these calls.
  await use(5)
  expect(kept).toHaveLength(3)
})

test('a kept lock that the server lost has a fact, and no event', async () => {
  const kept = endsOf<KeepFact>('keep')
  let events = 0
  keeper.on('lost', () => {
    events += 1
  })
  keeper.on('late', () => {
    events += 1
  })
  keeper.on('error', () => {})
  await use(2)
  server.beginOutage()
  await server.advance(60_000)
  expect(kept.map(({ outcome }) => outcome)).toEqual(['freed'])
  server.endOutage()
  expect(events).toBe(0)
})

test('the metric of kept locks counts the locks that are not in use', async () => {
  await use(2)
  await server.advance(0)
  expect(await page.of('lock_kept')).toEqual({ 'kind=lock': 1 })
  expect(await page.of('lock_held')).toEqual({})
  const lease = await keeper.getLock('it').lock()
  expect(await page.of('lock_kept')).toEqual({})
  expect(await page.of('lock_held')).toEqual({ 'kind=lock': 1 })
  await lease.release()
  await keeper.close()
  expect(await page.of('lock_kept')).toEqual({})
})
