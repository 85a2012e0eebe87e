import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { HandOverBudget } from '../../src/local/hand-over-budget.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { faults } from '../support/request-faults.ts'
import {
  acquirePermits,
  acquireSemaphore,
  handOverPermits,
  handOverSemaphore,
} from '../support/scripts.ts'
import { allAreBack } from './permits.ts'
import { leastMs, listening, queued, scriptsRun, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

/** Shorter than the second after which a waiter checks again without a message. */
const AT_ONCE_MS = 900

/** Both kinds of semaphores, with the same methods. */
interface Kind {
  kind: string
  acquireScript: { readonly sha1: string }
  handOverScript: { readonly sha1: string }
  set(client: Holdfast, permits: number): Promise<unknown>
  /** @returns a function that releases the permits */
  acquire(client: Holdfast, wait?: Wait): Promise<() => Promise<unknown>>
  available(client: Holdfast): Promise<number>
}

interface Wait {
  permits?: number
  waitMs?: number
  signal?: AbortSignal
}

const kinds: Kind[] = [
  {
    kind: 'without leases',
    acquireScript: acquireSemaphore,
    handOverScript: handOverSemaphore,
    set: (client, permits) => client.getSemaphore('it').trySetPermits(permits),
    acquire: async (client, wait = {}) => {
      const semaphore = client.getSemaphore('it')
      await semaphore.acquire(wait)
      return () => semaphore.release(wait.permits)
    },
    available: (client) => client.getSemaphore('it').availablePermits(),
  },
  {
    kind: 'with leases',
    acquireScript: acquirePermits,
    handOverScript: handOverPermits,
    set: (client, permits) => client.getPermitExpirableSemaphore('it').setPermits(permits),
    acquire: async (client, wait = {}) => {
      const permit = await client.getPermitExpirableSemaphore('it').acquire(wait)
      return () => permit.release()
    },
    available: (client) => client.getPermitExpirableSemaphore('it').availablePermits(),
  },
]

/** Makes turns endless, so that each release may hand its permits over. */
const turnsNeverEnd = () =>
  jest.spyOn(HandOverBudget.prototype, 'isUsedUp', 'get').mockReturnValue(false)

afterEach(() => jest.restoreAllMocks())

/** Waits until the waiters have sent a request, listen, and have checked once more. */
async function sleeps(clients = 1): Promise<void> {
  await queued(rig, clients)
  await listening(rig, clients)
  await pause(60)
}

describe.each(kinds)('permits $kind', (kind) => {
  const { set, acquire, available } = kind

  test('a hand-over between calls of one client needs one script', async () => {
    turnsNeverEnd()
    const client = rig.client()
    await set(client, 1)
    const release = await acquire(client)
    const all = Array.from({ length: 40 }, async () => (await acquire(client))())
    await sleeps()
    const [before, since] = [await scriptsRun(rig), performance.now()]
    await release()
    await within(5_000, Promise.all(all))
    // A waiter whose turn takes longer than a second sends one more request. With two scripts for each waiter there
    // would be 80.
    const more = 10 + 2 * Math.ceil((performance.now() - since) / 1_000)
    expect((await scriptsRun(rig)) - before).toBeLessThanOrEqual(41 + more)
    expect(await available(client)).toBe(1)
  })

  test('if other clients wait, a hand-over needs two scripts', async () => {
    const clients = [rig.client(), rig.client(), rig.client()]
    const [first] = clients as [Holdfast, ...Holdfast[]]
    await set(first, 1)
    const release = await acquire(first)
    const all: Promise<unknown>[] = []
    for (let i = 0; i < 30; i++) {
      all.push(acquire(clients[i % 3] as Holdfast).then((letGo) => letGo()))
      // The order of the first waits is known to the server.
      if (i < 3) await queued(rig, i + 1)
    }
    await sleeps(3)
    const [before, since] = [await scriptsRun(rig), performance.now()]
    await release()
    await within(5_000, Promise.all(all))
    const more = 6 * Math.ceil((performance.now() - since) / 1_000)
    expect((await scriptsRun(rig)) - before).toBeLessThanOrEqual(31 * 2 + more)
  })

  test('a client does not overtake another client that has waited longer', async () => {
    turnsNeverEnd()
    const [client, other] = [rig.client(), rig.client()]
    await set(client, 1)
    const release = await acquire(client)
    const order: number[] = []
    const whose = [client, other, client, client, other, client]
    const all = []
    for (const [i, one] of whose.entries()) {
      const serve = async () => {
        const letGo = await acquire(one)
        order.push(i)
        await letGo()
      }
      all.push(serve())
      await available(one)
      await pause(60)
    }
    await sleeps(2)
    await release()
    await within(5_000, Promise.all(all))
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('a client of Redisson has a chance after a limited number of hand-overs', async () => {
    const client = rig.client()
    await set(client, 1)
    const messages: string[] = []
    const java = rig.server.admin.duplicate()
    java.on('message', (_, message) => messages.push(message))
    await java.subscribe('redisson_sc:{it}')
    const each = async () => {
      for (let i = 0; i < 40; i++) await (await acquire(client))()
    }
    await Promise.all(Array.from({ length: 10 }, each))
    java.disconnect()
    // A turn has at most 64 hand-overs. After each turn, the permit is available for a moment.
    expect(messages.filter((message) => message === '01').length).toBeGreaterThanOrEqual(5)
  })

  test.each(faults)('a hand-over counts once when $fault', async ({ action, releases }) => {
    turnsNeverEnd()
    const [client, witness] = [rig.client({ commandTimeoutMs: scaledMs(120) }), rig.witness()]
    await set(witness, 1)
    const release = await acquire(client)
    const next = acquire(client)
    await sleeps()
    const trap = rig.proxy.onNextRequest(kind.handOverScript.sha1, action)
    const released = outcome(release())
    await within(20_000, trap.seen)
    const releaseNext = await within(10_000, next)
    expect((await within(10_000, released)).error).toBeUndefined()
    expect(await available(witness)).toBe(0)
    if (releases === 'while held') {
      trap.release()
      await trap.done
      await never(async () => (await available(witness)) !== 0, 20)
    }
    await releaseNext()
    if (releases === 'when all is released') {
      trap.release()
      await trap.done
      await never(async () => (await available(witness)) > 1, 30)
    }
    await eventually(async () => (await available(witness)) === 1)
    await client.close()
    expect(await available(witness)).toBe(1)
  })

  test('a hand-over that arrives after its repeats changes nothing', async () => {
    const turns = turnsNeverEnd()
    const [client, witness] = [rig.client({ commandTimeoutMs: 10_000 }), rig.witness()]
    await set(witness, 1)
    const release = await acquire(client)
    const next = acquire(client)
    await sleeps()
    const trap = rig.proxy.onNextRequest(kind.handOverScript.sha1, 'cutBefore')
    const released = release()
    const delayed = await trap.seen
    // Instead of the hand-over, the release and the request of the waiter are sent one after the other.
    turns.mockReturnValue(true)
    const releaseNext = await within(10_000, next)
    await within(10_000, released)
    await releaseNext()
    // With these requests, the client tells the server which results it may forget.
    for (let i = 0; i < 2; i++) await (await acquire(client))()
    expect(await available(witness)).toBe(1)
    // With leases, the late request may acquire permits. The client releases them after the deadline of the request.
    if (kind.kind === 'with leases') return
    await rig.proxy.replay(delayed)
    expect(await available(witness)).toBe(1)
  })

  test.each(['cutAfter', 'mute', 'hold', 'holdReply'] as const)(
    'an abort of the waiter during the hand-over leaves no permit taken: %s',
    async (action) => {
      turnsNeverEnd()
      const [client, witness] = [rig.client(), rig.witness()]
      await set(witness, 1)
      const release = await acquire(client)
      const abort = new AbortController()
      const next = outcome(acquire(client, { signal: abort.signal }))
      await sleeps()
      const trap = rig.proxy.onNextRequest(kind.handOverScript.sha1, action)
      const released = outcome(release())
      await trap.seen
      abort.abort(new Error('enough'))
      expect((await next).error).toEqual(new Error('enough'))
      trap.release()
      await trap.done
      expect((await within(10_000, released)).error).toBeUndefined()
      await eventually(async () => (await available(witness)) === 1)
      await never(async () => (await available(witness)) > 1, 30)
    },
  )

  test('a waiter whose time ends during the hand-over gets nothing, and leaves no permit taken', async () => {
    turnsNeverEnd()
    const [client, witness] = [rig.client({ commandTimeoutMs: 3_000 }), rig.witness()]
    await set(witness, 1)
    const release = await acquire(client)
    const next = outcome(acquire(client, { waitMs: 600 }))
    await sleeps()
    const trap = rig.proxy.onNextRequest(kind.handOverScript.sha1, 'holdReply')
    const released = release()
    expect((await within(2_000, next)).error).toMatchObject({ code: 'HOLDFAST_WAIT_TIMEOUT' })
    trap.release()
    await within(5_000, released)
    await eventually(async () => (await available(witness)) === 1)
  })

  test('`close()` during a hand-over leaves no permit taken', async () => {
    turnsNeverEnd()
    const [client, witness] = [rig.client({ commandTimeoutMs: 3_000 }), rig.witness()]
    await set(witness, 1)
    const release = await acquire(client)
    const next = outcome(acquire(client))
    await sleeps()
    const trap = rig.proxy.onNextRequest(kind.handOverScript.sha1, 'holdReply')
    const released = outcome(release())
    await trap.seen
    const closed = client.close()
    expect((await next).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    trap.release()
    await within(10_000, Promise.all([closed, released]))
    await eventually(async () => (await available(witness)) === 1)
  })

  test('a message before the answer wakes the waiter that the answer gives the place to', async () => {
    const [client, witness] = [rig.client({ commandTimeoutMs: 5_000 }), rig.witness()]
    await set(witness, 2)
    const once = async () => {
      const releases = [await acquire(witness), await acquire(witness)]
      const served = [acquire(client), acquire(client)]
      await sleeps()
      const trap = rig.proxy.onNextRequest(kind.acquireScript.sha1, 'holdReply')
      await releases[0]?.()
      await trap.seen
      // The server has granted the first permit. Now a second permit becomes available, and the server sends a message.
      await eventually(async () => (await available(witness)) === 0)
      await releases[1]?.()
      await pause(50)
      const from = performance.now()
      trap.release()
      const all = await Promise.all(served)
      const tookMs = performance.now() - from
      for (const release of all) await release()
      expect(await available(witness)).toBe(2)
      return tookMs
    }
    expect(await leastMs(once)).toBeLessThan(AT_ONCE_MS)
  })

  test('a waiter that gives up before it asks leaves no place behind', async () => {
    const [client, other, witness] = [rig.client(), rig.client(), rig.witness()]
    await set(witness, 1)
    const release = await acquire(witness)
    const abort = new AbortController()
    const first = acquire(client)
    await sleeps()
    const second = outcome(acquire(client, { signal: abort.signal }))
    const third = acquire(other)
    await sleeps(2)
    const trap = rig.proxy.onNextRequest(kind.acquireScript.sha1, 'holdReply')
    await release()
    await trap.seen
    // With the grant, the place of the client has passed to the second waiter.
    await pause(50)
    abort.abort(new Error('enough'))
    trap.release()
    expect((await second).error).toEqual(new Error('enough'))
    await (await within(AT_ONCE_MS, first))()
    await (await within(AT_ONCE_MS, third))()
    expect(await available(witness)).toBe(1)
  })
})

test('the error of a waiter that sent no request names the holder', async () => {
  turnsNeverEnd()
  const client = rig.client({ label: 'mine' })
  const semaphore = client.getPermitExpirableSemaphore('it')
  await semaphore.setPermits(1)
  const permit = await semaphore.acquire()
  const first = semaphore.acquire()
  await sleeps()
  const second = outcome(semaphore.acquire({ waitMs: 400 }))
  await pause(20)
  await permit.release()
  const served = await within(AT_ONCE_MS, first)
  const { error } = await second
  expect(error).toMatchObject({ code: 'HOLDFAST_WAIT_TIMEOUT' })
  expect(String(error)).toContain('this client')
  await served.release()
  await allAreBack(rig.server, 1)
})
