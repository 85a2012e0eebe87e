import type { LeaseLostError } from '../../src/index.ts'
import { Hold } from '../../src/lease/hold.ts'
import type { RenewalAnswer, Renewer } from '../../src/lease/renewer.ts'
import { validityMs } from '../../src/lease/validity.ts'
import { Watchdog } from '../../src/lease/watchdog.ts'
import { UNOBSERVED } from '../../src/lock-observer.ts'
import { Owner } from '../../src/owner/owner.ts'
import { deferred } from '../support/deferred.ts'
import { TestClock } from './test-clock.ts'

const LEASE_MS = 9_000
const VALID_MS = validityMs(LEASE_MS)
const THIRD_MS = LEASE_MS / 3
/**
 * The watchdog compares the clocks at this interval. If a clock says that a lease is over, the watchdog waits this long
 * for an answer.
 */
const CHECK_MS = 250

interface Asked {
  holds: readonly Hold[]
  leaseMs: number
  timeoutMs: number
  at: number
}

/** Answers as the test says. By default, each renewal is confirmed, and each check finds the hold. */
class TestRenewer implements Renewer<Hold> {
  readonly asked: Asked[] = []
  answer: (asked: Asked) => Promise<RenewalAnswer[]> | RenewalAnswer[] = ({ holds, leaseMs }) =>
    holds.map(() => (leaseMs > 0 ? { kind: 'renewed', leaseMs } : { kind: 'held', leaseMs: 8_000 }))

  /** Divides the holds into groups: one group, unless a test changes this. */
  groups: (holds: readonly Hold[]) => Hold[][] = (holds) => (holds.length > 0 ? [[...holds]] : [])

  async renew(
    holds: readonly Hold[],
    leaseMs: number,
    timeoutMs: number,
  ): Promise<RenewalAnswer[]> {
    const asked = { holds, leaseMs, timeoutMs, at: performance.now() }
    this.asked.push(asked)
    return this.answer(asked)
  }

  /** From now on, the answer for every hold is this answer. */
  all(answer: RenewalAnswer): void {
    this.answer = ({ holds }) => holds.map(() => answer)
  }

  get last(): Asked | undefined {
    return this.asked.at(-1)
  }
}

const UNKNOWN: RenewalAnswer = { kind: 'unknown', cause: new Error('no answer') }
const RENEWED: RenewalAnswer = { kind: 'renewed', leaseMs: LEASE_MS }

let clock: TestClock
let renewer: TestRenewer
let watchdog: Watchdog
let lost: { hold: Hold; error: LeaseLostError; at: number }[]
let late: Hold[]
let renewed: number

beforeEach(() => {
  jest.useFakeTimers()
  clock = new TestClock()
  renewer = new TestRenewer()
  lost = []
  late = []
  renewed = 0
  watchdog = new Watchdog(renewer, LEASE_MS, clock, {
    renewed: (holds) => {
      renewed += holds
    },
    renewing: () => UNOBSERVED,
    late: (hold) => late.push(hold),
  })
})
afterEach(() => {
  watchdog.untrackAll()
  jest.useRealTimers()
})

function newHold(leaseMs = LEASE_MS): Hold {
  const hold = new Hold(
    {
      lockName: 'orders',
      owner: new Owner('client', '1'),
      id: { rawName: 'orders', ownerId: 'client:1' },
      token: 7,
      kind: { name: 'lock', isShared: false },
      leaseMs,
      sentAt: clock.now(),
    },
    clock,
    {
      lost: (which, error) => {
        watchdog.untrack(which)
        lost.push({ hold: which, error, at: performance.now() })
      },
    },
  )
  watchdog.track(hold)
  return hold
}

function newWatched(leaseMs = LEASE_MS): Hold {
  const hold = newHold(leaseMs)
  hold.renewMs = leaseMs
  watchdog.watch(hold)
  return hold
}

function release(hold: Hold): void {
  watchdog.untrack(hold)
  hold.finish()
}

