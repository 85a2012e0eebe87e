import { HeldLeases } from '../../src/owner/held-leases.ts'
import type { StoredLease } from '../../src/owner/lease-holder.ts'
import { Owner } from '../../src/owner/owner.ts'

const newLease = (lostAt?: number): StoredLease => ({
  scoped: false,
  live: lostAt === undefined,
  lostAt,
  calledAt: Infinity,
  leaseMs: 1_000,
  token: 1,
  holdIdentity: {},
  list: undefined,
  before: undefined,
  after: undefined,
})

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('a holder that acquires one lock a thousand times is registered for cleanup once', () => {
  const leases = new HeldLeases<StoredLease>()
  const holder = new Owner('client', '1')
  const RealWeakRef = WeakRef
  const lookedAfter = jest.spyOn(globalThis, 'WeakRef')
  lookedAfter.mockImplementation((list) => new RealWeakRef(list))
  leases.add(holder, 'other', newLease())
  for (let n = 0; n < 1_000; n++) {
    const lease = newLease()
    const list = leases.add(holder, 'orders', lease)
    list.sweepLater()
    list.remove(lease)
  }
  expect(lookedAfter).toHaveBeenCalledTimes(1)
  leases.stopTimer()
})

test('a holder keeps nothing of its former locks, lost or released', () => {
  const leases = new HeldLeases<StoredLease>()
  const holder = new Owner('client', '1')
  const other = newLease()
  leases.add(holder, 'other', other)
  const kept = () => holder.leasesOf(leases, 'orders')
  const lease = newLease()
  leases.add(holder, 'orders', lease).remove(lease)
  expect(kept()).toBeUndefined()
  leases.add(holder, 'orders', newLease(performance.now())).sweepLater()
  jest.advanceTimersByTime(3_500_000)
  expect(kept()?.size).toBe(1)
  jest.advanceTimersByTime(200_000)
  expect(kept()).toBeUndefined()
  expect(leases.live(holder, 'other')).toBe(other)
  leases.stopTimer()
})

test('the leases of a holder on one lock name in two places are separate', () => {
  const [here, there] = [new HeldLeases<StoredLease>(), new HeldLeases<StoredLease>()]
  const holder = new Owner('client', '1')
  const [one, two] = [newLease(), newLease()]
  here.add(holder, 'orders', one)
  there.add(holder, 'orders', two)
  expect(here.live(holder, 'orders')).toBe(one)
  expect(there.live(holder, 'orders')).toBe(two)
  one.list?.remove(one)
  expect(here.live(holder, 'orders')).toBeUndefined()
  expect(there.live(holder, 'orders')).toBe(two)
})
