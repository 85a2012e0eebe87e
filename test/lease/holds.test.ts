import type { Hold } from '../../src/lease/hold.ts'
import { Holds } from '../../src/local/holds.ts'
import type { LocalLock } from '../../src/local/local-lock.ts'
import { passedOn } from '../../src/local/passed-on.ts'
import { plainKind } from '../../src/locks/lock/plain-kind.ts'
import { Owner } from '../../src/owner/owner.ts'
import type { Waiter } from '../../src/waiting/waiter.ts'
import { TestClock } from './test-clock.ts'

const waiterOf = (id: string, leaseMs: number) =>
  ({
    request: { owner: new Owner('c', id), leaseMs, kind: plainKind, watched: false },
    ownerId: `c:${id}`,
    doubtUntilMs: 0,
    retryBudget: { answered() {} },
  }) as unknown as Waiter

/** Returns a hold that was just granted, and a function that passes the hold on. */
function granted(clock: TestClock, leaseMs: number, blockMs: number) {
  const lock = {
    name: 'it',
    rawName: 'it',
    services: { clock, shortLeases: { check() {} } },
  } as unknown as LocalLock
  const holds = new Holds(lock)
  const sentAt = clock.now()
  clock.block(blockMs)
  const grant = { token: 100, reserved: 63 }
  const hold = holds.newHold(waiterOf('1', leaseMs), grant, sentAt) as Hold
  const { services } = lock
  return { hold, passOn: () => passedOn({ holds, services }, hold, waiterOf('2', leaseMs)) }
}

afterEach(() => jest.useRealTimers())

test('the next holder gets the rest of the lease, and not more', () => {
  jest.useFakeTimers()
  const clock = new TestClock()
  const { hold, passOn } = granted(clock, 60_000, 500)
  const left = hold.remainingMs()
  hold.finish()
  expect(passOn()?.remainingMs()).toBe(left)
})

test('a lease that the server reported as shorter is not handed off', () => {
  jest.useFakeTimers()
  const clock = new TestClock()
  const { hold, passOn } = granted(clock, 60_000, 3_000)
  // A check of Redis has found that 57 s are left.
  hold.proved(57_000, clock.now())
  hold.finish()
  expect(passOn()).toBeNull()
})