describe('a watched hold', () => {
  test('is renewed at every third of its lease, and lasts longer than one lease', async () => {
    const hold = newWatched()
    await clock.pass(10 * LEASE_MS)
    expect(lost).toEqual([])
    expect(renewer.asked.map(({ at }) => at / THIRD_MS)).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    )
    expect(renewer.last).toMatchObject({ holds: [hold], leaseMs: LEASE_MS, timeoutMs: THIRD_MS })
    expect(renewed).toBe(30)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
  })

  test('expires by the clock when every answer is unknown, because an unknown answer resets no clock', async () => {
    renewer.all(UNKNOWN)
    const hold = newWatched()
    const { signal } = hold
    await clock.pass(VALID_MS - 1)
    expect(signal.aborted).toBe(false)
    expect(late.length).toBeGreaterThan(2)
    await clock.pass(2)
    expect(lost).toMatchObject([{ hold, error: { reason: 'expired' } }])
    expect(Math.abs((lost[0]?.at ?? 0) - VALID_MS)).toBeLessThanOrEqual(2)
    expect(signal.reason).toBe(lost[0]?.error)
  })

  test('expires by the clock when no answer comes at all', async () => {
    renewer.answer = () => new Promise(() => {})
    newWatched()
    await clock.pass(VALID_MS + 1)
    expect(lost).toMatchObject([{ error: { reason: 'expired' } }])
  })

  test('gets another renewal soon after an unknown answer, and continues when that renewal succeeds', async () => {
    renewer.all(UNKNOWN)
    const hold = newWatched()
    await clock.pass(THIRD_MS)
    expect(late).toEqual([hold])
    renewer.all(RENEWED)
    await clock.pass(1_000)
    expect(renewer.asked).toHaveLength(2)
    expect(hold.remainingMs()).toBeGreaterThan(VALID_MS - 1_000)
    await clock.pass(3 * LEASE_MS)
    expect(lost).toEqual([])
    expect(late).toHaveLength(1)
  })

  test('has its time from the request of the renewal, however late the answer is', async () => {
    renewer.answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, THIRD_MS - 1))
      return [RENEWED]
    }
    const hold = newWatched()
    await clock.pass(THIRD_MS)
    watchdog.unwatch(hold)
    await clock.pass(THIRD_MS - 1)
    expect(renewed).toBe(1)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - (THIRD_MS - 1))
  })

  test('is lost at once when the server says so', async () => {
    renewer.all({ kind: 'lost' })
    const hold = newWatched()
    await clock.pass(THIRD_MS)
    expect(lost).toMatchObject([{ hold, error: { reason: 'gone' }, at: THIRD_MS }])
    await clock.pass(LEASE_MS)
    expect(renewer.asked).toHaveLength(1)
  })

  test('is not renewed after it is no longer watched, and keeps the rest of its time', async () => {
    const hold = newWatched()
    await clock.pass(THIRD_MS)
    watchdog.unwatch(hold)
    renewer.all(UNKNOWN)
    await clock.pass(VALID_MS - 1)
    expect(lost).toEqual([])
    await clock.pass(2)
    expect(lost).toHaveLength(1)
    // Since then, the watchdog only checks the hold.
    expect(renewer.asked.filter(({ leaseMs }) => leaseMs > 0)).toHaveLength(1)
  })
})

test('a fixed hold is not renewed and ends by the clock, to the millisecond', async () => {
  const hold = newHold(1_000)
  await clock.pass(validityMs(1_000) - 1)
  expect(lost).toEqual([])
  await clock.pass(2)
  expect(lost).toMatchObject([{ hold, error: { reason: 'expired' } }])
  expect(renewer.asked).toEqual([])
})

