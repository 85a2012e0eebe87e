import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { HandOverBudget } from '../../src/local/hand-over-budget.ts'
import { type Deferred, deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import type { ProxyRequest } from '../support/proxy.ts'

/** One explicit owner that requests a lock several times at the same time. */
const rig = faultRig()

afterEach(() => jest.restoreAllMocks())

/** So long that no request is given up while the test holds it back. */
const LONG_TIMEOUT = { commandTimeoutMs: 5_000 }

async function connectedClient(options = LONG_TIMEOUT): Promise<Holdfast> {
  const client = rig.client(options)
  await granted(await client.getLock('warm').tryLock()).release()
  return client
}

const ownersLock = (client: Holdfast): HoldfastLock =>
  client.getLock('it', { owner: client.owner() })

/** Makes each waiter step back until the returned promise is resolved. After this, no waiter steps back. */
function politeness(): Deferred<void> {
  const over = deferred<void>()
  const polite = jest.spyOn(HandOverBudget.prototype, 'letsOthersAsk', 'get').mockReturnValue(true)
  jest.spyOn(HandOverBudget.prototype, 'stepBack').mockReturnValue(over.promise)
  void over.promise.then(() => polite.mockReturnValue(false))
  return over
}

const isRelease = ({ args }: ProxyRequest) => args[0] === SHA.release || args[0] === SHA.handOver

/**
 * Checks that the lease is valid for `forMs` milliseconds and excludes other clients, and that its release leaves
 * nothing.
 */
async function checkItIsHeld(lease: Lease, forMs = 0): Promise<void> {
  const other = rig.witness().getLock('it')
  await never(async () => {
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    expect(lease.valid).toBe(true)
  }, forMs)
  expect(await other.tryLock()).toBeNull()
  expect(await lease.release()).toBe(true)
  await granted(await other.tryLock(5_000)).release()
}

describe('simultaneous acquisitions of one owner', () => {
  test('are both granted if they do not wait, and Redis counts both', async () => {
    const lock = ownersLock(await connectedClient())
    const [one, two] = (await Promise.all([lock.tryLock(), lock.tryLock()])).map(granted)
    expect(await rig.hash('it')).toEqual({ [one?.owner ?? '']: '2' })
    expect(await lock.holdCount()).toBe(2)
    expect(await one?.release()).toBe(true)
    expect(two?.valid).toBe(true)
    await checkItIsHeld(two as Lease)
  })

  test.each([
    ['wait', ['lock', 'lock']],
    ['wait, and do not wait', ['lock', 'tryLock']],
    ['do not wait, and wait', ['tryLock', 'lock']],
    ['are many', ['lock', 'tryLock', 'lock', 'tryLock', 'tryLock', 'lock']],
  ] as const)('make one hold, which Redis counts down to zero, if they %s', async (_, calls) => {
    const client = await connectedClient()
    const diary = new Diary(client)
    const lock = ownersLock(client)
    const leases = (await Promise.all(calls.map((call) => lock[call]()))).map(granted)
    const tokens = leases.map(({ token }) => token)
    expect(new Set(tokens).size).toBe(1)
    for (let count = leases.length; count > 0; count--) {
      expect(await lock.holdCount()).toBe(count)
      expect(await leases.pop()?.release()).toBe(true)
    }
    expect(await rig.exists('it')).toBe(false)
    expect(diary).toMatchObject({ acquired: tokens.slice(0, 1), lost: [] })
    expect(diary.released).toEqual(diary.acquired)
  })
})

describe('a waiter that steps back while its owner acquires and releases the lock', () => {
  test('gets no hand-off, and acquires the lock with its own request', async () => {
    const lock = ownersLock(await connectedClient())
    const over = politeness()
    const waiting = lock.lock()
    expect(await granted(await lock.tryLock()).release()).toBe(true)
    // The waiter is about to send its own request. With a hand-over, the owner would acquire the lock twice.
    expect(rig.proxy.count(SHA.handOver)).toBe(0)
    over.resolve()
    await checkItIsHeld(await within(5_000, waiting))
  })

  test('keeps the lock when the answer to its own request was lost', async () => {
    const client = await connectedClient({ commandTimeoutMs: 400 })
    const lock = ownersLock(client)
    const over = politeness()
    const waiting = lock.lock()
    const held = granted(await lock.tryLock())
    const release = rig.proxy.onNextRequest(isRelease, 'holdReply')
    const own = rig.proxy.onNextRequest(SHA.acquire, 'cutAfter')
    const releasing = outcome(held.release())
    await release.seen
    over.resolve()
    release.release()
    expect((await releasing).value).toBe(true)
    const lease = await within(5_000, waiting)
    own.cancel()
    await checkItIsHeld(lease, 800)
  })

  test('holds the lock or leaves nothing when the answer to its own request is late', async () => {
    const lock = ownersLock(await connectedClient())
    const over = politeness()
    const waiting = outcome(lock.tryLock(400))
    const held = granted(await lock.tryLock())
    const release = rig.proxy.onNextRequest(isRelease, 'holdReply')
    const own = rig.proxy.onNextRequest(SHA.acquire, 'holdReply')
    const releasing = outcome(held.release())
    await release.seen
    over.resolve()
    release.release()
    expect((await releasing).value).toBe(true)
    const { value } = await within(5_000, waiting)
    own.release()
    if (value) await checkItIsHeld(value, 200)
    await eventually(async () => !(await rig.exists('it')))
  })
})

/** If the request was sent late, the silence was too short for an outage, and the result is null. */
async function isGivenUp(attempt: Promise<{ value?: unknown; error?: unknown }>): Promise<void> {
  const { value, error } = await attempt
  expect(value ?? null).toBeNull()
  if (error !== undefined) expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
}

describe('an attempt that is given up without an answer', () => {
  test('does not release the lock that another attempt of its owner acquired', async () => {
    const lock = ownersLock(await connectedClient())
    const trap = rig.proxy.onNextRequest(SHA.acquire, 'hold')
    const first = outcome(lock.tryLock(100))
    await trap.seen
    const second = outcome(lock.tryLock())
    await isGivenUp(first)
    await never(() => rig.exists('it'), 400) // until the first request may no longer run
    const releases = rig.proxy.count(SHA.release)
    trap.release()
    const lease = granted((await second).value ?? null)
    await eventually(() => rig.proxy.count(SHA.release) > releases)
    await checkItIsHeld(lease, 200)
  })

  test('is released if Redis granted it, whatever another attempt of its owner received', async () => {
    const lock = ownersLock(await connectedClient())
    const trap = rig.proxy.onNextRequest(SHA.acquire, 'holdReply')
    const first = outcome(lock.tryLock(100))
    await trap.seen
    const second = outcome(lock.tryLock())
    await isGivenUp(first)
    trap.release()
    // The lock may still seem to be held for this owner, because of an attempt without a known outcome.
    const { value, error } = await second
    expect(error).toBeUndefined()
    await value?.release()
    await eventually(async () => !(await rig.exists('it')))
    await checkItIsHeld(granted(await lock.tryLock()), 100)
  })

  test('after an abort does not release the lock of a simultaneous attempt of its owner', async () => {
    const lock = ownersLock(await connectedClient({ commandTimeoutMs: 1_500 }))
    const aborting = new AbortController()
    const lost = rig.proxy.onNextRequest(SHA.acquire, 'cutAfter')
    const first = outcome(lock.lock({ signal: aborting.signal }))
    await lost.done
    const second = lock.lock()
    aborting.abort()
    expect((await first).error).toBe(aborting.signal.reason)
    const releases = rig.proxy.count(SHA.release)
    const lease = await within(5_000, second)
    await eventually(() => rig.proxy.count(SHA.release) > releases)
    await checkItIsHeld(lease, 200)
  })

  test('after an abort does not release the lock of a later attempt of its owner', async () => {
    const lock = ownersLock(await connectedClient({ commandTimeoutMs: 400 }))
    const releases = rig.proxy.count(SHA.release)
    const aborting = new AbortController()
    const lost = rig.proxy.onNextRequest(SHA.acquire, 'cutAfter')
    const first = outcome(lock.lock({ signal: aborting.signal }))
    await lost.done
    aborting.abort()
    expect((await first).error).toBe(aborting.signal.reason)
    // From then on, the background settles the first attempt.
    await eventually(() => rig.proxy.count(SHA.release) > releases)
    const lease = await within(5_000, lock.lock())
    // For this long the first request could run, and the client releases what it acquires.
    await checkItIsHeld(lease, 700)
  })

  test('leaves no lock behind if it ended as a re-entry and its request arrives later', async () => {
    const lock = ownersLock(await connectedClient({ commandTimeoutMs: 1_500 }))
    const { seen } = rig.proxy.onNextRequest(SHA.acquire, 'cutBefore')
    const waiting = lock.lock()
    const request = await seen
    // The second request of the waiter is delayed, so that its owner acquires the lock before.
    const over = politeness()
    const first = granted(await lock.tryLock())
    over.resolve()
    const second = await within(5_000, waiting)
    expect(second.token).toBe(first.token)
    expect(await second.release()).toBe(true)
    expect(await first.release()).toBe(true)
    expect(await rig.exists('it')).toBe(false)
    await rig.proxy.replay(request)
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 7_000 })
  })
})

describe('a lock that an abort listener of a lost lease acquires again', () => {
  test('is not released by the release of the lost lease', async () => {
    const client = await connectedClient()
    const diary = new Diary(client)
    const lock = ownersLock(client)
    const lease = granted(await lock.tryLock())
    const anew = deferred<{ asked: Promise<Lease | null> }>()
    let lost: number[] = []
    lease.signal.addEventListener('abort', () => {
      lost = [...diary.lost]
      anew.resolve({ asked: lock.tryLock() })
    })
    await rig.witness().getLock('it').forceUnlock()
    await outcome(lease.extend(10_000))
    const next = granted(await (await within(5_000, anew.promise)).asked)
    expect(lost).toEqual([lease.token])
    const releases = rig.proxy.count(SHA.release)
    expect(await lease.release()).toBe(false)
    await eventually(() => rig.proxy.count(SHA.release) > releases)
    await checkItIsHeld(next, 100)
  })
})
