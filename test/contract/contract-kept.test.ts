import { setTimeout as pause } from 'node:timers/promises'
import { type Holdfast, InvalidArgumentError, type Lease } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { granted, within } from '../support/fault-rig.ts'
import { describeWorlds } from '../support/worlds.ts'

/** Much longer than delays of a busy machine, and much shorter than any lease or interval between checks here. */
const SOON_MS = 1_500
const KEEP_MS = 60_000

describeWorlds('a lock that its client keeps', (world) => {
  const holders = async (name = 'it') =>
    Object.keys(await world.server.admin.hgetall(world.rawName(name)))
  const isFree = async (name = 'it') => (await holders(name)).length === 0
  const becomesFree = () => eventually(() => isFree(), { timeoutMs: SOON_MS, message: 'a release' })

  /** Acquires and releases the lock until the client keeps it. Returns the last lease. */
  async function kept(client: Holdfast, name = 'it', keepMs = KEEP_MS): Promise<Lease> {
    const lock = client.getLock(name, { keepMs })
    return eventually(async () => {
      const lease = await lock.lock()
      await lease.release()
      return !(await isFree(name)) && lease
    })
  }

  const keeperAndOther = () => [world.newClient({ label: 'keeper' }), world.newClient()] as const

  test('is acquired again without a request: with the same owner id and a greater token', async () => {
    const [keeper] = keeperAndOther()
    const before = await kept(keeper)
    const lock = keeper.getLock('it', { keepMs: KEEP_MS })
    for (let token = before.token + 1; token < before.token + 10; token++) {
      const lease = await lock.lock()
      expect([lease.owner, lease.token, lease.valid]).toEqual([before.owner, token, true])
      expect(await holders()).toEqual([lease.owner])
      expect(await lease.release()).toBe(true)
    }
    expect(keeper.held()).toEqual({ held: [], waiting: [] })
    const { token } = await keeper.getLock('it').inspect()
    expect(token).toBeGreaterThanOrEqual(before.token + 9)
  })

  test('gives each call a greater token, even if the client has used all reserved tokens', async () => {
    const [keeper, other] = keeperAndOther()
    await kept(keeper)
    const lock = keeper.getLock('it', { keepMs: KEEP_MS })
    let last = 0
    for (let i = 0; i < 300; i++) {
      const lease = granted(await lock.tryLock())
      expect(lease.token).toBeGreaterThan(last)
      last = lease.token
      await lease.release()
    }
    const lease = await other.getLock('it').lock()
    expect(lease.token).toBeGreaterThan(last)
    await lease.release()
  })

  test('passes to a waiting call of another client soon, and the next tokens of both clients rise', async () => {
    const [keeper, other] = keeperAndOther()
    let { token } = await kept(keeper)
    const lock = other.getLock('it')
    for (let i = 0; i < 3; i++) {
      const lease = await within(SOON_MS, lock.lock())
      expect(lease.token).toBeGreaterThan(token)
      await lease.release()
      const again = await kept(keeper)
      expect(again.token).toBeGreaterThan(lease.token)
      token = again.token
    }
  })

  test('is free for tryLock() of another client', async () => {
    const [keeper, other] = keeperAndOther()
    const { token } = await kept(keeper)
    // On a busy machine, the keeper may answer after the first call has ended.
    const lock = other.getLock('it')
    const lease = granted((await within(SOON_MS, lock.tryLock())) ?? (await lock.tryLock()))
    expect(lease.token).toBeGreaterThan(token)
    expect(await keeper.getLock('it').tryLock()).toBeNull()
    await lease.release()
  })

  test('excludes other clients while a call holds it; a waiting call gets it at the release', async () => {
    const [keeper, other] = keeperAndOther()
    await kept(keeper)
    const lease = await keeper.getLock('it', { keepMs: KEEP_MS }).lock()
    expect(await other.getLock('it').tryLock()).toBeNull()
    let isHeld = false
    const waiting = other
      .getLock('it')
      .lock()
      .then((one) => {
        isHeld = true
        return one
      })
    await never(() => isHeld, 100)
    await lease.release()
    await (await within(SOON_MS, waiting)).release()
  })

  test('is free keepMs after the last release, and not before', async () => {
    const [keeper] = keeperAndOther()
    await kept(keeper, 'it', 500)
    const lock = keeper.getLock('it', { keepMs: 500 })
    for (let i = 0; i < 4; i++) {
      await (await lock.lock()).release()
      await pause(150)
    }
    await (await lock.lock()).release()
    await never(() => isFree(), 200, { everyMs: 10 })
    await eventually(() => isFree(), { everyMs: 10 })
  })

  test('is renewed, so that the client keeps it for longer than its lease', async () => {
    const leaseMs = scaledMs(1_000)
    const keeper = world.newClient({ leaseMs })
    const { owner } = await kept(keeper)
    await never(() => isFree(), 2.5 * leaseMs, { everyMs: 20 })
    const lease = await keeper.getLock('it', { keepMs: KEEP_MS }).lock()
    expect(lease.owner).toBe(owner)
    expect(lease.remaining()).toBeGreaterThan(200)
    await lease.release()
  })

  test.each<[string, (client: Holdfast) => Promise<unknown>]>([
    ['close()', (client) => client.close()],
    ['close() with a drain', (client) => client.close({ drainMs: 60_000 })],
  ])('is freed by %s, which lists no hold', async (_, close) => {
    const [keeper] = keeperAndOther()
    await kept(keeper)
    expect(await within(SOON_MS, close(keeper))).toEqual([])
    expect(await isFree()).toBe(true)
  })

  test('is freed by a request to release, which counts as confirmed', async () => {
    const [keeper, other] = keeperAndOther()
    await kept(keeper)
    expect(await other.getLock('it').requestRelease()).toBe(1)
    await becomesFree()
    await kept(keeper)
    expect(await keeper.getLock('it').requestRelease()).toBe(1)
    await becomesFree()
  })

  test('is freed for whenFree(), of another client and of its own client', async () => {
    const [keeper, other] = keeperAndOther()
    for (const client of [other, keeper]) {
      await kept(keeper)
      expect(await within(SOON_MS, client.getLock('it').whenFree())).toBe(true)
    }
  })

  test('is reported by onFree() after each release, of another client and of its own client', async () => {
    const [keeper, other] = keeperAndOther()
    const lock = keeper.getLock('it', { keepMs: KEEP_MS })
    await kept(keeper)
    for (const client of [other, keeper]) {
      let calls = 0
      const lease = await lock.lock()
      const stop = client.getLock('it').onFree(() => {
        calls += 1
      })
      await never(() => calls > 0, 100)
      await lease.release()
      await eventually(() => calls > 0, { timeoutMs: 8_000 })
      stop()
      await kept(keeper)
    }
  })

  test('goes to a fair lock and to a multi-lock of the same name, of each client', async () => {
    const [keeper, other] = keeperAndOther()
    for (const client of [other, keeper]) {
      const { owner } = await kept(keeper)
      const fair = await within(SOON_MS, client.getFairLock('it').lock())
      expect(fair.owner).not.toBe(owner)
      await fair.release()
      await kept(keeper)
      const both = client.getMultiLock(client.getLock('it'), client.getLock('more'))
      await (await within(SOON_MS, both.lock())).release()
    }
  })

  test.each<[string, (keeper: Holdfast) => Promise<Lease | null>]>([
    ['a fixed lease', (keeper) => keeper.getLock('it', { keepMs: KEEP_MS }).lock(20_000)],
    ['a try with a fixed lease', (keeper) => keeper.getLock('it').tryLock({ leaseMs: 20_000 })],
    ['a shorter hold', (keeper) => keeper.getLock('it').lock({ maxHoldMs: 5_000 })],
  ])('is acquired with a request for %s, and freed after it', async (_, lock) => {
    const [keeper] = keeperAndOther()
    const { owner, token } = await kept(keeper)
    const lease = granted(await lock(keeper))
    expect(lease.owner).not.toBe(owner)
    expect(lease.token).toBeGreaterThan(token)
    await lease.release()
    expect(await isFree()).toBe(true)
  })

  test.each<[string, (keeper: Holdfast) => Promise<unknown>]>([
    [
      'a re-entry',
      async (keeper) => {
        const lock = keeper.getLock('it', { owner: keeper.owner(), keepMs: KEEP_MS })
        const [lease, again] = [await lock.lock(), await lock.lock()]
        await again.release()
        await lease.release()
      },
    ],
    [
      'an extension',
      async (keeper) => {
        const lease = await keeper.getLock('it', { keepMs: KEEP_MS }).lock()
        await lease.extend(40_000)
        await lease.release()
      },
    ],
    ['a call without keepMs', async (keeper) => (await keeper.getLock('it').lock()).release()],
  ])('is freed at the release after %s', async (_, use) => {
    const [keeper] = keeperAndOther()
    await kept(keeper)
    await use(keeper)
    expect(await isFree()).toBe(true)
  })

  test('passes to the waiting calls of its client, and is kept after the last call', async () => {
    const [keeper] = keeperAndOther()
    await kept(keeper)
    const lock = keeper.getLock('it', { keepMs: KEEP_MS })
    let inside = 0
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () =>
        lock.using(async ({ token }) => {
          inside += 1
          expect(inside).toBe(1)
          await pause(1)
          inside -= 1
          return token
        }),
      ),
    )
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
    expect(await isFree()).toBe(false)
  })

  test('is used by all locks of a client with keepMs, but not by a lock with keepMs 0', async () => {
    const keeper = world.newClient({ keepMs: KEEP_MS })
    await eventually(async () => {
      await (await keeper.getLock('it').lock()).release()
      return !(await isFree())
    })
    await (await keeper.getLock('other', { keepMs: 0 }).lock()).release()
    expect(await isFree('other')).toBe(true)
    await (await keeper.getFairLock('fair').lock()).release()
    expect(await isFree('fair')).toBe(true)
  })

  test.each(['another client', 'its own client'])(
    'is not used again after a release by force by %s',
    async (whose) => {
      const [keeper, other] = keeperAndOther()
      const client = whose === 'another client' ? other : keeper
      const isAcquiredAgain = async () => {
        const { owner, token } = await kept(keeper)
        expect(await client.getLock('it').forceUnlock()).toBe(true)
        expect(await isFree()).toBe(true)
        const lease = await keeper.getLock('it', { keepMs: KEEP_MS }).lock()
        await lease.release()
        return lease.owner !== owner && lease.token > token
      }
      // On a busy machine, the keeper may learn of one release by another client too late.
      if (client === other) await eventually(isAcquiredAgain)
      else expect(await isAcquiredAgain()).toBe(true)
    },
  )

  test('is not kept after a hold if another client released it by force during the hold', async () => {
    const [keeper, other] = keeperAndOther()
    await kept(keeper)
    const lease = await keeper.getLock('it', { keepMs: KEEP_MS }).lock()
    expect(await other.getLock('it').forceUnlock()).toBe(true)
    const theirs = await other.getLock('it').lock()
    expect(await lease.release()).toBe(false)
    expect(await keeper.getLock('it', { keepMs: KEEP_MS }).tryLock()).toBeNull()
    await theirs.release()
  })

  test('is one lock for clients that all keep it, with rising tokens and one holder at a time', async () => {
    const clients = [1, 2, 3].map(() => world.newClient({ keepMs: 50 }))
    let inside = 0
    let last = 0
    const work = clients.flatMap((client) =>
      [1, 2].map(async () => {
        const lock = client.getLock('it')
        for (let i = 0; i < 25; i++) {
          const lease = i % 3 === 0 ? await lock.tryLock() : await lock.lock()
          if (lease === null) continue
          inside += 1
          expect(inside).toBe(1)
          expect(lease.token).toBeGreaterThan(last)
          last = lease.token
          if (i % 4 === 0) await pause(1)
          inside -= 1
          await lease.release()
          if (i % 5 === 0) await pause(2)
        }
      }),
    )
    await within(20_000, Promise.all(work))
    await eventually(() => isFree())
  })

  test.each<[string, (client: Holdfast) => unknown]>([
    ['a negative time', (client) => client.getLock('it', { keepMs: -1 })],
    ['half a millisecond', (client) => client.getLock('it', { keepMs: 0.5 })],
    ['a text', (client) => client.getLock('it', { keepMs: '5' as unknown as number })],
    ['Infinity', (client) => client.getLock('it', { keepMs: Infinity })],
    ['a fair lock', (client) => client.getFairLock('it', { keepMs: 5 } as object)],
    ['a read-write lock', (client) => client.getReadWriteLock('it', { keepMs: 5 } as object)],
  ])('cannot have the keepMs of %s', (_, get) => {
    const client = world.newClient()
    expect(() => get(client)).toThrow(InvalidArgumentError)
    expect(() => get(client)).toThrow('keepMs')
  })
})
