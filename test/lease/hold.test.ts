import type { LeaseLostError } from '../../src/index.ts'
import { Hold } from '../../src/lease/hold.ts'
import { validityMs } from '../../src/lease/validity.ts'
import { Owner } from '../../src/owner/owner.ts'
import { TestClock } from './test-clock.ts'

const LEASE_MS = 10_000
const VALID_MS = validityMs(LEASE_MS)

let clock: TestClock
let lost: LeaseLostError[]

beforeEach(() => {
  jest.useFakeTimers()
  clock = new TestClock()
  lost = []
})
afterEach(() => {
  jest.useRealTimers()
})

function newHold({ sentAt = clock.now(), leaseMs = LEASE_MS } = {}): Hold {
  return new Hold(
    {
      lockName: 'orders',
      owner: new Owner('client', '1'),
      id: { rawName: 'orders', ownerId: 'client:1' },
      token: 7,
      kind: { name: 'lock', isShared: false },
      leaseMs,
      sentAt,
    },
    clock,
    { lost: (_, error) => void lost.push(error) },
  )
}

describe('the validity of a lease', () => {
  test.each([
    [30_000, 29_598],
    [1_000, 938],
    [300, 280],
    [10, 7.4],
  ])('for %i ms is %d ms: less 1 %% and 2 ms of drift, less a margin', (leaseMs, validMs) => {
    expect(validityMs(leaseMs)).toBeCloseTo(validMs, 6)
    expect(newHold({ leaseMs }).remainingMs()).toBeCloseTo(validMs, 6)
  })

  test('counts from before the request was sent', () => {
    const sentAt = clock.now()
    clock.block(400)
    expect(newHold({ sentAt }).remainingMs()).toBeCloseTo(VALID_MS - 400)
  })

  test.each([
    ['both clocks advance', (ms: number) => clock.block(ms)],
    ['only the wall clock advances, as in a suspended machine', (ms: number) => clock.suspend(ms)],
    ['the wall clock is set forward', (ms: number) => clock.step(ms)],
  ])('shrinks when %s', (_, go) => {
    const hold = newHold()
    go(4_000)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - 4_000)
    go(VALID_MS)
    expect(hold.remainingMs()).toBe(0)
  })

  test('does not grow when the wall clock is set back', () => {
    const hold = newHold()
    clock.block(4_000)
    clock.step(-3_600_000)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - 4_000)
  })

  test('comes back when a wrong wall clock is corrected', () => {
    const hold = newHold()
    clock.step(3_600_000)
    expect(hold.remainingMs()).toBe(0)
    clock.step(-3_600_000)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
    expect(hold.live).toBe(true)
  })
})

describe('a proof from the server', () => {
  test('counts from its request, not from its reply', () => {
    const hold = newHold()
    clock.block(3_000)
    const sentAt = clock.now()
    clock.block(2_000)
    hold.proved(LEASE_MS, sentAt)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - 2_000)
  })

  test('never shortens the lease, neither a late proof nor a proof for less time', () => {
    const hold = newHold()
    const early = clock.now()
    clock.block(1_000)
    hold.proved(LEASE_MS, clock.now())
    hold.proved(LEASE_MS, early)
    hold.proved(2_000, clock.now())
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
  })

  test('proves nothing after its own lease time', () => {
    const hold = newHold()
    const sentAt = clock.now()
    clock.block(VALID_MS + 1)
    hold.proved(LEASE_MS, sentAt)
    expect(hold.remainingMs()).toBe(0)
  })

  test('sets the validity again after a jump of the wall clock', () => {
    const hold = newHold()
    clock.step(9_000)
    hold.proved(LEASE_MS, clock.now())
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
  })

  test('does not revive a lease that expired without notice', () => {
    const hold = newHold()
    clock.block(VALID_MS)
    hold.proved(LEASE_MS, clock.now())
    expect(lost).toMatchObject([{ reason: 'expired' }])
    expect(hold.remainingMs()).toBe(0)
  })

  test('does not revive a lease whose loss is known', () => {
    const hold = newHold()
    clock.block(VALID_MS)
    expect(hold.signal.aborted).toBe(true)
    hold.proved(LEASE_MS, clock.now())
    expect(hold.remainingMs()).toBe(0)
    expect(hold.signal.aborted).toBe(true)
  })
})

describe('the signal', () => {
  test('is aborted when it is first read after a blocked event loop, before any timer runs', () => {
    const hold = newHold()
    const { signal } = hold
    const heard = jest.fn()
    signal.addEventListener('abort', heard)
    expect(signal.aborted).toBe(false)
    clock.block(VALID_MS - 1)
    expect(signal.aborted).toBe(false)
    clock.block(1)
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toMatchObject({
      code: 'HOLDFAST_LEASE_LOST',
      reason: 'expired',
      token: 7,
      lockName: 'orders',
    })
    expect(() => signal.throwIfAborted()).toThrow(signal.reason)
    expect(heard).toHaveBeenCalledTimes(1)
    expect(lost).toEqual([signal.reason])
  })

  test.each(['reason', 'throwIfAborted'] as const)('checks the clock when %s is read', (what) => {
    const { signal } = newHold()
    clock.block(VALID_MS)
    if (what === 'reason') expect(signal.reason).toMatchObject({ reason: 'expired' })
    else expect(() => signal.throwIfAborted()).toThrow(/was lost/)
  })

  test('is aborted even when it is first read after the loss', () => {
    const hold = newHold()
    hold.lose('gone', 'as a test')
    expect(hold.signal.aborted).toBe(true)
    expect(hold.signal.reason).toBe(hold.loss)
  })

  test('is not aborted after a release, however long ago the release was', () => {
    const hold = newHold()
    hold.finish()
    clock.block(10 * LEASE_MS)
    hold.loseIfExpired()
    hold.loseIfOver()
    hold.proved(LEASE_MS, clock.now())
    expect(hold.signal.aborted).toBe(false)
    expect(hold.remainingMs()).toBe(0)
    expect(lost).toEqual([])
  })

  test('is aborted by a loss that the release itself finds', () => {
    const hold = newHold()
    const { signal } = hold
    hold.finish()
    hold.lose('gone', 'as a test')
    expect(signal.reason).toMatchObject({ reason: 'gone' })
    expect(lost).toEqual([signal.reason])
  })
})

test('a lease is lost once, for the first reason', () => {
  const hold = newHold()
  hold.lose('gone', 'as a test')
  hold.lose('forced', 'as a test')
  clock.block(10 * LEASE_MS)
  hold.loseIfExpired()
  hold.finish()
  expect(lost.map(({ reason }) => reason)).toEqual(['gone'])
  expect(hold.loss).toBe(lost[0])
})