describe('a fixed hold', () => {
  test('is checked with every tick, and is lost when the server no longer has it', async () => {
    const hold = newHold(4 * LEASE_MS)
    renewer.all({ kind: 'held', leaseMs: 20_000 })
    await clock.pass(2 * THIRD_MS)
    expect(renewer.asked).toMatchObject([
      { holds: [hold], leaseMs: 0 },
      { holds: [hold], leaseMs: 0 },
    ])
    expect([lost, renewed]).toEqual([[], 0])
    renewer.all({ kind: 'lost' })
    await clock.pass(THIRD_MS)
    expect(lost).toMatchObject([{ hold, error: { reason: 'gone' }, at: LEASE_MS }])
  })

  test('does not end sooner when a check has no answer', async () => {
    const hold = newHold(4 * LEASE_MS)
    renewer.all(UNKNOWN)
    await clock.pass(validityMs(4 * LEASE_MS) - 1)
    expect(lost).toEqual([])
    await clock.pass(2)
    expect(lost).toMatchObject([{ hold, error: { reason: 'expired' } }])
  })

  test('is checked hardly more often in the twentieth minute of an outage than in the first', async () => {
    newHold(1_000 * LEASE_MS)
    renewer.all(UNKNOWN)
    const askedInAMinute = async () => {
      const before = renewer.asked.length
      await clock.pass(60_000)
      return renewer.asked.length - before
    }
    const atFirst = await askedInAMinute()
    await clock.pass(18 * 60_000)
    expect(await askedInAMinute()).toBeLessThanOrEqual(atFirst * 1.5)
    expect(late).toHaveLength(renewer.asked.length)
  })
})

test('each of many holds ends at its own time, whatever was released or extended in the meantime', async () => {
  const inMs = Array.from({ length: 300 }, (_, i) => 1_000 + ((i * 7_919) % 300) * 5)
  const holds = inMs.map((ms) => newHold(ms))
  const lengthened = holds.filter((_, i) => i % 3 === 0)
  const released = holds.filter((_, i) => i % 3 === 1)
  for (const hold of released) release(hold)
  for (const hold of lengthened) hold.proved(2_600, clock.now())
  await clock.pass(2_590)
  const expected = holds
    .filter((hold) => !released.includes(hold))
    .map((hold) => ({ hold, at: validityMs(lengthened.includes(hold) ? 2_600 : hold.leaseMs) }))
  expect(lost).toHaveLength(expected.length)
  for (const { hold, at } of expected) {
    const end = lost.find((one) => one.hold === hold)
    expect(Math.abs((end?.at ?? 0) - at)).toBeLessThanOrEqual(2)
  }
})

test('thousands of holds that end at the same time do not block the event loop', async () => {
  for (let i = 0; i < 2_500; i += 1) newHold(1_000)
  clock.stopTurns()
  await clock.pass(1_000)
  expect(lost).toHaveLength(1_000)
  clock.turn()
  expect(lost).toHaveLength(2_000)
  clock.turn()
  expect(lost).toHaveLength(2_500)
})

describe('a release', () => {
  test.each<[string, RenewalAnswer]>([
    ['renewed', RENEWED],
    ['lost', { kind: 'lost' }],
    ['unknown', UNKNOWN],
  ])('makes a later answer "%s" to a renewal void', async (_, answer) => {
    const answers = deferred<RenewalAnswer[]>()
    renewer.answer = () => answers.promise
    const hold = newWatched()
    const { signal } = hold
    await clock.pass(THIRD_MS)
    expect(renewer.asked).toHaveLength(1)
    release(hold)
    answers.resolve([answer])
    await clock.pass(3 * LEASE_MS)
    expect(renewer.asked).toHaveLength(1)
    expect([lost, late, renewed]).toEqual([[], [], 0])
    expect(signal.aborted).toBe(false)
    expect(hold.remainingMs()).toBe(0)
  })

  test.each<[string, RenewalAnswer]>([
    ['renewed', RENEWED],
    ['unknown', UNKNOWN],
  ])('ends the renewals after the answer "%s"', async (_, answer) => {
    renewer.all(answer)
    const hold = newWatched()
    await clock.pass(THIRD_MS)
    release(hold)
    await clock.pass(3 * LEASE_MS)
    expect(renewer.asked).toHaveLength(1)
    expect(lost).toEqual([])
  })

  test('stops the renewals of its own hold only', async () => {
    const [first, second] = [newWatched(), newWatched()]
    await clock.pass(THIRD_MS)
    release(first)
    await clock.pass(THIRD_MS)
    expect(renewer.asked.map(({ holds }) => holds)).toEqual([[first, second], [second]])
  })
})

