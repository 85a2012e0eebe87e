import type { HoldfastLock } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { describeLocks } from './lock-kinds.ts'

describeLocks(
  'the fencing token',
  (stage) => {
    const counter = (name: string) => `redisson_lock_token:{${stage.world.rawName(name)}}`
    const takeAndRelease = async (lock: HoldfastLock) => {
      const lease = await lock.lock()
      await lease.release()
      return lease.token
    }
    const isRising = (tokens: number[]) =>
      tokens.every((token, i) => i === 0 || token > Number(tokens[i - 1]))

    test('rises with every acquisition, through any client and any form', async () => {
      const locks = stage.getLocks('it', 2)
      const tokens: number[] = []
      for (let round = 0; round < 5; round++) {
        for (const lock of locks) {
          tokens.push(await takeAndRelease(lock))
          tokens.push(await lock.using(({ token }) => token))
          const lease = await lock.tryLock(1_000, 5_000)
          tokens.push(lease?.token ?? 0)
          await lease?.release()
        }
      }
      expect(tokens).toHaveLength(30)
      expect(isRising(tokens)).toBe(true)
      expect(tokens.every(Number.isSafeInteger)).toBe(true)
    })

    test('is one and the same for all acquisitions of a hold', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      await lock.using(async ({ token }) => {
        expect((await lock.lock()).token).toBe(token)
        expect((await lock.tryLock())?.token).toBe(token)
        await lock.unlock()
        await lock.unlock()
        expect(await lock.using((inner) => inner.token)).toBe(token)
      })
    })

    test('rises when the lock is handed over inside a client', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const tokens: number[] = []
      const works = Array.from({ length: 50 }, () =>
        lock.using(({ token }) => void tokens.push(token)),
      )
      await Promise.all(works)
      expect(tokens).toHaveLength(50)
      expect(isRising(tokens)).toBe(true)
    })

    test('rises after a lease ran out', async () => {
      const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const first = await one.lock(60)
      const second = await two.lock(60)
      const third = await one.lock()
      expect(isRising([first.token, second.token, third.token])).toBe(true)
      await third.release()
    })

    test('rises after the lock was taken away by force', async () => {
      const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const { token } = await one.lock()
      await two.forceUnlock()
      expect(await takeAndRelease(two)).toBeGreaterThan(token)
    })

    test('rises after everything in Redis was flushed', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const first = await takeAndRelease(lock)
      await stage.world.server.flush()
      const held = await lock.lock()
      expect(held.token).toBeGreaterThan(first)
      await stage.world.server.flush()
      const other = stage.getLock(stage.world.newClient(), 'it')
      expect(await takeAndRelease(other)).toBeGreaterThan(held.token)
      expect(await held.release()).toBe(false)
    })

    test('rises after the counter alone was lost', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const held = await lock.lock()
      await stage.world.server.admin.del(counter('it'))
      expect(await held.release()).toBe(true)
      expect(await takeAndRelease(lock)).toBeGreaterThan(held.token)
    })

    test('rises after the server came back empty', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const first = await takeAndRelease(lock)
      await stage.world.server.restart()
      expect(await takeAndRelease(lock)).toBeGreaterThan(first)
    })

    test('goes on from a counter that is ahead of the clock', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const ahead = (await takeAndRelease(lock)) + 60_000_000_000
      await stage.world.server.admin.set(counter('it'), String(ahead), 'PX', 60_000)
      const tokens = [await takeAndRelease(lock), await takeAndRelease(lock)]
      await Promise.all([
        lock.using(({ token }) => tokens.push(token)),
        lock.using(({ token }) => tokens.push(token)),
      ])
      if (stage.world.isQuorum) {
        // Votes that came to nothing may have counted further.
        expect(isRising([ahead, ...tokens])).toBe(true)
        expect(tokens.at(-1)).toBeLessThan(ahead + 1_000)
      } else expect(tokens).toEqual([1, 2, 3, 4].map((n) => ahead + n))
    })

    test('is exact to the last digit where doubles begin to end', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const large = Number.MAX_SAFE_INTEGER - 10
      await stage.world.server.admin.set(counter('it'), String(large), 'PX', 60_000)
      const lease = await lock.lock()
      expect(lease.token).toBe(large + 1)
      expect(await lease.release()).toBe(true)
      expect(await takeAndRelease(lock)).toBe(large + 2)
    })

    test('is what inspect() tells, during the hold and after', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      expect((await lock.inspect()).token).toBeNull()
      const lease = await lock.lock()
      expect((await lock.inspect()).token).toBe(lease.token)
      await lease.release()
      expect((await lock.inspect()).token).toBe(lease.token)
    })

    test('comes from a counter that stays as long as it is said to, and as the lock', async () => {
      const client = stage.world.newClient({ counterTtlMs: 2_000, leaseMs: 1_800 })
      const lock = stage.getLock(client, 'it')
      const { admin } = stage.world.server
      const lease = await lock.lock()
      expect(await admin.pttl(counter('it'))).toBeLessThanOrEqual(2_000 + 500)
      // Renewed for longer than it would live by itself.
      await new Promise((resolve) => setTimeout(resolve, 3_500))
      const { token } = await lock.inspect()
      // A vote that came late may have counted further.
      if (stage.world.isQuorum) expect(token).toBeGreaterThanOrEqual(lease.token)
      else expect(token).toBe(lease.token)
      await lease.release()
      await eventually(async () => (await admin.exists(counter('it'))) === 0, { timeoutMs: 5_000 })
      expect(await takeAndRelease(lock)).toBeGreaterThan(lease.token)
    })

    test('comes from a counter that does not stay for ever, and outlives the lock', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const { admin } = stage.world.server
      const lease = await lock.lock()
      const during = await admin.pttl(counter('it'))
      await lease.release()
      expect(await lastingKeys(admin)).toEqual([counter('it')])
      for (const ttl of [during, await admin.pttl(counter('it'))]) {
        expect(ttl).toBeGreaterThan(30_000)
        expect(ttl).toBeLessThanOrEqual(3_600_000 + 1_000)
      }
      await admin.pexpire(counter('it'), 1_000)
      await takeAndRelease(lock)
      expect(await admin.pttl(counter('it'))).toBeGreaterThan(30_000)
    })
  },
  { isOfExclusion: true },
)
