import { systemClock } from '../../src/kit/clock.ts'
import { HoldfastCountDownLatch } from '../../src/locks/latch/count-down-latch.ts'
import { Latches } from '../../src/locks/latch/latches.ts'
import type { LatchState, RemoteLatch } from '../../src/servers/latch-server.ts'
import { REDIS_WORDS } from '../../src/servers/redis/connection/redis-words.ts'
import { ResponseTime } from '../../src/waiting/response-time.ts'
import { deferred } from '../support/deferred.ts'
import { never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'

/** Returns a latch of a client. The test decides when its checks and count-downs are answered. */
function scene() {
  const looks = [deferred<LatchState>(), deferred<LatchState>()]
  const counts = [deferred<LatchState | null>(), deferred<LatchState | null>()]
  const asked = { looks: 0, counts: 0 }
  const remote: RemoteLatch = {
    read: () => (looks[asked.looks++] ?? looks[1] ?? deferred()).promise,
    countDown: () => (counts[asked.counts++] ?? deferred()).promise,
    trySetCount: async () => true,
    delete: async () => true,
    inspect: async () => ({ count: 0, waiters: 0, round: null }),
    listen: () => ({ confirmed: true, stop: () => {} }),
  }
  const limits = {
    clock: systemClock,
    commandTimeoutMs: 1_000,
    outageMs: 5_000,
    patienceMs: () => 5_000,
    words: REDIS_WORDS,
    responseTime: new ResponseTime(),
    whyDown: () => undefined,
  }
  const latches = new Latches('c', limits)
  const latch = new HoldfastCountDownLatch('it', 'it', remote, latches)
  return { latch, latches, looks, counts }
}

const isSettled = (promise: Promise<unknown>) => {
  const seen = { settled: false }
  promise.then(
    () => {
      seen.settled = true
    },
    () => {
      seen.settled = true
    },
  )
  return seen
}

test('a wait ends when a later count-down of its client opens the latch, before its own check is answered', async () => {
  const { latch, counts } = scene()
  const waiting = latch.await()
  const counted = latch.countDown()
  counts[0]?.resolve({ count: 0, round: 1 })
  expect(await counted).toBe(0)
  expect(await waiting).toBe(true)
})

test('a wait ends with the round that a later count-down of its client counted down', async () => {
  const { latch, looks, counts } = scene()
  const waiting = latch.await()
  const counted = latch.countDown()
  counts[0]?.resolve({ count: 1, round: 1 })
  expect(await counted).toBe(1)
  // This answer does not contain the time at which that round was set.
  looks[0]?.resolve({ count: 5, round: 2 })
  expect(await waiting).toBe(true)
})

test('a wait ends when its round was over before a later count-down of its client', async () => {
  const { latch, looks, counts } = scene()
  const waiting = latch.await()
  const setAt = systemClock.monotonic()
  const counted = latch.countDown()
  // The first check was lost, or its answer is late.
  counts[0]?.resolve({ count: 2, round: 2 })
  expect(await counted).toBe(2)
  looks[0]?.resolve({ count: 2, round: 2, setAt })
  expect(await within(1_000, waiting)).toBe(true)
})

test('the answer to an earlier count-down does not end a wait', async () => {
  const { latch, latches, looks, counts } = scene()
  const counted = latch.countDown()
  const waiting = latch.await()
  const seen = isSettled(waiting)
  counts[0]?.resolve({ count: 0, round: 1 })
  expect(await counted).toBe(0)
  looks[0]?.resolve({ count: 5, round: 2 })
  await never(() => seen.settled, 50)
  await latches.shutDown()
  await expect(waiting).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
})
