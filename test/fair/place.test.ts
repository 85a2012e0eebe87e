import type { Moment } from '../../src/kit/clock.ts'
import { Place } from '../../src/locks/fair/place.ts'
import type { Waiter } from '../../src/waiting/waiter.ts'

/** Grants that a client can use without a request, and grants that are too old. The claim window is 1,500 ms long. */

const OWNER = 'client:1'
let nowMs = 0
const at = (ms: number): Moment => ({ monotonic: ms, wall: ms })
const clock = {
  now: () => at(nowMs),
  monotonic: () => nowMs,
  after: () => ({ unref: () => undefined }),
  clear: () => {},
}

/** A place whose last answer arrived at the time 0, with the last token 5. */
function queuedPlace(leaseMs = 30_000): Place {
  nowMs = 10
  const waiter = { request: { leaseMs }, retryBudget: { clock }, wakeEvent: { set: () => {} } }
  const place = new Place(waiter as unknown as Waiter, OWNER)
  place.queued({ lastToken: 5, ttlMs: 9_000, first: false }, at(0))
  return place
}

const claimOf = (place: Place) => place.usableGrant(clock as never)

test('a grant by another client counts from the last answer, and ends with it', () => {
  const place = queuedPlace()
  nowMs = 900
  place.onGrant({ token: 6 })
  expect(claimOf(place)).toEqual({ token: 6, run: [], sentAt: at(0), isWhole: false })
  nowMs = 1_300
  expect(claimOf(place)).toBeNull()
})

test('a grant by a release of the same client counts from that release, even if the last answer is old', () => {
  const place = queuedPlace()
  nowMs = 5_000
  place.onGrant({ token: 6 }, { releasedAt: at(4_990) })
  expect(claimOf(place)).toEqual({ token: 6, run: [], sentAt: at(4_990), isWhole: false })
  // A second message about the same grant.
  place.onGrant({ token: 6 })
  expect(claimOf(place)?.sentAt).toEqual(at(4_990))
  nowMs = 6_300
  expect(claimOf(place)).toBeNull()
})

test('a newer grant by another client does not count from an earlier release', () => {
  const place = queuedPlace()
  nowMs = 5_000
  place.onGrant({ token: 6 }, { releasedAt: at(4_990) })
  place.onGrant({ token: 7 })
  expect(claimOf(place)).toBeNull()
})

test('a grant counts from the last answer if that answer is newer than the release', () => {
  const place = queuedPlace(1_000)
  nowMs = 700
  place.queued({ lastToken: 5, ttlMs: 9_000, first: true }, at(600))
  place.onGrant({ token: 6 }, { releasedAt: at(500) })
  expect(claimOf(place)).toEqual({ token: 6, run: [], sentAt: at(600), isWhole: false })
})

test.each([
  [1_000, true],
  [1_500, true],
  [1_501, false],
])('a release grants the whole of a lease of %i ms to the same client: %s', (leaseMs, isWhole) => {
  const place = queuedPlace(leaseMs)
  nowMs = 100
  place.onGrant({ token: 6 }, { releasedAt: at(50) })
  expect(claimOf(place)).toEqual({ token: 6, run: [], sentAt: at(50), isWhole })
})

test.each([
  { how: 'a message', byRelease: undefined },
  { how: 'the answer to a release', byRelease: { releasedAt: at(5) } },
])('a grant by $how keeps its run, even if the same grant is reported again', ({ byRelease }) => {
  const place = queuedPlace()
  place.onGrant({ token: 9, run: ['client:2', 'client:3'] }, byRelease)
  place.onGrant({ token: 9 })
  expect(claimOf(place)).toMatchObject({ token: 9, run: ['client:2', 'client:3'] })
})

test('a newer grant replaces the run of an older grant', () => {
  const place = queuedPlace()
  place.onGrant({ token: 9, run: ['client:2', 'client:3'] })
  place.onGrant({ token: 12 })
  expect(claimOf(place)).toMatchObject({ token: 12, run: [] })
})

test('a late message with an older grant and its run does not replace a newer grant', () => {
  const place = queuedPlace()
  place.onGrant({ token: 12 })
  place.onGrant({ token: 9, run: ['client:2', 'client:3'] })
  expect(claimOf(place)).toMatchObject({ token: 12, run: [] })
})
