import { type HoldfastLock, LeaseLostError } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { leaves } from '../support/leaks.ts'
import { describeLocks } from './lock-kinds.ts'

describeLocks(
  'the state',
  (stage) => {
    test('a check of a free lock finds no holder, and leaves no key', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      expect(await lock.inspect()).toEqual({
        holder: null,
        holdCount: 0,
        ttlMs: null,
        token: null,
        ageMs: null,
        waiters: 0,
        queue: [],
        queueLength: 0,
      })
      expect(await lock.isLocked()).toBe(false)
      expect(await lock.isHeld()).toBe(false)
      expect(await lock.holdCount()).toBe(0)
      expect(await lock.remainingMs()).toBe(0)
      expect(await lastingKeys(stage.world.server.admin)).toEqual([])
    })

    test('inspect() reports the holder, the hold count, the lease and the token to every client', async () => {
      const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      await one.using(
        async (lease) => {
          const inner = await one.lock()
          for (const lock of [one, two]) {
            const info = await lock.inspect()
            expect(info).toMatchObject({
              holder: lease.owner,
              holdCount: 2,
              waiters: 0,
            })
            stage.expectLastToken(info.token, lease.token)
            expect(info.ttlMs).toBeGreaterThan(50_000)
            expect(info.ttlMs).toBeLessThanOrEqual(60_000)
            // Independent masters count their tokens, so they do not know when the hold began.
            if (stage.world.isQuorum) expect(info.ageMs).toBeNull()
            else expect(info.ageMs).toBeLessThan(20_000)
            expect(await lock.remainingMs()).toBeGreaterThan(50_000)
            expect(await lock.isLocked()).toBe(true)
          }
          await inner.release()
        },
        { leaseMs: 60_000 },
      )
    })

    test('isHeld() and holdCount() answer for the running code, not for other code of the client', async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      const other = stage.getLock(stage.world.newClient(), 'it')
      const entered = deferred<void>()
      const end = deferred<void>()
      const holder = lock.using(async () => {
        expect([await lock.isHeld(), await lock.holdCount()]).toEqual([true, 1])
        await lock.using(async () => expect(await lock.holdCount()).toBe(2))
        entered.resolve()
        await end.promise
      })
      await entered.promise
      for (const look of [lock, other]) {
        expect([await look.isHeld(), await look.holdCount()]).toEqual([false, 0])
        await client.run(async () => expect(await look.isHeld()).toBe(false))
      }
      end.resolve()
      await holder
      expect(await lock.isHeld()).toBe(false)
    })

    test('outside any frame, a lock object counts only its own holds', async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      const lease = await lock.lock()
      expect([await lock.isHeld(), await lock.holdCount()]).toEqual([true, 1])
      expect(await stage.getLock(client, 'it').isHeld()).toBe(false)
      await lease.release()
      expect([await lock.isHeld(), await lock.holdCount()]).toEqual([false, 0])
    })

    test('isHeld() is false and holdCount() is 0 after Redis has lost the lock', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      const lease = await lock.lock()
      await stage.world.server.flush()
      expect(await lock.isHeld()).toBe(false)
      expect(await lock.holdCount()).toBe(0)
      expect(await lease.release()).toBe(false)
    })

    test('inspect() counts the clients that wait, not their tasks', async () => {
      const [one, two, three] = stage.getLocks('it', 3) as [
        HoldfastLock,
        HoldfastLock,
        HoldfastLock,
      ]
      const lease = await one.lock()
      const waits = [two.lock(), two.lock(), three.lock()]
      await eventually(async () => (await stage.waiters(one)) === 2)
      await lease.release()
      await Promise.all(waits.map(async (wait) => (await wait).release()))
      await eventually(async () => (await stage.waiters(one)) === 0)
    })

    test('remainingMs() is Infinity for a lock that never expires, and tryLock() returns null', async () => {
      const holder = await stage.putHold('it', 3)
      const lock = stage.getLock(stage.world.newClient(), 'it')
      expect(await lock.remainingMs()).toBe(Infinity)
      expect(await lock.inspect()).toMatchObject({
        holder,
        holdCount: 3,
        ttlMs: null,
      })
      expect(await lock.tryLock(500)).toBeNull()
      leaves({ keys: true, why: 'the eternal lock is part of the test' })
    })
  },
  { isOfExclusion: true },
)

describeLocks(
  'forceUnlock()',
  (stage) => {
    test('forceUnlock() frees a lock that another client holds more than once', async () => {
      const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
      const work = one.using(async (lease) => {
        await one.lock()
        expect(await two.forceUnlock()).toBe(true)
        expect(await stage.holds('it')).toEqual([])
        expect(await two.forceUnlock()).toBe(false)
        await expect(lease.extend(1_000)).rejects.toBeInstanceOf(LeaseLostError)
      })
      await expect(work).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
      const next = await two.tryLock()
      expect(next).not.toBeNull()
      await next?.release()
    })

    test('forceUnlock() of a free lock returns false and leaves no key', async () => {
      const lock = stage.getLock(stage.world.newClient(), 'it')
      expect(await lock.forceUnlock()).toBe(false)
      expect(await lastingKeys(stage.world.server.admin)).toEqual([])
    })

    test('forceUnlock() aborts the lease of the same client at once, and a waiter acquires the lock', async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      const lease = await lock.lock()
      const waiting = stage.getLock(client, 'it').lock()
      expect(await lock.forceUnlock()).toBe(true)
      expect(lease.signal.aborted).toBe(true)
      expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
      // With masters, the waiter may acquire the lock before the last master has confirmed.
      const reasons = stage.world.isQuorum ? ['forced', 'gone'] : ['forced']
      expect(reasons).toContain((lease.signal.reason as LeaseLostError).reason)
      const next = await waiting
      expect(await lease.release()).toBe(false)
      expect(await stage.fields('it')).toEqual({ [next.owner]: 1 })
      await next.release()
    })
  },
  { isOfExclusion: true },
)
