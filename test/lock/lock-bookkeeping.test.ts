import { setMaxListeners } from 'node:events'
import type { Holdfast, Lease } from '../../src/index.ts'
import { HandOverBudget } from '../../src/local/hand-over-budget.ts'
import type { LocalLock } from '../../src/local/local-lock.ts'
import { LocalLocks } from '../../src/local/local-locks.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, outcome, SHA } from '../support/fault-rig.ts'

/** The state that a client keeps, and the requests that it sends, for calls without a result. */
const rig = faultRig()

afterEach(() => jest.restoreAllMocks())

/** Connects the client, and returns its local locks. */
async function localLocksOf(client: Holdfast): Promise<LocalLocks> {
  const spy = jest.spyOn(LocalLocks.prototype, 'lock')
  const locks = await client.getLock('warm').using(() => {
    const [context] = spy.mock.contexts as unknown as LocalLocks[]
    if (context?.find('warm') === undefined) throw new Error('A lock that is held was not found')
    return context
  })
  spy.mockRestore()
  return locks
}

async function nothingIsKept(locks: LocalLocks): Promise<void> {
  const kept = () => ['warm', ...MANY].filter((name) => locks.find(name) !== undefined)
  await eventually(() => kept().length === 0, { message: 'all names to be forgotten' })
}

const MANY = Array.from({ length: 2_000 }, (_, n) => `name ${n}`)

describe('a client keeps nothing of', () => {
  test.each([
    ['calls that are aborted before they begin', { signal: AbortSignal.abort() }],
    ['calls with a bad lease', { leaseMs: -1 }],
    ['calls with an unknown option', { lease: 1 } as object],
  ])('%s', async (_, options) => {
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const locks = await localLocksOf(client)
    const owner = client.owner()
    for (const name of MANY) {
      await client.run(async () => {
        expect((await outcome(client.getLock(name).lock(options))).error).toBeDefined()
      })
      const lock = client.getLock(name, { owner })
      expect((await outcome(lock.tryLock(options))).error).toBeDefined()
      expect((await outcome(lock.using(() => {}, options))).error).toBeDefined()
    }
    await nothingIsKept(locks)
  })

  test('locks that are no longer used, except for some hundreds', async () => {
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const locks = await localLocksOf(client)
    const use = async (name: string) => (await client.getLock(name).lock()).release()
    for (let n = 0; n < MANY.length; n += 50) await Promise.all(MANY.slice(n, n + 50).map(use))
    await nothingIsKept(locks)
    expect(locks.size).toBeLessThan(600)
  })

  test('the lock that has not been used for the longest time, if there are too many', async () => {
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const locks = await localLocksOf(client)
    const spy = jest.spyOn(LocalLocks.prototype, 'lock')
    const use = async (name: string) => (await client.getLock(name).lock()).release()
    for (let n = 0; n < 600; n += 50) {
      await Promise.all(MANY.slice(n, n + 50).map(use))
      await use('used all the time')
    }
    const all = spy.mock.results.map(({ value }) => value as LocalLock)
    expect(new Set(all.filter(({ name }) => name === 'used all the time')).size).toBe(1)
    await eventually(() => locks.size <= 512, { message: 'no more than 512 to be kept' })
    expect(locks.size).toBe(512)
    // The client has kept a lock that was used late, and has dropped a lock that was used early.
    for (const [name, isKept] of [
      ['name 599', true],
      ['name 0', false],
    ] as const) {
      await use(name)
      const [first, second] = spy.mock.results
        .map(({ value }) => value as LocalLock)
        .filter((lock) => lock.name === name)
      expect(first === second).toBe(isKept)
    }
  })

  test('calls after `close()`', async () => {
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const locks = await localLocksOf(client)
    await client.close()
    for (const name of MANY) {
      const { error } = await outcome(client.run(() => client.getLock(name).lock()))
      expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    }
    await nothingIsKept(locks)
  })

  test('status calls and `forceUnlock()`', async () => {
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const locks = await localLocksOf(client)
    await client.run(() =>
      Promise.all(
        MANY.map(async (name) => {
          const lock = client.getLock(name)
          expect((await outcome(lock.unlock())).error).toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
          expect(await lock.isHeld()).toBe(false)
          expect(await lock.forceUnlock()).toBe(false)
        }),
      ),
    )
    await nothingIsKept(locks)
  })

  test('lost leases that are extended and released', async () => {
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const locks = await localLocksOf(client)
    const some = MANY.slice(0, 500)
    const leases = await Promise.all(some.map((name) => client.getLock(name).lock(1_000)))
    await eventually(() => leases.every(({ valid }) => !valid))
    const useless = async (lease: Lease) => {
      const { error } = await outcome(lease.extend(1_000))
      expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
      expect(await lease.release()).toBe(false)
    }
    await Promise.all(leases.map(useless))
    await nothingIsKept(locks)
  })
})

describe('fifty waiters of a held lock send no further acquisition', () => {
  async function wait(prepare = () => {}) {
    // No request is repeated because a busy machine answers late.
    const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
    const diary = new Diary(client)
    const held = await rig.witness().getLock('it').lock()
    prepare()
    const aborting = new AbortController()
    setMaxListeners(50, aborting.signal)
    const { signal } = aborting
    const waits = Array.from({ length: 50 }, () => outcome(client.getLock('it').lock({ signal })))
    return { client, diary, held, aborting, waits }
  }

  test('when one signal aborts them', async () => {
    const { client, held, aborting, waits } = await wait()
    await rig.listening('it')
    // One check at the start, and one check after the confirmation of the subscription.
    await eventually(() => rig.proxy.count(SHA.acquire) >= 2)
    const asked = rig.proxy.count(SHA.acquire)
    aborting.abort()
    for (const { error } of await Promise.all(waits)) expect(error).toBe(aborting.signal.reason)
    await rig.listening('it', 0)
    await client.getLock('it').inspect() // its answer comes after the answers to all earlier requests
    expect(rig.proxy.count(SHA.acquire)).toBe(asked)
    await held.release()
  })

  test('when one signal aborts them while they step back for other clients', async () => {
    const stepped = deferred<void>()
    const stepBack = jest
      .spyOn(HandOverBudget.prototype, 'stepBack')
      .mockReturnValue(stepped.promise)
    const { client, held, aborting, waits } = await wait(() => {
      jest.spyOn(HandOverBudget.prototype, 'letsOthersAsk', 'get').mockReturnValue(true)
    })
    expect(stepBack).toHaveBeenCalledTimes(1)
    aborting.abort()
    for (const { error } of await Promise.all(waits)) expect(error).toBe(aborting.signal.reason)
    stepped.resolve()
    await client.getLock('it').inspect()
    expect(rig.proxy.count(SHA.acquire)).toBe(0)
    await held.release()
  })

  test('when their client is closed', async () => {
    const { client, diary, held, waits } = await wait()
    await rig.listening('it')
    // One check at the start, and one check after the confirmation of the subscription.
    await eventually(() => rig.proxy.count(SHA.acquire) >= 2)
    const asked = rig.proxy.count(SHA.acquire)
    await client.close()
    for (const { error } of await Promise.all(waits)) {
      expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    }
    await eventually(() => rig.proxy.openConnections.length === 0)
    expect(rig.proxy.count(SHA.acquire)).toBe(asked)
    await held.release()
    expect(diary.acquired).toEqual([])
  })
})
