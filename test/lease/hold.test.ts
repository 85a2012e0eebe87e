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
      id: { key: 'orders', wireOwner: 'client:1' },
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
  ])('of %i ms is %d ms: less 1 %% and 2 ms of drift, less a margin', (leaseMs, validMs) => {
    expect(validityMs(leaseMs)).toBeCloseTo(validMs, 6)
    expect(newHold({ leaseMs }).remainingMs()).toBeCloseTo(validMs, 6)
  })

  test('counts from before the request was sent', () => {
    const sentAt = clock.now()
    clock.block(400)
    expect(newHold({ sentAt }).remainingMs()).toBeCloseTo(VALID_MS - 400)
  })

  test.each([
    ['both clocks go on', (ms: number) => clock.block(ms)],
    ['the wall clock alone goes on, as in a suspended machine', (ms: number) => clock.suspend(ms)],
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

  test('comes back when a wall clock that was wrong is set right', () => {
    const hold = newHold()
    clock.step(3_600_000)
    expect(hold.remainingMs()).toBe(0)
    clock.step(-3_600_000)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
    expect(hold.live).toBe(true)
  })
})

describe('a proof from the server', () => {
  test('counts from when it was asked for, not from when it came', () => {
    const hold = newHold()
    clock.block(3_000)
    const sentAt = clock.now()
    clock.block(2_000)
    hold.proved(LEASE_MS, sentAt)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - 2_000)
  })

  test('never shortens the lease: neither a late one nor one for less', () => {
    const hold = newHold()
    const early = clock.now()
    clock.block(1_000)
    hold.proved(LEASE_MS, clock.now())
    hold.proved(LEASE_MS, early)
    hold.proved(2_000, clock.now())
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
  })

  test('that comes when its own time has run out proves nothing', () => {
    const hold = newHold()
    const sentAt = clock.now()
    clock.block(VALID_MS + 1)
    hold.proved(LEASE_MS, sentAt)
    expect(hold.remainingMs()).toBe(0)
  })

  test('after a jump of the wall clock is what counts from then on', () => {
    const hold = newHold()
    clock.step(9_000)
    hold.proved(LEASE_MS, clock.now())
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
  })

  test('does not revive a lease whose time ran out unnoticed', () => {
    const hold = newHold()
    clock.block(VALID_MS)
    hold.proved(LEASE_MS, clock.now())
    expect(lost).toMatchObject([{ reason: 'expired' }])
    expect(hold.remainingMs()).toBe(0)
  })

  test('does not revive a lease that was given up', () => {
    const hold = newHold()
    clock.block(VALID_MS)
    expect(hold.signal.aborted).toBe(true)
    hold.proved(LEASE_MS, clock.now())
    expect(hold.remainingMs()).toBe(0)
    expect(hold.signal.aborted).toBe(true)
  })
})

describe('the signal', () => {
  test('is aborted at the first look after a blocked event loop, before any timer', () => {
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

  test.each(['reason', 'throwIfAborted'] as const)('looks at the clock when %s is read', (what) => {
    const { signal } = newHold()
    clock.block(VALID_MS)
    if (what === 'reason') expect(signal.reason).toMatchObject({ reason: 'expired' })
    else expect(() => signal.throwIfAborted()).toThrow(/was lost/)
  })

  test('that is asked for only after the loss is aborted', () => {
    const hold = newHold()
    hold.lose('gone', 'as a test')
    expect(hold.signal.aborted).toBe(true)
    expect(hold.signal.reason).toBe(hold.loss)
  })

  test('stays quiet at a release, however long ago it was', () => {
    const hold = newHold()
    hold.end()
    clock.block(10 * LEASE_MS)
    hold.loseIfExpired()
    hold.loseIfOver()
    hold.proved(LEASE_MS, clock.now())
    expect(hold.signal.aborted).toBe(false)
    expect(hold.remainingMs()).toBe(0)
    expect(lost).toEqual([])
  })

  test('tells a loss that the release itself found out', () => {
    const hold = newHold()
    const { signal } = hold
    hold.end()
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
  hold.end()
  expect(lost.map(({ reason }) => reason)).toEqual(['gone'])
  expect(hold.loss).toBe(lost[0])
})