describe('many holds', () => {
  const newMany = (count: number) => Array.from({ length: count }, () => newWatched())
  const sizes = () => renewer.asked.map(({ holds }) => holds.length)

  test('are renewed in requests of at most 500 holds, even when other requests fail', async () => {
    const holds = newMany(1_201)
    clock.stopTurns()
    renewer.answer = ({ holds: some }) => {
      if (some.includes(holds[0] as Hold)) return new Promise(() => {})
      if (some.includes(holds[600] as Hold)) return some.map(() => UNKNOWN)
      return some.map(() => RENEWED)
    }
    await clock.pass(THIRD_MS)
    expect(sizes()).toEqual([500])
    clock.turn()
    expect(sizes()).toEqual([500, 500])
    clock.startTurns()
    await clock.pass(0)
    expect(sizes()).toEqual([500, 500, 201])
    expect(renewed).toBe(201)
    expect(holds[1_200]?.remainingMs()).toBeCloseTo(VALID_MS)
    expect(late).toHaveLength(500)
    await clock.pass(VALID_MS - THIRD_MS + 1)
    expect(lost).toHaveLength(1_000)
    expect(holds[1_200]?.live).toBe(true)
  })

  test('whose requests wait for a turn get a request only if they still have the lock', async () => {
    const holds = newMany(1_000)
    const [released, passedOn] = [holds[600] as Hold, holds[700] as Hold]
    clock.stopTurns()
    await clock.pass(THIRD_MS)
    release(released)
    passedOn.heir = newWatched()
    release(passedOn)
    clock.turn()
    expect(sizes()).toEqual([500, 499])
    const isSent = (hold?: Hold) => renewer.last?.holds.some((one) => one === hold)
    expect([passedOn.heir, passedOn, released].map(isSent)).toEqual([true, false, false])
  })

  test('are renewed first if their last renewal failed', async () => {
    const holds = newMany(501)
    const failing = holds[500] as Hold
    renewer.answer = ({ holds: some }) => some.map((hold) => (hold === failing ? UNKNOWN : RENEWED))
    await clock.pass(2 * THIRD_MS - 1)
    clock.stopTurns()
    const before = renewer.asked.length
    await clock.pass(1)
    expect(sizes().slice(before)).toEqual([500])
    expect(renewer.last?.holds[0] === failing).toBe(true)
  })

  test('come first in the new round if they still wait for their request at the next tick', async () => {
    const holds = newMany(1_000)
    clock.stopTurns()
    await clock.pass(THIRD_MS)
    await clock.pass(THIRD_MS)
    expect(sizes()).toEqual([500])
    const firstOfLast = () => holds.indexOf(renewer.last?.holds[0] as Hold)
    clock.turn()
    expect(firstOfLast()).toBe(500)
    clock.turn()
    expect(firstOfLast()).toBe(0)
    clock.turn()
    expect(sizes()).toEqual([500, 500, 500])
  })

  test('get no lease beyond their limit, even if their request waits', async () => {
    const limited = newMany(501)[500] as Hold
    limited.limit(14_000, clock.monotonic())
    clock.stopTurns()
    await clock.pass(THIRD_MS)
    clock.block(THIRD_MS)
    clock.turn()
    expect(renewer.last?.holds[0] === limited).toBe(true)
    expect(renewer.last?.leaseMs).toBe(14_000 - 2 * THIRD_MS)
  })

  test('with a short lease do not wait until all holds with a long lease are renewed', async () => {
    newMany(2_000)
    const short = newWatched(LEASE_MS / 3)
    await clock.pass(THIRD_MS - 1)
    clock.stopTurns()
    const before = renewer.asked.length
    await clock.pass(1)
    clock.turn()
    expect(renewer.asked.slice(before).some(({ holds }) => holds[0] === short)).toBe(true)
  })

  test('on several nodes or slots do not wait for each other', async () => {
    const [here, there] = [newWatched(), newWatched()]
    renewer.groups = (holds) => holds.map((hold) => [hold])
    renewer.answer = ({ holds }) => (holds[0] === here ? new Promise(() => {}) : [RENEWED])
    await clock.pass(THIRD_MS)
    expect(renewer.asked.map(({ holds }) => holds)).toEqual([[here], [there]])
    expect(there.remainingMs()).toBeCloseTo(VALID_MS)
    expect(here.remainingMs()).toBeCloseTo(VALID_MS - THIRD_MS)
  })

  test('get one answer each', async () => {
    const [held, gone, silent] = [newWatched(), newWatched(), newWatched()]
    renewer.answer = () => [RENEWED, { kind: 'lost' }, UNKNOWN]
    await clock.pass(THIRD_MS)
    expect(held.remainingMs()).toBeCloseTo(VALID_MS)
    expect(lost).toMatchObject([{ hold: gone }])
    expect(late).toEqual([silent])
    expect(silent.remainingMs()).toBeCloseTo(VALID_MS - THIRD_MS)
  })
})

