import { setTimeout as pause } from 'node:timers/promises'
import type { Semaphore } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { faults } from '../support/request-faults.ts'
import { acquireSemaphore, releaseSemaphore, setSemaphore } from '../support/scripts.ts'
import { takes } from '../support/takes.ts'
import { expectWarnings } from '../support/warnings.ts'
import { leftIn, listening, placesIn, queued, semaphoreOf, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

/** A request of a client behind the proxy, and how many of ten permits are available after it. */
interface Operation {
  operation: string
  script: { readonly sha1: string }
  after: number
  act: (semaphore: Semaphore, theirs: Semaphore) => Promise<void>
  /** Undoes the request, so that ten permits are available again. */
  undo: (semaphore: Semaphore) => Promise<unknown>
}

const operations: Operation[] = [
  {
    operation: 'an acquisition',
    script: acquireSemaphore,
    after: 7,
    act: (semaphore) => semaphore.acquire(3),
    undo: (semaphore) => semaphore.release(3),
  },
  {
    operation: 'a release',
    script: releaseSemaphore,
    after: 13,
    act: (semaphore) => semaphore.release(3),
    undo: (semaphore) => semaphore.acquire(3),
  },
]

describe.each(operations)('$operation', ({ script, after, act, undo }) => {
  test.each(faults)('the call counts once when $fault', async ({ action, releases }) => {
    const client = rig.client({ commandTimeoutMs: scaledMs(120) })
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(10)
    // Connects the client.
    expect(await semaphore.availablePermits()).toBe(10)
    const trap = rig.proxy.onNextRequest(script.sha1, action)
    await within(10_000, act(semaphore, theirs))
    await trap.seen
    expect(await theirs.availablePermits()).toBe(after)
    if (releases === 'while held') {
      trap.release()
      await trap.done
      expect(await theirs.availablePermits()).toBe(after)
    }
    await undo(semaphore)
    if (releases === 'when all is released') {
      trap.release()
      await trap.done
      await never(async () => (await theirs.availablePermits()) !== 10, 30)
    }
    expect(await theirs.availablePermits()).toBe(10)
    await client.close()
    expect(await placesIn(rig)).toEqual([])
  })
})

test.each(faults)(
  'a change is made once, and returns what it did, when $fault',
  async ({ action }) => {
    const semaphore = semaphoreOf(rig.client({ commandTimeoutMs: scaledMs(120) }))
    const theirs = semaphoreOf(rig.witness())
    expect(await semaphore.availablePermits()).toBe(0)
    const meets = async <T>(change: Promise<T>) => {
      const result = await within(10_000, change)
      trap.release()
      await trap.done
      return result
    }
    let trap = rig.proxy.onNextRequest(setSemaphore.sha1, action)
    expect(await meets(semaphore.trySetPermits(10))).toBe(true)
    expect(await semaphore.trySetPermits(5)).toBe(false)
    trap = rig.proxy.onNextRequest(setSemaphore.sha1, action)
    expect(await meets(semaphore.addPermits(-2))).toBe(8)
    expect(await theirs.availablePermits()).toBe(8)
    trap = rig.proxy.onNextRequest(setSemaphore.sha1, action)
    expect(await meets(semaphore.drainPermits())).toBe(8)
    await theirs.release(3)
    expect(await theirs.availablePermits()).toBe(3)
    trap = rig.proxy.onNextRequest(setSemaphore.sha1, action)
    const deleted = await within(10_000, semaphore.delete())
    expect(deleted).toBe(true)
    // The earlier request to delete must not delete the permits that are set now.
    await theirs.trySetPermits(6)
    trap.release()
    await trap.done
    expect(await theirs.availablePermits()).toBe(6)
  },
)

test('a first request that arrives after its repeat changes nothing', async () => {
  const client = rig.client({ commandTimeoutMs: 10_000 })
  const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
  expect(await semaphore.availablePermits()).toBe(0)
  const trap = rig.proxy.onNextRequest(releaseSemaphore.sha1, 'cutBefore')
  const released = semaphore.releaseIfExists(2)
  const delayed = await trap.seen
  expect(await within(10_000, released)).toBe(false)
  await theirs.trySetPermits(3)
  expect(await rig.proxy.replay(delayed)).toContain('none')
  expect(await theirs.availablePermits()).toBe(3)
})

describe('an acquisition that was given up', () => {
  test.each(['cutAfter', 'mute', 'hold', 'holdReply'] as const)(
    'the permits are returned once when the request meets `%s`',
    async (action) => {
      const [semaphore, theirs] = [semaphoreOf(rig.client()), semaphoreOf(rig.witness())]
      await theirs.trySetPermits(3)
      expect(await semaphore.availablePermits()).toBe(3)
      for (const late of [false, true]) {
        const controller = new AbortController()
        const trap = rig.proxy.onNextRequest(acquireSemaphore.sha1, action)
        const aborted = outcome(semaphore.acquire(2, { signal: controller.signal }))
        await trap.seen
        controller.abort(new Error('enough'))
        expect((await aborted).error).toEqual(new Error('enough'))
        // The request arrives before the release of its permits, or after this release and its own deadline.
        if (late) await pause(250)
        trap.release()
        await trap.done
        await eventually(async () => (await theirs.availablePermits()) === 3)
        await never(async () => (await theirs.availablePermits()) > 3, 20)
      }
      await eventually(async () => (await placesIn(rig)).length === 0)
      await eventually(async () => (await theirs.availablePermits()) === 3)
    },
  )

  test('an acquisition that was given up after a wait leaves no permit taken, whenever the grant arrives', async () => {
    const [semaphore, theirs] = [semaphoreOf(rig.client()), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(0)
    for (let i = 0; i < 6; i++) {
      const controller = new AbortController()
      const aborted = outcome(semaphore.acquire(1, { signal: controller.signal }))
      await queued(rig, 1)
      await listening(rig, 1)
      await pause(10)
      const trap = rig.proxy.onNextRequest(acquireSemaphore.sha1, i % 2 ? 'holdReply' : 'hold')
      await theirs.release()
      await trap.seen
      controller.abort(new Error('enough'))
      expect((await aborted).error).toEqual(new Error('enough'))
      trap.release()
      await trap.done
      // These calls use the same connection. They wait for the request, and then for the release of its permit.
      for (let n = 0; n < 2; n++) await semaphore.availablePermits()
      await eventually(async () => (await theirs.availablePermits()) === 1)
      await eventually(async () => (await placesIn(rig)).length === 0)
      await theirs.drainPermits()
    }
  })
})

describe('a Redis server that does not answer', () => {
  test('calls reject with an outage, and never report contention', async () => {
    const client = rig.client({ outageMs: 1_000 })
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    expect(await semaphore.tryAcquire({ permits: 2 })).toBe(false)
    rig.proxy.blackHole({ onHeal: 'drop' })
    const calls = [
      () => semaphore.acquire(),
      () => semaphore.acquire(2),
      () => semaphore.tryAcquire(),
      () => semaphore.tryAcquire({ waitMs: 5_000 }),
      () => semaphore.availablePermits(),
      () => semaphore.inspect(),
      () => semaphore.trySetPermits(1),
    ]
    const asked = await Promise.all(calls.map((call) => outcome<unknown>(call())))
    for (const { error } of asked) expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await rig.proxy.heal()
    await eventually(async () => (await theirs.availablePermits()) === 1)
    await within(5_000, semaphore.acquire())
  })

  test('a release reports that it may have counted, is retried, and counts once', async () => {
    const client = rig.client({ outageMs: 800 })
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    await theirs.trySetPermits(1)
    await semaphore.acquire()
    // The server counts the release, but its reply is lost.
    const replies = rig.proxy.dropReplies({ only: 'commands' })
    const { error } = await outcome(semaphore.release())
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' })
    expect(String(error)).toMatch(/possibly released.*in the background.*do not release again/)
    expect(await theirs.availablePermits()).toBe(1)
    replies.heal()
    await theirs.acquire()
    rig.proxy.blackHole({ onHeal: 'drop' })
    const unsent = await outcome(semaphore.release())
    expect(unsent.error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    expect(await theirs.availablePermits()).toBe(0)
    await rig.proxy.heal()
    await eventually(async () => (await theirs.availablePermits()) === 1)
    await client.close()
    expect(await theirs.availablePermits()).toBe(1)
  })

  test('`using()` reports an unconfirmed release by the event `error`, and retries the release', async () => {
    const client = rig.client({ outageMs: 1_000 })
    const [semaphore, theirs] = [semaphoreOf(client), semaphoreOf(rig.witness())]
    const told: Error[] = []
    client.on('error', (error) => told.push(error))
    await theirs.trySetPermits(1)
    const work = () => {
      rig.proxy.blackHole({ onHeal: 'drop' })
      return 'done'
    }
    expect(await semaphore.using(work)).toBe('done')
    expect(told.map(String).join()).toMatch(/do not release again/)
    await rig.proxy.heal()
    await eventually(async () => (await theirs.availablePermits()) === 1)
  })
})

test('a waiter acquires its permit although a message is lost', async () => {
  const [semaphore, theirs] = [semaphoreOf(rig.client()), semaphoreOf(rig.witness())]
  await theirs.trySetPermits(0)
  const waiting = semaphore.acquire()
  await queued(rig, 1)
  await listening(rig, 1)
  await pause(50)
  const silent = rig.proxy.blackHole({ only: 'subscriber', onHeal: 'drop' })
  await theirs.release()
  await within(4_000, waiting)
  silent.heal()
})

test('a dead first waiter delays other waiters for about 3 s', async () => {
  const [semaphore, theirs] = [semaphoreOf(rig.client()), semaphoreOf(rig.witness())]
  await theirs.trySetPermits(0)
  const dead = outcome(semaphore.acquire())
  await queued(rig, 1)
  const waiting = theirs.acquire()
  await queued(rig, 2)
  rig.proxy.blackHole({ onHeal: 'drop' })
  await theirs.release()
  // If the waiter only sent a request each second, it would acquire the permit after 4 s or later.
  await takes({ atLeast: 500, atMost: 5_000 }, waiting)
  await rig.proxy.heal()
  await theirs.release()
  await within(5_000, dead)
  await eventually(async () => (await placesIn(rig)).length === 0)
})

test('a waiter is served after the server restarted empty and forgot its place', async () => {
  // On a machine that stalls, half a second may pass until a client sets the permits again.
  expectWarnings('HOLDFAST_NO_PERMITS')
  const [semaphore, theirs] = [semaphoreOf(rig.client()), semaphoreOf(rig.witness())]
  await theirs.trySetPermits(0)
  const waiting = semaphore.acquire()
  await queued(rig, 1)
  await rig.server.restart()
  await theirs.trySetPermits(1)
  await within(5_000, waiting)
})

test('the records of a client that closes while Redis is silent have an expiry', async () => {
  // `close()` waits for a silent server for about `commandTimeoutMs`.
  const client = rig.client({ commandTimeoutMs: 1_000, outageMs: 30_000 })
  const semaphore = semaphoreOf(client)
  await semaphore.trySetPermits(2)
  await semaphore.acquire()
  rig.proxy.blackHole({ onHeal: 'drop' })
  await within(5_000, client.close())
  const keys = await leftIn(rig)
  expect(keys.length).toBeGreaterThan(0)
  for (const key of keys) expect(await rig.server.admin.pttl(key)).toBeGreaterThan(0)
  await rig.server.admin.del(...keys)
})
