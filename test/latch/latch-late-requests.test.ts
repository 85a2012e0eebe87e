import type { CountDownLatch } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, outcome, within } from '../support/fault-rig.ts'
import type { Action } from '../support/proxy.ts'
import { countDown, deleteCount, lookAtLatch } from '../support/scripts.ts'

/** Requests that reach Redis after the latch has opened and its count was set again. */
const rig = faultRig()

/** The delay of a request, in milliseconds: much longer than the latch needs to open and close again. */
const HELD_UP_MS = 120

/** Much longer than the client's possible error about the server's clock on this machine, in milliseconds. */
const BEYOND_DOUBT_MS = 200

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns a latch of a connected client behind the proxy, and the same latch of a client with a direct connection. */
async function pair(options = {}) {
  const mine = rig.client({ commandTimeoutMs: 2_000, ...options }).getCountDownLatch('it')
  const theirs = rig.witness().getCountDownLatch('it')
  await theirs.trySetCount(1)
  // After some answers the client knows the server's clock, even if one answer is late.
  for (let i = 0; i < 5; i++) expect(await mine.count()).toBe(1)
  return { mine, theirs }
}

/** The latch opens, and the next round begins at once. */
async function nextRound(latch: CountDownLatch, count = 3): Promise<void> {
  expect(await latch.countDown()).toBe(0)
  expect(await latch.trySetCount(count)).toBe(true)
}

const changes: [string, { sha1: string }, (latch: CountDownLatch) => Promise<unknown>, unknown][] =
  [
    ['count-down', countDown, (latch) => latch.countDown(), 0],
    ['delete()', deleteCount, (latch) => latch.delete(), false],
  ]

describe.each(changes)('a %s that reaches Redis in the next round', (_, script, act, answer) => {
  test('changes nothing when the network delayed its request', async () => {
    const { mine, theirs } = await pair()
    const trap = rig.proxy.onNextRequest(script.sha1, 'hold')
    const acting = act(mine)
    await trap.seen
    await pause(BEYOND_DOUBT_MS)
    await nextRound(theirs)
    await pause(HELD_UP_MS)
    trap.release()
    expect(await within(3_000, acting)).toBe(answer)
    expect(await theirs.count()).toBe(3)
    await theirs.delete()
  })

  test('changes nothing when the whole connection is slow', async () => {
    const { mine, theirs } = await pair()
    const slow = rig.proxy.blackHole({ onHeal: 'deliver' })
    const acting = act(mine)
    await pause(BEYOND_DOUBT_MS)
    await nextRound(theirs)
    slow.heal()
    expect(await within(3_000, acting)).toBe(answer)
    expect(await theirs.count()).toBe(3)
    await theirs.delete()
  })

  test('changes nothing when the client was still connecting', async () => {
    const { theirs } = await pair()
    rig.proxy.refuse()
    const late = rig.client().getCountDownLatch('it')
    const acting = act(late)
    await pause(BEYOND_DOUBT_MS)
    await nextRound(theirs)
    await rig.proxy.heal()
    expect(await within(3_000, acting)).toBe(answer)
    expect(await theirs.count()).toBe(3)
    await theirs.delete()
  })
})

test('a count-down right after the count is set counts, even when all answers are slow', async () => {
  const { mine, theirs } = await pair()
  await theirs.delete()
  // After a new connection, the client knows little about the server's clock.
  rig.proxy.cut()
  const slow = () => rig.proxy.delay(HELD_UP_MS, { direction: 'toClient' })
  const connecting = slow()
  expect(await mine.count()).toBe(0)
  connecting.heal()
  expect(await theirs.trySetCount(2)).toBe(true)
  slow()
  expect(await within(3_000, mine.countDown())).toBe(1)
  expect(await theirs.count()).toBe(1)
  await theirs.delete()
})