describe('clocks that disagree', () => {
  test.each([
    ['forward', 4_000],
    ['back', -4_000],
  ])(
    'a step %s of the wall clock makes the next check verify every hold with the server',
    async (_, ms) => {
      const watched = newWatched()
      const fixed = newHold()
      await clock.pass(500)
      clock.step(ms)
      await clock.pass(500)
      expect(renewer.asked).toMatchObject([
        { holds: [watched], leaseMs: LEASE_MS },
        { holds: [fixed], leaseMs: 0 },
      ])
    },
  )

  test('the worse clock counts until the server answers', async () => {
    const answers = deferred<RenewalAnswer[]>()
    renewer.answer = () => answers.promise
    const hold = newWatched()
    clock.step(4_000)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - 4_000)
    await clock.pass(CHECK_MS)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS - 4_000 - CHECK_MS)
    answers.resolve([RENEWED])
    await clock.pass(0)
    expect(hold.remainingMs()).toBeCloseTo(VALID_MS)
  })

  test('the client trusts the rest of a fixed lease that the server reports', async () => {
    const hold = newHold()
    clock.step(8_000)
    expect(hold.remainingMs()).toBeLessThan(1_000)
    await clock.pass(CHECK_MS)
    expect(hold.remainingMs()).toBeCloseTo(validityMs(8_000))
  })

  test.each<[string, RenewalAnswer, 'live' | 'gone' | 'expired']>([
    ['renewed, and the hold continues', RENEWED, 'live'],
    ['lost', { kind: 'lost' }, 'gone'],
    ['unknown, and the hold expires', UNKNOWN, 'expired'],
  ])(
    'a hold is invalid after a sleep longer than the lease; the answer of the server: %s',
    async (...cell) => {
      const [, answer, end] = cell
      const hold = newWatched()
      renewer.all(answer)
      await clock.pass(1_500)
      clock.suspend(LEASE_MS)
      expect(hold.remainingMs()).toBe(0)
      await clock.pass(1_000)
      if (end === 'live') expect(hold.remainingMs()).toBeGreaterThan(VALID_MS - 1_000)
      else expect(lost).toMatchObject([{ hold, error: { reason: end } }])
    },
  )

  describe('a sleep while Redis does not answer', () => {
    test.each([
      ['a watched lease', newWatched],
      ['a fixed lease', newHold],
    ])(
      'the signal of %s aborts soon after the process wakes up from a sleep longer than the lease',
      async (_, acquire) => {
        renewer.answer = () => new Promise(() => {})
        const { signal } = acquire(LEASE_MS)
        await clock.pass(1_100)
        clock.suspend(LEASE_MS)
        let abortedAfterMs = Number.NaN
        const wokeAt = performance.now()
        signal.addEventListener('abort', () => {
          abortedAfterMs = performance.now() - wokeAt
        })
        await clock.pass(LEASE_MS / 3)
        expect(abortedAfterMs).toBeLessThanOrEqual(2 * CHECK_MS)
        expect(lost).toMatchObject([{ error: { reason: 'expired' } }])
      },
    )

    test('a lease with time left after the sleep ends by the worse clock', async () => {
      renewer.answer = () => new Promise(() => {})
      const hold = newHold()
      const leftMs = 700
      clock.suspend(VALID_MS - leftMs)
      await clock.pass(leftMs - 1)
      expect(hold.live).toBe(true)
      await clock.pass(2)
      expect(lost).toMatchObject([{ hold, error: { reason: 'expired' } }])
    })

    test('an answer in time keeps the lease that the server still has', async () => {
      const answers = deferred<RenewalAnswer[]>()
      renewer.answer = () => answers.promise
      const hold = newWatched()
      clock.step(2 * LEASE_MS)
      await clock.pass(CHECK_MS + CHECK_MS - 10)
      answers.resolve([RENEWED])
      await clock.pass(2 * LEASE_MS)
      expect(hold.live).toBe(true)
      expect(lost).toEqual([])
    })
  })

  test('the signal does not wait for the server when it is read', () => {
    const hold = newWatched()
    clock.suspend(LEASE_MS)
    expect(hold.signal.aborted).toBe(true)
    expect(lost).toMatchObject([{ error: { reason: 'expired' } }])
  })

  test('small steps of NTP cause no request', async () => {
    newHold()
    for (let i = 0; i < 10; i++) {
      clock.step(i % 2 === 0 ? 100 : -100)
      await clock.pass(CHECK_MS)
    }
    expect(renewer.asked).toEqual([])
  })
})

