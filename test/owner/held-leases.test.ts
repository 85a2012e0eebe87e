import { HeldLeases, type Kept } from '../../src/owner/held-leases.ts'
import { Owner } from '../../src/owner/owner.ts'

/** Counts how often anybody looks at what it has. */
class Watched extends Owner {
  looks = 0

  override kept(key: string): readonly object[] | undefined {
    this.looks += 1
    return super.kept(key)
  }
}

const newLease = (): Kept => ({
  live: true,
  lostAt: undefined,
  askedAt: Infinity,
  leaseMs: 1_000,
  of: {},
})

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

test('a holder that takes and releases one lock for hours is looked after once, not once for each time', () => {
  const holdings = new HeldLeases<Kept>()
  const holder = new Watched('client', '1')
  holdings.add(holder, 'other', newLease())
  for (let n = 0; n < 1_000; n++) {
    const lease = newLease()
    holdings.add(holder, 'orders', lease)
    holdings.lookAfter(holder, 'orders')
    if (n < 999) holdings.remove(holder, 'orders', lease)
  }
  holder.looks = 0
  jest.advanceTimersByTime(1_000)
  expect(holder.looks).toBeGreaterThan(0)
  expect(holder.looks).toBeLessThan(10)
  holdings.close()
})