describe('`await()` returns when its round ended before its first check', () => {
  test.each<[string, Action]>([
    ['was delayed', 'hold'],
    ['was lost with its connection', 'cutBefore'],
  ])('because the check %s', async (_, action) => {
    const { mine, theirs } = await pair()
    const trap = rig.proxy.onNextRequest(lookAtLatch.sha1, action)
    const waiting = mine.await()
    await trap.seen
    await pause(BEYOND_DOUBT_MS)
    await nextRound(theirs)
    await pause(HELD_UP_MS)
    trap.release()
    expect(await within(3_000, waiting)).toBe(true)
    expect(await theirs.count()).toBe(3)
    await theirs.delete()
  })

  test('because the connection is slow', async () => {
    const { mine, theirs } = await pair()
    const slow = rig.proxy.blackHole({ onHeal: 'deliver' })
    const waiting = mine.await()
    await pause(BEYOND_DOUBT_MS)
    await nextRound(theirs)
    slow.heal()
    expect(await within(3_000, waiting)).toBe(true)
    await theirs.delete()
  })

  test('because the client was still connecting', async () => {
    const { theirs } = await pair()
    rig.proxy.refuse()
    const waiting = rig.client().getCountDownLatch('it').await()
    await pause(BEYOND_DOUBT_MS)
    await nextRound(theirs)
    await rig.proxy.heal()
    expect(await within(3_000, waiting)).toBe(true)
    await theirs.delete()
  })
})

test('the first check of a call reaches Redis before the next request of its caller', async () => {
  const { mine, theirs } = await pair()
  const from = rig.proxy.requests.length
  const waiting = mine.await()
  expect(await mine.countDown()).toBe(0)
  expect(await theirs.trySetCount(3)).toBe(true)
  expect(await within(3_000, waiting)).toBe(true)
  const [first, second] = rig.proxy.requests.slice(from).map(({ args }) => args[0])
  expect([first, second]).toEqual([lookAtLatch.sha1, countDown.sha1])
  await theirs.delete()
})

test('`await()` waits for a round that began just before the call, however slow its first check is', async () => {
  const { mine, theirs } = await pair()
  for (const heldUpMs of [0, 0, 0, 0, 0, 0, 0, 0, 30, HELD_UP_MS]) {
    await nextRound(theirs, 1)
    const trap = heldUpMs > 0 ? rig.proxy.onNextRequest(lookAtLatch.sha1, 'hold') : undefined
    const waiting = outcome(mine.await({ waitMs: heldUpMs + 80 }))
    await pause(heldUpMs)
    trap?.release()
    // The call returns false, or it rejects if this machine is slow and so the state is unknown.
    expect((await waiting).value).not.toBe(true)
  }
  await theirs.delete()
})

/** No round takes this long, even on a slow machine, in milliseconds. */
const STUCK_MS = 10_000

/** The time limit for all rounds, in milliseconds. These tests do not measure how quick the rounds are. */
const AGES_MS = 120_000

/** Runs parties that wait for each other at the end of each round. One of them starts the next round. */
async function meet(parties: readonly CountDownLatch[], rounds: number): Promise<number> {
  let met = 0
  const party = async (latch: CountDownLatch) => {
    for (let round = 0; round < rounds; round++) {
      await latch.trySetCount(parties.length)
      const opened = latch.await()
      await latch.countDown()
      expect(await within(STUCK_MS, opened)).toBe(true)
      met += 1
    }
  }
  await Promise.all(parties.map(party))
  return met
}

/** Disturbs the network again and again until the meeting ends. */
async function meetWhile<T>(meeting: Promise<T>, disturb: () => Promise<void>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  meeting.then(over, over)
  while (!isOver) await disturb()
  return meeting
}

describe('a cyclic barrier', () => {
  test(
    'completes 200 rounds although some checks are delayed',
    async () => {
      const [slow, quick] = [rig.client(), rig.witness()].map((one) => one.getCountDownLatch('it'))
      const parties = [slow, slow, quick, quick] as CountDownLatch[]
      const met = await meetWhile(meet(parties, 200), async () => {
        const trap = rig.proxy.onNextRequest(lookAtLatch.sha1, 'hold')
        await Promise.race([trap.seen, pause(20)])
        await pause(5)
        trap.cancel()
        trap.release()
      })
      expect(met).toBe(800)
    },
    AGES_MS,
  )

  test(
    'completes 60 rounds although connections break',
    async () => {
      const [mine, theirs] = [rig.client(), rig.witness()].map((one) => one.getCountDownLatch('it'))
      const parties = [mine, mine, theirs] as CountDownLatch[]
      const met = await meetWhile(meet(parties, 60), async () => {
        // Waits until some requests have passed, even on a slow machine.
        const from = rig.proxy.requests.length
        const endsAt = performance.now() + 500
        await eventually(() => rig.proxy.requests.length > from + 30 || performance.now() > endsAt)
        rig.proxy.cut('commands')
      })
      expect(met).toBe(180)
    },
    AGES_MS,
  )
})
