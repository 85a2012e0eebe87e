import type { HoldfastLock, Lease } from '../../src/index.ts'
import { LeaseLostError } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'
import { renewals } from './renewals.ts'

describeLocks('the lease', (stage) => {
  const newLock = () => stage.getLock(stage.world.newClient(), 'it')

  describe('a fixed lease', () => {
    test('a fixed lease is as long as requested, ends by itself and is never renewed', async () => {
      const client = stage.world.newClient({ leaseMs: 150 })
      const lock = stage.getLock(client, 'it')
      const renewed = jest.fn()
      client.on('renewed', renewed)
      const lease = await lock.lock(800)
      let last = await stage.pttl('it')
      expect(last).toBeGreaterThan(0)
      expect(last).toBeLessThanOrEqual(800)
      await eventually(async () => {
        const now = await stage.pttl('it')
        // The memory server reports less than -2 for a key that has just expired.
        expect(now).toBeLessThanOrEqual(Math.max(last, -2))
        last = now
        return now === -2
      })
      expect(lease.valid).toBe(false)
      expect(lease.signal.aborted).toBe(true)
      expect(renewed).not.toHaveBeenCalled()
    })

    test.each([
      ['lock(leaseMs)', (lock: HoldfastLock) => lock.lock(5_000)],
      ['lock({ leaseMs })', (lock: HoldfastLock) => lock.lock({ leaseMs: 5_000 })],
      ['tryLock({ leaseMs })', (lock: HoldfastLock) => lock.tryLock({ leaseMs: 5_000 })],
      ['tryLock(waitMs, leaseMs)', (lock: HoldfastLock) => lock.tryLock(5_000, 5_000)],
    ])('%s acquires a fixed lease', async (_, acquire) => {
      const lease = await acquire(newLock())
      expect(await stage.pttl('it')).toBeGreaterThan(2_000)
      expect(await stage.pttl('it')).toBeLessThanOrEqual(5_000)
      await lease?.release()
    })

    test('using() with leaseMs acquires a fixed lease for its function', async () => {
      await newLock().using(
        async () => {
          expect(await stage.pttl('it')).toBeLessThanOrEqual(5_000)
        },
        { leaseMs: 5_000 },
      )
    })

    stage.testOfExclusion(
      'a holder sees the end of its lease before the server grants the lock to another client',
      async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock(300)
        const next = await two.lock()
        expect(lease.valid).toBe(false)
        expect(lease.remaining()).toBe(0)
        await next.release()
      },
    )
  })

  describe('nested acquisitions with different leases', () => {
    const nest = async (first: number, second: number) => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      return { outer: await lock.lock(first), inner: await lock.lock(second) }
    }

    test.each([
      ['a shorter lease inside', 60_000, 1_000],
      ['a longer lease inside', 1_000, 60_000],
      ['the same lease twice', 60_000, 60_000],
    ])(
      'the longest lease applies to the whole hold, and leases do not add up: %s',
      async (_, first, second) => {
        const { outer, inner } = await nest(first, second)
        for (const lease of [outer, inner]) {
          expect(lease.remaining()).toBeGreaterThan(50_000)
          expect(lease.remaining()).toBeLessThan(60_000)
        }
        expect(await stage.pttl('it')).toBeGreaterThan(50_000)
        expect(await stage.pttl('it')).toBeLessThanOrEqual(60_000)
        await inner.release()
        expect(await stage.pttl('it')).toBeGreaterThan(50_000)
        expect(outer.remaining()).toBeGreaterThan(50_000)
        await outer.release()
        expect(await stage.pttl('it')).toBe(-2)
      },
    )

    test('a renewal by the watchdog does not shorten a longer fixed lease', async () => {
      const client = stage.world.newClient({ leaseMs: scaledMs(1_000) })
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      const fixed = await lock.lock(60_000)
      const watched = await lock.lock()
      await renewals(client, 2)
      expect(await stage.pttl('it')).toBeGreaterThan(50_000)
      expect(fixed.remaining()).toBeGreaterThan(50_000)
      await watched.release()
      expect(await stage.pttl('it')).toBeGreaterThan(50_000)
      await fixed.release()
    })

    test('a fixed lease inside does not end the renewal of the outer lease', async () => {
      const client = stage.world.newClient({ leaseMs: scaledMs(1_500) })
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      const watched = await lock.lock()
      const fixed = await lock.lock(100)
      await fixed.release()
      await renewals(client, 4)
      expect(watched.valid).toBe(true)
      expect(await stage.holds('it')).toEqual([1])
      await watched.release()
    })
  })

  describe('the properties of a lease', () => {
    test('remaining() falls with time and stays below the time to live in Redis', async () => {
      const lease = await newLock().lock(10_000)
      const first = lease.remaining()
      const inRedis = await stage.pttl('it')
      expect(first).toBeGreaterThan(5_000)
      expect(lease.remaining()).toBeLessThan(inRedis)
      await eventually(() => lease.remaining() < first - 20)
      await lease.release()
    })

    test('valid, assertValid() and the signal agree before and after the lease ends', async () => {
      const lease = await newLock().lock(800)
      expect(lease.valid).toBe(true)
      expect(() => lease.assertValid()).not.toThrow()
      expect(lease.signal.aborted).toBe(false)
      await eventually(() => !lease.valid)
      expect(() => lease.assertValid()).toThrow(LeaseLostError)
      expect(lease.signal.reason).toMatchObject({
        code: 'HOLDFAST_LEASE_LOST',
        reason: 'expired',
        lockName: 'it',
        token: lease.token,
      })
      expect(lease.signal.reason.message).toContain(`"it" (token ${lease.token})`)
      await lease.release()
    })

    test('a released lease is not valid, has no time left, and its signal did not abort', async () => {
      const lease = await newLock().lock()
      await lease.release()
      expect(lease.valid).toBe(false)
      expect(lease.remaining()).toBe(0)
      expect(lease.signal.aborted).toBe(false)
      expect(() => lease.assertValid()).toThrow(/was released/)
    })

    test('a lease has its name, its owner in Redis and its token', async () => {
      const client = stage.world.newClient()
      const lease = await stage.getLock(client, 'it').lock()
      expect(lease.name).toBe('it')
      expect(lease.owner.startsWith(`${client.id}:`)).toBe(true)
      expect(await stage.fields('it')).toEqual({ [lease.owner]: 1 })
      expect(Number.isSafeInteger(lease.token)).toBe(true)
      await lease.release()
    })

    test('after a blocked event loop, the lease reports its loss before any timer has run', async () => {
      const lease = await newLock().lock(200)
      const { signal } = lease
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250)
      expect(signal.aborted).toBe(true)
      expect(lease.valid).toBe(false)
      expect(() => signal.throwIfAborted()).toThrow(LeaseLostError)
    })
  })

  describe('extend()', () => {
    test('extend() lengthens a fixed or a renewed lease, in Redis and in the client', async () => {
      const client = stage.world.newClient()
      for (const options of [1_000, undefined]) {
        const lease = await stage.getLock(client, 'it').lock(options ?? {})
        await lease.extend(60_000)
        expect(lease.remaining()).toBeGreaterThan(50_000)
        expect(await stage.pttl('it')).toBeGreaterThan(50_000)
        expect(await stage.pttl('it')).toBeLessThanOrEqual(60_000)
        await lease.release()
      }
    })

    test('extend() never shortens a lease', async () => {
      const lease = await newLock().lock(60_000)
      await lease.extend(1_000)
      expect(lease.remaining()).toBeGreaterThan(50_000)
      expect(await stage.pttl('it')).toBeGreaterThan(50_000)
      await lease.release()
    })

    test('extend() of a lost lease rejects, and does not revive the lease', async () => {
      const expired = await newLock().lock(100)
      await eventually(() => expired.signal.aborted)
      await expect(expired.extend(1_000)).rejects.toMatchObject({
        code: 'HOLDFAST_LEASE_LOST',
        reason: 'expired',
      })
      await eventually(async () => (await stage.pttl('it')) === -2)
      const taken = await newLock().lock(60_000)
      await stage.world.server.flush()
      await expect(taken.extend(60_000)).rejects.toMatchObject({
        code: 'HOLDFAST_LEASE_LOST',
        reason: 'gone',
      })
      expect(taken.signal.aborted).toBe(true)
      expect(await stage.pttl('it')).toBe(-2)
    })

    test('extend() of a released lease rejects', async () => {
      const lease = await newLock().lock()
      await lease.release()
      await expect(lease.extend(1_000)).rejects.toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
      expect(await stage.pttl('it')).toBe(-2)
    })

    test('extend() of a nested lease lengthens the whole hold', async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      const outer = await lock.lock(1_000)
      const inner = await lock.lock(1_000)
      await inner.extend(60_000)
      await inner.release()
      expect(outer.remaining()).toBeGreaterThan(50_000)
      expect(await stage.pttl('it')).toBeGreaterThan(50_000)
      await outer.release()
    })
  })

  describe('a lease that was lost', () => {
    test('unlock() rejects with the loss once, and a second unlock() rejects with HOLDFAST_NOT_HELD', async () => {
      const lock = newLock()
      const lease = await lock.lock(100)
      await eventually(() => lease.signal.aborted)
      await expect(lock.unlock()).rejects.toBe(lease.signal.reason)
      await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
    })

    test('using() rejects with the loss although its function succeeded', async () => {
      const lock = newLock()
      const work = lock.using(
        async (lease) => {
          await eventually(() => lease.signal.aborted)
          return 'done'
        },
        { leaseMs: 100 },
      )
      await expect(work).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
    })

    test('after a lease has expired, the message of using() contains the error that the work threw', async () => {
      const work = newLock().using(
        async (lease) => {
          await eventually(() => lease.signal.aborted)
          throw new Error('of the work')
        },
        { leaseMs: 100 },
      )
      await expect(work).rejects.toThrow('of the work')
    })

    stage.testOfExclusion(
      'release() of a lost lease does not release the hold of the next holder',
      async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lost = await one.lock(100)
        const next = await two.lock()
        expect(await lost.release()).toBe(false)
        expect(await stage.fields('it')).toEqual({ [next.owner]: 1 })
        await next.release()
      },
    )

    stage.testOfExclusion(
      'release() of a lost lease does not release a later hold of the same owner',
      async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it', { owner: client.owner() })
        const lost = await lock.lock(100)
        await eventually(() => lost.signal.aborted)
        const next = await lock.lock()
        expect(next.token).toBeGreaterThan(lost.token)
        expect(await lost.release()).toBe(false)
        expect(await stage.fields('it')).toEqual({ [next.owner]: 1 })
        expect(await next.release()).toBe(true)
      },
    )
  })
})

