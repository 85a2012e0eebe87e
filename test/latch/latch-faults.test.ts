import { setTimeout as pause } from 'node:timers/promises'
import type { CountDownLatch, HoldfastOptions } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, outcome, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import type { Action } from '../support/proxy.ts'
import { type Fault, faults } from '../support/request-faults.ts'
import { countDown, deleteCount, lookAtLatch, setCount } from '../support/scripts.ts'
import { takes } from '../support/takes.ts'

const rig = faultRig()

/**
 * In milliseconds: long after the first check without a message, and before the client replaces a dead connection for
 * messages.
 */
const SOON_MS = 3_000

/** Longer than the client's possible error about the server's clock on this machine, in milliseconds. */
const BEYOND_DOUBT_MS = 150

/** The ways in which a copy of a request arrives. */
const COPIES: Action[] = ['duplicate', 'hold']

/** With this limit, the client soon gives up a request that the proxy holds back. */
const HASTY = { commandTimeoutMs: scaledMs(100) }

/** Returns a latch behind the proxy, and the same latch of a client with a direct connection. */
function pair(options?: Omit<HoldfastOptions, 'redis'>, name = 'it') {
  const client = rig.client(options)
  const mine = client.getCountDownLatch(name)
  return { client, mine, theirs: rig.witness().getCountDownLatch(name) }
}

const listening = (clients = 1, name = 'it') =>
  eventually(async () => {
    const channel = `redisson_countdownlatch__channel__{${name}}`
    const [, count] = (await rig.server.admin.pubsub('NUMSUB', channel)) as [string, number]
    return Number(count) === clients
  })

/** Waits until the waiting client checks again only after a message, or after its own timer. */
const hears = async () => {
  await listening()
  await eventually(() => rig.proxy.count(lookAtLatch.sha1) >= 2)
}

/** Returns all keys of latches, except the results of requests. */
const keys = async () =>
  (await lastingKeys(rig.server.admin)).filter((key) => !key.startsWith('holdfast_request:'))

interface Operation {
  operation: string
  script: { readonly sha1: string }
  /** The count before the operation; 0 means that no count is set. */
  before: number
  act: (latch: CountDownLatch) => Promise<unknown>
  answer: unknown
  /** The count after the operation. */
  after: number
}

/** Returns the current round, without the proxy. */
const roundNow = async ({ name }: CountDownLatch) =>
  Number(await rig.server.admin.get(`holdfast_round:{${name}}`))

const operations: Operation[] = [
  {
    operation: 'a count-down for one round',
    script: countDown,
    before: 3,
    act: async (latch) => latch.countDown({ round: await roundNow(latch) }),
    answer: 2,
    after: 2,
  },
  {
    operation: 'the last count-down for one round',
    script: countDown,
    before: 1,
    act: async (latch) => latch.countDown({ round: await roundNow(latch) }),
    answer: 0,
    after: 0,
  },
  {
    operation: 'a count-down for a round that is over',
    script: countDown,
    before: 2,
    act: (latch) => latch.countDown({ round: 17 }),
    answer: null,
    after: 2,
  },
  {
    operation: 'a `delete()` for one round',
    script: deleteCount,
    before: 2,
    act: async (latch) => latch.delete({ round: await roundNow(latch) }),
    answer: true,
    after: 0,
  },
  {
    operation: 'a count-down',
    script: countDown,
    before: 3,
    act: (latch) => latch.countDown(),
    answer: 2,
    after: 2,
  },
  {
    operation: 'the last count-down',
    script: countDown,
    before: 1,
    act: (latch) => latch.countDown(),
    answer: 0,
    after: 0,
  },
  {
    operation: 'a count-down of an open latch',
    script: countDown,
    before: 0,
    act: (latch) => latch.countDown(),
    answer: 0,
    after: 0,
  },
  {
    operation: 'a `trySetCount()`',
    script: setCount,
    before: 0,
    act: (latch) => latch.trySetCount(4),
    answer: true,
    after: 4,
  },
  {
    operation: 'a `trySetCount()` of a count that is set',
    script: setCount,
    before: 2,
    act: (latch) => latch.trySetCount(4),
    answer: false,
    after: 2,
  },
  {
    operation: 'a `delete()`',
    script: deleteCount,
    before: 2,
    act: (latch) => latch.delete(),
    answer: true,
    after: 0,
  },
  {
    operation: 'a `delete()` without a count',
    script: deleteCount,
    before: 0,
    act: (latch) => latch.delete(),
    answer: false,
    after: 0,
  },
]