describe('a hold with a limit', () => {
  const newLimited = (maxHoldMs: number) => {
    const hold = newHold(Math.min(LEASE_MS, maxHoldMs))
    hold.limit(maxHoldMs, clock.now().monotonic)
    const { limitAt } = hold
    renewer.answer = ({ holds, leaseMs }) => {
      const leftMs = limitAt - clock.now().monotonic
      return holds.map(() =>
        leaseMs > 0 ? { kind: 'renewed', leaseMs } : { kind: 'held', leaseMs: leftMs },
      )
    }
    hold.renewMs = LEASE_MS
    watchdog.watch(hold)
    return hold
  }

  test('is renewed up to the limit, at last for the rest, and is lost a margin before the limit', async () => {
    const hold = newLimited(20_000)
    await clock.pass(20_000)
    // At 12 s, a whole lease no longer fits below the limit.
    expect(renewer.asked.map(({ at, leaseMs }) => [at, leaseMs])).toEqual([
      [3_000, LEASE_MS],
      [6_000, LEASE_MS],
      [9_000, LEASE_MS],
      [12_000, 8_000],
      [15_000, 0],
      [18_000, 0],
    ])
    expect(lost).toMatchObject([{ hold, error: { reason: 'expired' } }])
    expect(lost[0]?.error.message).toMatch(/its `maxHoldMs` of 20000 ms is over/)
    expect(lost[0]?.at).toBeLessThan(20_000)
    for (const { at, leaseMs } of renewer.asked) expect(at + leaseMs).toBeLessThanOrEqual(20_000)
  })

  test('is renewed up to the limit even when a whole lease almost reaches the limit', async () => {
    newLimited(18_500)
    await clock.pass(18_500)
    expect(renewer.asked.map(({ at, leaseMs }) => [at, leaseMs]).slice(2, 4)).toEqual([
      [9_000, LEASE_MS],
      [12_000, 6_500],
    ])
    expect(lost[0]?.at).toBeGreaterThan(18_500 - (LEASE_MS - VALID_MS))
    expect(lost[0]?.error.message).toMatch(/its `maxHoldMs` of 18500 ms is over/)
  })

  test('ends at the limit even when the server has it for longer', async () => {
    const hold = newLimited(20_000)
    renewer.all({ kind: 'held', leaseMs: 60_000 })
    await clock.pass(5_000)
    expect(hold.remainingMs()).toBeCloseTo(validityMs(17_000) - 2_000)
    await clock.pass(15_000)
    expect(lost).toMatchObject([{ hold, error: { reason: 'expired' } }])
  })

  test('is never renewed if the limit is shorter than a lease', async () => {
    newLimited(4_000)
    await clock.pass(4_000)
    expect(renewer.asked.map(({ leaseMs }) => leaseMs)).toEqual([0])
    expect(lost[0]?.error.message).toMatch(/`maxHoldMs` of 4000 ms/)
  })

  test('repeats a renewal without an answer, for the rest of its time', async () => {
    newLimited(20_000)
    await clock.pass(10_000)
    renewer.all(UNKNOWN)
    await clock.pass(3_500)
    const last = renewer.asked.slice(3)
    expect(last.map(({ at, leaseMs }) => at + leaseMs)).toEqual(last.map(() => 20_000))
    expect(last.length).toBeGreaterThan(1)
  })

  test('does not report the limit as the reason if it is lost earlier without answers', async () => {
    newLimited(60_000)
    renewer.all(UNKNOWN)
    await clock.pass(LEASE_MS)
    expect(lost[0]?.error.message).toMatch(
      /the renewed lease was last confirmed \d+ ms ago, and was valid for 8808 ms/,
    )
  })
})