describeLocks(
  'the end of using()',
  (stage) => {
    const newLock = () => stage.getLock(stage.world.newClient(), 'it')

    describe('using() after a loss', () => {
      test('using() rejects when forceUnlock() ended its hold, although the work succeeded', async () => {
        const lock = newLock()
        const working = lock.using(() => lock.forceUnlock())
        await expect(working).rejects.toMatchObject({ reason: 'forced' })
      })

      test('tryUsing() rejects with the loss and with the error of the work as the cause; the signal keeps its reason', async () => {
        const lock = newLock()
        const thrown = new TypeError('of the work')
        let lease: Lease | undefined
        const working = lock.tryUsing(async (own) => {
          lease = own
          await lock.forceUnlock()
          throw thrown
        })
        const error = await working.catch((one: unknown) => one as LeaseLostError)
        const loss = lease?.signal.reason as LeaseLostError
        expect(error).toBeInstanceOf(LeaseLostError)
        expect(error).toMatchObject({ lockName: 'it', reason: 'forced', token: lease?.token })
        expect((error as LeaseLostError).cause).toBe(thrown)
        expect((error as LeaseLostError).message).toMatch(/forceUnlock.*TypeError: of the work/)
        expect(loss).not.toBe(error)
        expect(loss.cause).toBeUndefined()
      })

      test('using() rejects with the very loss that the work threw', async () => {
        const lock = newLock()
        let lease: Lease | undefined
        const working = lock.using(async (own) => {
          lease = own
          await lock.forceUnlock()
          own.signal.throwIfAborted()
        })
        const error = await working.catch((one: unknown) => one)
        expect(error).toBe(lease?.signal.reason)
      })

      test('an outer using() of the same hold rejects with the error of the inner using()', async () => {
        const lock = newLock()
        const thrown = new Error('of the work')
        const inner = jest.fn()
        const working = lock.using(() =>
          lock
            .using(async () => {
              await lock.forceUnlock()
              throw thrown
            })
            .catch((error: unknown) => {
              inner(error)
              throw error
            }),
        )
        const error = await working.catch((one: unknown) => one as LeaseLostError)
        expect(inner).toHaveBeenCalledWith(error)
        expect((error as LeaseLostError).cause).toBe(thrown)
      })

      test('using() rejects with the error of the work itself if the lease was not lost', async () => {
        const thrown = new Error('of the work')
        const working = newLock().using(() => Promise.reject(thrown))
        expect(await working.catch((one: unknown) => one)).toBe(thrown)
      })
    })

    test('using() rejects with HOLDFAST_CLOSED and the error of the work as the cause if the client closes', async () => {
      const client = stage.world.newClient()
      const working = stage.getLock(client, 'it').using(async ({ signal }) => {
        const over = new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('of the work')))
        })
        void client.close()
        await over
      })
      await expect(working).rejects.toMatchObject({
        code: 'HOLDFAST_CLOSED',
        cause: new Error('of the work'),
      })
    })
  },
  { inOneWorld: true },
)