describe.each(operations)('$operation', ({ operation, script, before, act, answer, after }) => {
  // A copy of a call that changes nothing may run a second time.
  const isIdle = after === before || answer === false
  const cells: readonly Fault[] = faults.filter(({ action }) => !isIdle || COPIES.includes(action))
  test.each(cells)('counts once, and does not change the next round, when $fault', async (cell) => {
    const { mine, theirs } = pair(HASTY, `${operation}: ${cell.fault}`)
    // Connects the client. After some answers, the client knows the server's clock, even if one answer is late.
    for (let i = 0; i < 5; i++) await mine.count()
    if (before > 0) await theirs.trySetCount(before)
    const trap = rig.proxy.onNextRequest(script.sha1, cell.action)
    expect(await within(3_500, act(mine))).toBe(answer)
    await trap.seen
    expect(await theirs.count()).toBe(after)
    if (cell.releases === 'while held') {
      trap.release()
      await trap.done
      // The held request reaches the server before this check.
      expect(await theirs.count()).toBe(after)
    }
    await theirs.delete()
    // Redis does not remember a call without an effect.
    if (before === 0 && script === countDown) await pause(BEYOND_DOUBT_MS)
    if (script !== setCount) expect(await theirs.trySetCount(7)).toBe(true)
    if (cell.releases === 'when all is released') {
      trap.release()
      await trap.done
    }
    expect(await theirs.count()).toBe(script === setCount ? 0 : 7)
    await theirs.delete()
    expect(await keys()).toEqual([])
  })
})

test.each(['cutBefore', 'cutAfter', 'mute'] as const)(
  'a check whose answer is lost (%s) is repeated',
  async (action) => {
    const { mine, theirs } = pair(HASTY)
    await theirs.trySetCount(1)
    for (const [ask, answer] of [
      [() => mine.count(), 1],
      [() => mine.await({ waitMs: 1_000 }), false],
    ] as const) {
      const trap = rig.proxy.onNextRequest(lookAtLatch.sha1, action)
      expect(await within<unknown>(3_500, ask())).toBe(answer)
      await trap.seen
    }
    await theirs.delete()
  },
)

test('a count-down that was not sent before its round ended does not change the next round', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(1)
  await mine.count()
  const trap = rig.proxy.onNextRequest(countDown.sha1, 'cutBefore')
  const counting = mine.countDown()
  await trap.seen
  rig.proxy.refuse()
  await theirs.countDown()
  await pause(BEYOND_DOUBT_MS)
  await theirs.trySetCount(5)
  await rig.proxy.heal()
  expect(await within(3_500, counting)).toBe(0)
  expect(await theirs.count()).toBe(5)
  await theirs.delete()
})

test('a count-down right after the count is set counts every time', async () => {
  const { mine, theirs } = pair()
  for (let i = 0; i < 50; i++) {
    expect(await theirs.trySetCount(2)).toBe(true)
    const cut = i % 10 === 0 ? rig.proxy.onNextRequest(countDown.sha1, 'cutAfter') : undefined
    expect(await mine.countDown()).toBe(1)
    await cut?.seen
    expect(await theirs.countDown()).toBe(0)
  }
})

test('a hundred count-downs whose answers are lost count a hundred times, and each returns its own count', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(101)
  await mine.count()
  const lost = rig.proxy.dropReplies()
  const counting = Array.from({ length: 100 }, () => mine.countDown())
  await eventually(async () => (await theirs.count()) === 1)
  await pause(250)
  lost.heal()
  const left = await within(3_900, Promise.all(counting))
  expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
  expect(await theirs.countDown()).toBe(0)
  expect(await keys()).toEqual([])
})

test('a waiter checks the latch again when the last message is lost', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(1)
  const waiting = mine.await()
  await hears()
  rig.proxy.blackHole({ only: 'subscriber' })
  await theirs.countDown()
  expect(await within(SOON_MS, waiting)).toBe(true)
})