describe('holds with leases of several lengths', () => {
  const asks = (leaseMs: number) => renewer.asked.filter((one) => one.leaseMs === leaseMs)

  test('are renewed every third of their own lease, with one request for each length', async () => {
    const own = newWatched()
    const short = [newWatched(3_000), newWatched(3_000)]
    await clock.pass(LEASE_MS)
    expect(asks(LEASE_MS).map(({ at }) => at)).toEqual([3_000, 6_000, 9_000])
    expect(asks(LEASE_MS).at(-1)).toMatchObject({ holds: [own], timeoutMs: 3_000 })
    expect(asks(3_000).map(({ at }) => at)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((s) => s * 1_000),
    )
    expect(asks(3_000).at(-1)).toMatchObject({ holds: short, timeoutMs: 1_000 })
    expect(lost).toEqual([])
    expect(short[0]?.remainingMs()).toBeCloseTo(validityMs(3_000))
  })

  test('use one timer for each length, which ends a turn after the last hold', async () => {
    newWatched()
    const before = jest.getTimerCount()
    const short = [newWatched(3_000), newWatched(3_000), newWatched(3_000)]
    expect(jest.getTimerCount()).toBe(before + 1)
    for (const hold of short) release(hold)
    await clock.pass(1_000)
    expect(jest.getTimerCount()).toBe(before)
    newWatched(3_000)
    await clock.pass(1_000)
    expect(asks(3_000)).toHaveLength(1)
  })

  test('repeat a renewal without an answer in the rhythm of their own lease', async () => {
    renewer.all(UNKNOWN)
    newWatched(3_000)
    await clock.pass(1_700)
    expect(asks(3_000).map(({ at }) => at)).toEqual([1_000, 1_300, 1_600])
  })

  test('are renewed for their new lease when the lease changes', async () => {
    const hold = newWatched()
    hold.renewMs = 3_000
    watchdog.watch(hold)
    await clock.pass(THIRD_MS)
    expect(renewer.asked.map(({ leaseMs, at }) => [leaseMs, at])).toEqual([
      [3_000, 1_000],
      [3_000, 2_000],
      [3_000, 3_000],
    ])
    expect(lost).toEqual([])
  })
})

test('a reconnect verifies every hold at once, without a wait for a tick', async () => {
  const watched = newWatched()
  const fixed = newHold()
  renewer.answer = ({ holds }) =>
    holds.map((hold) => (hold === fixed ? { kind: 'lost' } : { kind: 'renewed', leaseMs: 9_000 }))
  watchdog.verifyAll()
  await clock.pass(0)
  expect(renewer.asked).toHaveLength(2)
  expect(lost).toMatchObject([{ hold: fixed, error: { reason: 'gone' } }])
  expect(watched.live).toBe(true)
})

test('no timer is left when nothing is held, or after `close()`', async () => {
  const hold = newWatched()
  await clock.pass(THIRD_MS)
  release(hold)
  await clock.pass(THIRD_MS)
  expect(jest.getTimerCount()).toBe(0)
  newWatched()
  newHold()
  watchdog.untrackAll()
  await clock.pass(THIRD_MS)
  expect(jest.getTimerCount()).toBe(0)
})
