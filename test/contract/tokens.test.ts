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

    test('the token rises with every acquisition, by any client and any method', async () => {
      const locks = stage.getLocks('it', 2)
      const tokens: number[] = []
      for (let round = 0; round < 5; round++) {
        for (const lock of locks) {
          tokens.push(await takeAndRelease(lock))
          tokens.push(await lock.using(({ token }) => token))
          const lease = await lock.tryLock(10_000, 5_000)
          tokens.push(lease?.token ?? 0)
          await lease?.release()
        }
      }
      expect(tokens).toHaveLength(30)
      expect(isRising(tokens)).toBe(true)
      expect(tokens.every(Number.isSafeInteger)).toBe(true)
    })

    test('the token is the same for all acquisitions of a hold', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      await lock.using(async ({ token }) => {
        expect((await lock.lock()).token).toBe(token)
        expect((await lock.tryLock())?.token).toBe(token)
        await lock.unlock()
        await lock.unlock()
        expect(await lock.using((inner) => inner.token)).toBe(token)
      })
    })

    test('the token rises at each hand-off inside a client', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const tokens: number[] = []
      const works = Array.from({ length: 50 }, () =>
        lock.using(({ token }) => void tokens.push(token)),
      )
      await Promise.all(works)
      expect(tokens).toHaveLength(50)
      expect(isRising(tokens)).toBe(true)
    })

    test('the token rises after a lease has expired', async () => {
      const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const first = await one.lock(60)
      const second = await two.lock(60)
      const third = await one.lock()
      expect(isRising([first.token, second.token, third.token])).toBe(true)
      await third.release()
    })

    test('the token rises after forceUnlock()', async () => {
      const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const { token } = await one.lock()
      await two.forceUnlock()
      expect(await takeAndRelease(two)).toBeGreaterThan(token)
    })

    test('the token rises after Redis was flushed', async () => {
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

    test('the token rises after its counter alone was deleted', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const held = await lock.lock()
      await stage.world.server.admin.del(counter('it'))
      expect(await held.release()).toBe(true)
      expect(await takeAndRelease(lock)).toBeGreaterThan(held.token)
    })

    test('the token rises after the server restarted empty', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const first = await takeAndRelease(lock)
      await stage.world.server.restart()
      expect(await takeAndRelease(lock)).toBeGreaterThan(first)
    })

    test('the token continues from a counter that is ahead of the clock', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const ahead = (await takeAndRelease(lock)) + 60_000_000_000
      await stage.world.server.admin.set(counter('it'), String(ahead), 'PX', 60_000)
      const tokens = [await takeAndRelease(lock), await takeAndRelease(lock)]
      await Promise.all([
        lock.using(({ token }) => tokens.push(token)),
        lock.using(({ token }) => tokens.push(token)),
      ])
      if (stage.world.isQuorum) {
        // Votes without a majority may have raised the counter further.
        expect(isRising([ahead, ...tokens])).toBe(true)
        expect(tokens.at(-1)).toBeLessThan(ahead + 1_000)
      } else expect(tokens).toEqual([1, 2, 3, 4].map((n) => ahead + n))
    })

    test('the token is exact close to the largest safe integer', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const large = Number.MAX_SAFE_INTEGER - 10
      await stage.world.server.admin.set(counter('it'), String(large), 'PX', 60_000)
      const lease = await lock.lock()
      expect(lease.token).toBe(large + 1)
      expect(await lease.release()).toBe(true)
      expect(await takeAndRelease(lock)).toBe(large + 2)
    })

    test('inspect() reports the token during the hold and after the release', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      expect((await lock.inspect()).token).toBeNull()
      const lease = await lock.lock()
      stage.expectLastToken((await lock.inspect()).token, lease.token)
      await lease.release()
      stage.expectLastToken((await lock.inspect()).token, lease.token)
    })

    test('the counter stays while the lock is held, and expires after counterTtlMs', async () => {
      const client = stage.world.newClient({ counterTtlMs: 2_000, leaseMs: 1_800 })
      const lock = stage.getLock(client, 'it')
      const { admin } = stage.world.server
      const lease = await lock.lock()
      expect(await admin.pttl(counter('it'))).toBeLessThanOrEqual(2_000 + 500)
      // The watchdog renews the lock for longer than the counter would live by itself.
      await new Promise((resolve) => setTimeout(resolve, 3_500))
      const { token } = await lock.inspect()
      stage.expectLastToken(token, lease.token)
      await lease.release()
      await eventually(async () => (await admin.exists(counter('it'))) === 0, { timeoutMs: 5_000 })
      expect(await takeAndRelease(lock)).toBeGreaterThan(lease.token)
    })

    test('the counter outlives the lock, expires within an hour, and an acquisition extends its time', async () => {
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