test('a waiter without a message checks the latch less and less often', async () => {
  // The client repeats a check without an answer, but only after the end of this test.
  const { mine, theirs } = pair({ commandTimeoutMs: 5_000 })
  await theirs.trySetCount(1)
  let waiting: Promise<boolean> | undefined
  // The checks come at once, after the confirmation of the subscription, and after about 0.5 s and 1.5 s. They do not
  // come every 100 ms.
  await takes({ atLeast: 1_000 }, async () => {
    waiting = mine.await()
    await listening()
    await eventually(() => rig.proxy.count(lookAtLatch.sha1) >= 4)
  })
  // The next check would come after at least 1.5 s. So the message wakes the waiter.
  await theirs.countDown()
  expect(await within(1_000, waiting as Promise<boolean>)).toBe(true)
})

test.each([
  ['a count of Holdfast', (theirs: CountDownLatch) => theirs.trySetCount(1)],
  ['a count of Redisson', () => rig.server.admin.set('it', '1')],
])(
  'with %s, a waiter continues when all messages of its round are lost and the count is set again',
  async (_, set) => {
    const { mine, theirs } = pair()
    await set(theirs)
    const waiting = mine.await()
    await hears()
    rig.proxy.blackHole({ only: 'subscriber' })
    await theirs.countDown()
    await theirs.trySetCount(3)
    expect(await within(SOON_MS, waiting)).toBe(true)
    const next = mine.await({ waitMs: 700 })
    expect(await next).toBe(false)
    await theirs.delete()
  },
)

test('a round that the server has forgotten continues', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(1)
  const waiting = outcome(mine.await({ waitMs: 900 }))
  await listening()
  await rig.server.admin.del('holdfast_round:{it}')
  expect((await waiting).value).toBe(false)
  const asked = mine.await()
  await theirs.countDown()
  expect(await within(2_000, asked)).toBe(true)
})

test('ten thousand waiters share one subscription, and one message wakes them', async () => {
  // The waiters keep the process busy for so long that answers are late.
  const { mine, theirs } = pair({ commandTimeoutMs: 10_000, outageMs: 20_000 })
  await theirs.trySetCount(1)
  await mine.count()
  const looks = rig.proxy.count(lookAtLatch.sha1)
  const waiting = Array.from({ length: 10_000 }, (_, i) =>
    mine.await(i % 2 === 0 ? {} : { waitMs: 60_000 }),
  )
  await listening()
  await theirs.countDown()
  const all = await within(10_000, Promise.all(waiting))
  expect(all.every((isOpen) => isOpen)).toBe(true)
  expect(rig.proxy.count('SUBSCRIBE')).toBe(1)
  expect(rig.proxy.count(lookAtLatch.sha1) - looks).toBeLessThanOrEqual(6)
})

test('a waiter checks the latch after its connection for messages reconnects', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(1)
  const waiting = mine.await()
  await listening()
  rig.proxy.cut('subscriber')
  await theirs.countDown()
  expect(await within(1_000, waiting)).toBe(true)
})

test('a waiter receives the messages of Redisson about a last count-down and a delete', async () => {
  const { mine } = pair()
  const { admin } = rig.server
  for (const message of ['0', '1']) {
    await admin.set('it', '1')
    const waiting = mine.await()
    await listening()
    await admin.del('it')
    await admin.publish('redisson_countdownlatch__channel__{it}', message)
    expect(await within(1_000, waiting)).toBe(true)
    await listening(0)
  }
})

test('a server that restarts empty has no count, so the latch is open', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(1)
  const waiting = mine.await()
  await listening()
  await rig.server.restart()
  expect(await within(4_000, waiting)).toBe(true)
})

describe('an outage', () => {
  test('rejects all calls and waits, even when their time is up, and opens no latch', async () => {
    const { mine, theirs } = pair({ outageMs: 800 })
    await theirs.trySetCount(2)
    await mine.count()
    const before = mine.await()
    await listening()
    const stopped = rig.proxy.blackHole({ onHeal: 'deliver' })
    const asks: Promise<unknown>[] = [
      before,
      mine.await(),
      mine.await({ waitMs: 60_000 }),
      mine.await({ waitMs: 300 }),
      mine.count(),
      mine.inspect(),
      mine.countDown(),
    ]
    const asked = await within(4_000, Promise.all(asks.map((ask) => outcome(ask))))
    for (const { error } of asked) {
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' })
      expect(String(error)).toMatch(
        /Latch "it": .* gave no answer for \d+ ms .*It is unknown if the latch is open/,
      )
    }
    expect(String(asked.at(-1)?.error)).toContain('this call may have counted it down once')
    stopped.heal()
    await pause(300)
    // The call counted at most once, even if requests arrive late.
    expect(await theirs.count()).toBeGreaterThanOrEqual(1)
    await theirs.delete()
  })

  test('has an error that says that nothing changed, if no request was sent', async () => {
    const { mine, theirs } = pair({ outageMs: 300 })
    await theirs.trySetCount(2)
    rig.proxy.refuse()
    for (const [ask, words] of [
      [mine.countDown(), 'Latch "it": not counted down: '],
      [mine.trySetCount(1), 'Latch "it": its count was not set: '],
      [mine.delete(), 'Latch "it": not deleted: '],
    ] as const) {
      const { error } = await outcome<unknown>(ask)
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      expect(String(error)).toContain(words)
    }
    expect(await theirs.countDown()).toBe(1)
    await theirs.countDown()
  })

  test('the server refuses a request that arrives after its caller has given up', async () => {
    const { mine, theirs } = pair({ outageMs: 1_000 })
    await theirs.trySetCount(2)
    await mine.count()
    const trap = rig.proxy.onNextRequest(countDown.sha1, 'cutBefore')
    const counting = outcome(mine.countDown())
    const lost = await trap.seen
    rig.proxy.refuse()
    expect(String((await counting).error)).toContain('this call may have counted it down once')
    await pause(300)
    expect(await rig.proxy.replay(lost)).toContain('forgotten')
    expect(await theirs.count()).toBe(2)
    await theirs.delete()
  })
})

test('`close()` waits for count-downs in progress', async () => {
  const { client, mine, theirs } = pair()
  await theirs.trySetCount(2)
  await mine.count()
  rig.proxy.delay(40)
  const counting = mine.countDown()
  await client.close()
  expect(await counting).toBe(1)
  await theirs.delete()
})

test('`close()` in an outage rejects count-downs, and the error says that the outcome is unknown', async () => {
  const { client, mine, theirs } = pair()
  await theirs.trySetCount(2)
  await mine.count()
  rig.proxy.blackHole({ onHeal: 'drop' })
  const counting = outcome(mine.countDown())
  await within(3_000, client.close())
  const { error } = await within(2_000, counting)
  expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
  expect(String(error)).toContain('this call may have counted it down once')
  await theirs.delete()
})

test('Redis keeps the outcomes of requests for less than a minute', async () => {
  const { mine } = pair({ outageMs: 3_600_000 })
  await mine.trySetCount(3)
  await mine.countDown()
  const kept = await rig.server.admin.keys('holdfast_request:*')
  expect(kept.length).toBe(2)
  for (const key of kept) expect(await rig.server.admin.pttl(key)).toBeLessThan(60_000)
  await mine.delete()
  await rig.server.flush()
})

test('a waiter that gives up ends its subscription and its checks', async () => {
  const { mine, theirs } = pair()
  await theirs.trySetCount(1)
  await mine.count()
  const waiting = mine.await({ waitMs: 600 })
  expect(await waiting).toBe(false)
  await listening(0)
  const looks = rig.proxy.count(lookAtLatch.sha1)
  await never(() => rig.proxy.count(lookAtLatch.sha1) > looks, 700)
  await theirs.delete()
})

test('a wait that ends before the first answer rejects, because the latch may have been open', async () => {
  const { mine } = pair()
  const look = rig.proxy.onNextRequest(lookAtLatch.sha1, 'holdReply')
  const { error } = await outcome(mine.await({ waitMs: 40 }))
  expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  expect(String(error)).toMatch(/not seen to open within 40 ms/)
  look.release()
})
