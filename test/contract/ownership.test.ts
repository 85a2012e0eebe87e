import { setTimeout as pause } from 'node:timers/promises'
import type { HoldfastLock, Lease } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { describeLocks } from './lock-kinds.ts'
import { Room } from './overlaps.ts'

describeLocks(
  'the owner',
  (stage) => {
    const newLock = () => stage.getLock(stage.world.newClient(), 'it')
    const holds = () => stage.holds('it')

    describe('code that holds the lock', () => {
      test('using() re-enters at any depth, and each step changes the hold count', async () => {
        const lock = newLock()
        const counts: number[][] = []
        const dig = async (depth: number): Promise<void> => {
          counts.push(await holds())
          if (depth < 4) await lock.using(() => dig(depth + 1))
          counts.push(await holds())
        }
        await dig(0)
        expect(counts).toEqual([[], [1], [2], [3], [4], [4], [3], [2], [1], []])
      })

      test('bare calls in a run re-enter, and each unlock() releases one acquisition', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        await client.run(async () => {
          await lock.lock()
          expect(await holds()).toEqual([1])
          await lock.lock()
          expect(await lock.tryLock()).not.toBeNull()
          expect(await holds()).toEqual([3])
          await lock.unlock()
          expect(await holds()).toEqual([2])
          await lock.unlock()
          await lock.unlock()
          expect(await holds()).toEqual([])
          await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
        })
      })

      test('another lock object of the same client re-enters', async () => {
        const client = stage.world.newClient()
        await stage.getLock(client, 'it').using(async () => {
          const other = stage.getLock(client, 'it')
          const lease = await other.lock()
          expect(await holds()).toEqual([2])
          expect(await other.holdCount()).toBe(2)
          await lease.release()
          await other.using(async () => expect(await holds()).toEqual([2]))
        })
        expect(await holds()).toEqual([])
      })

      test('bare calls and using() in nested frames share one hold', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        await client.run(async () => {
          await lock.lock()
          await lock.using(async () => {
            await client.run(async () => {
              await lock.lock()
              expect(await holds()).toEqual([3])
              await lock.unlock()
            })
          })
          expect(await holds()).toEqual([1])
          await lock.unlock()
        })
        expect(await holds()).toEqual([])
      })

      test('parallel tasks that a holder starts re-enter, and each task adds one to the hold count', async () => {
        const lock = newLock()
        await lock.using(async () => {
          const leases = await Promise.all([lock.lock(), lock.tryLock(), lock.lock(), lock.lock()])
          expect(await holds()).toEqual([5])
          expect(new Set(leases.map((lease) => lease?.token)).size).toBe(1)
          await Promise.all(leases.map((lease) => lease?.release()))
          expect(await holds()).toEqual([1])
          await Promise.all([1, 2, 3].map(() => lock.using(() => pause(1))))
          expect(await holds()).toEqual([1])
        })
        expect(await holds()).toEqual([])
      })

      test('a hold that remains at the end of a run stays held, and no other code re-enters it', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const lease = await client.run(() => lock.lock())
        expect(await holds()).toEqual([1])
        expect(await client.run(() => lock.tryLock())).toBeNull()
        expect(await lock.tryLock()).toBeNull()
        await client.run(async () =>
          expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' }),
        )
        await lease.release()
        expect(await holds()).toEqual([])
      })

      test('a task that outlives its holder does not act for the next holder', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const released = deferred<void>()
        let outliving: Promise<unknown> = Promise.resolve()
        await lock.using(() => {
          outliving = released.promise.then(() => lock.tryLock())
        })
        await lock.using(async () => {
          released.resolve()
          expect(await outliving).toBeNull()
          expect(await holds()).toEqual([1])
        })
      })

      test('a frame of one client does not let another client re-enter or unlock', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        await one.using(async () => {
          expect(await two.tryLock()).toBeNull()
          await expect(two.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
          expect(await holds()).toEqual([1])
        })
      })

      test('a frame of another client in between does not hide the outer frame', async () => {
        const [one, two] = [stage.world.newClient(), stage.world.newClient()]
        const [outer, inner] = [stage.getLock(one, 'it'), stage.getLock(two, 'other')]
        await outer.using(() =>
          inner.using(async () => {
            await outer.using(async () => expect(await holds()).toEqual([2]))
            expect(await inner.isHeld()).toBe(true)
            await two.run(async () => expect(await outer.isHeld()).toBe(true))
          }),
        )
      })

      test('a frame that holds one lock does not re-enter another lock of the same client', async () => {
        const client = stage.world.newClient()
        const other = await stage.getLock(client, 'other').lock()
        await stage.getLock(client, 'it').using(async () => {
          expect(await stage.getLock(client, 'other').tryLock()).toBeNull()
        })
        await other.release()
      })
    })

    describe('other code is excluded', () => {
      test('using() calls side by side in one run exclude each other', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const room = new Room()
        await client.run(() => Promise.all([1, 2, 3].map(() => lock.using(room.visit))))
        expect(room).toMatchObject({ visits: 3, overlaps: 0 })
      })

      test('20 using() calls at once on one lock object exclude each other', async () => {
        const lock = newLock()
        const room = new Room()
        await Promise.all(Array.from({ length: 20 }, () => lock.using(room.visit)))
        expect(room).toMatchObject({ visits: 20, overlaps: 0 })
      })

      test('two clients exclude each other, by lock(), tryLock() and using()', async () => {
        const locks = stage.getLocks('it', 2)
        const room = new Room()
        const bare = async (lock: HoldfastLock) => {
          const lease = await lock.lock()
          await room.visit()
          await lease.release()
        }
        const timed = async (lock: HoldfastLock) => {
          const lease = await lock.tryLock(20_000)
          await room.visit()
          await lease?.release()
        }
        const works = locks.flatMap((lock) =>
          [1, 2, 3, 4].flatMap(() => [lock.using(room.visit), bare(lock), timed(lock)]),
        )
        await Promise.all(works)
        expect(room).toMatchObject({ visits: 24, overlaps: 0 })
        expect(await holds()).toEqual([])
      })

      test('tasks with one lock object outside any frame exclude each other when they start together', async () => {
        const lock = newLock()
        const room = new Room()
        const task = async () => {
          await lock.lock()
          try {
            await room.visit()
          } finally {
            await lock.unlock()
          }
        }
        await Promise.all(Array.from({ length: 12 }, task))
        expect(room).toMatchObject({ visits: 12, overlaps: 0 })
        expect(await holds()).toEqual([])
      })

      test('tasks with one lock object outside any frame exclude each other when they start one by one', async () => {
        const lock = newLock()
        const room = new Room()
        const task = async (i: number) => {
          await pause(i)
          await lock.lock()
          await room.visit()
          await pause(i % 3)
          await lock.unlock()
        }
        await Promise.all(Array.from({ length: 12 }, (_, i) => task(i)))
        expect(room).toMatchObject({ visits: 12, overlaps: 0 })
      })

      test('runs that share one lock object exclude each other', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const room = new Room()
        const request = () =>
          client.run(async () => {
            await lock.lock()
            await lock.lock()
            await room.visit()
            await lock.unlock()
            await lock.unlock()
          })
        await Promise.all([request(), request(), request()])
        expect(room).toMatchObject({ visits: 3, overlaps: 0 })
        expect(await holds()).toEqual([])
      })

      test('outside any frame, a second tryLock() on the same lock object returns null', async () => {
        const lock = newLock()
        const lease = await lock.lock()
        expect(await lock.tryLock()).toBeNull()
        expect(await holds()).toEqual([1])
        await lease.release()
      })

      test('two bare acquisitions that are pending at once in one frame do not share the lock', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        await client.run(async () => {
          const tried = await Promise.all([lock.tryLock(), lock.tryLock()])
          expect(tried.filter((lease) => lease === null)).toHaveLength(1)
          await tried.find((lease) => lease !== null)?.release()

          const [first, second] = [lock.lock(), lock.lock()]
          const lease = await first
          let isSecond = false
          const secondToo = second.then((own) => {
            isSecond = true
            return own
          })
          await never(() => isSecond, 30)
          await lease.release()
          expect((await secondToo).owner).not.toBe(lease.owner)
          await (await secondToo).release()
        })
        expect(await holds()).toEqual([])
      })
    })

    describe('a given owner', () => {
      test('lock objects with the same given owner re-enter each other anywhere', async () => {
        const client = stage.world.newClient()
        const owner = client.owner()
        const one = stage.getLock(client, 'it', { owner })
        const two = stage.getLock(client, 'it', { owner })
        await one.lock()
        await two.lock()
        await client.run(() => one.lock())
        await two.using(async () => expect(await holds()).toEqual([4]))
        expect([await one.holdCount(), await two.holdCount()]).toEqual([3, 3])
        await two.unlock()
        await one.unlock()
        await two.unlock()
        expect(await holds()).toEqual([])
        await expect(one.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
      })

      test('a given owner has precedence over the frame of the running code', async () => {
        const client = stage.world.newClient()
        const mine = stage.getLock(client, 'it')
        const theirs = stage.getLock(client, 'it', { owner: client.owner() })
        await mine.using(async () => {
          expect(await theirs.tryLock()).toBeNull()
          await expect(theirs.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
        })
        await theirs.using(async () => {
          await mine.using(async () => expect(await holds()).toEqual([2]))
        })
      })

      test('different given owners exclude each other', async () => {
        const client = stage.world.newClient()
        const room = new Room()
        const locks = [1, 2, 3].map(() => stage.getLock(client, 'it', { owner: client.owner() }))
        await Promise.all(locks.map((lock) => lock.using(room.visit)))
        expect(room).toMatchObject({ visits: 3, overlaps: 0 })
      })

      test('pending acquisitions of one given owner all belong to one hold', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it', { owner: client.owner() })
        const leases = await Promise.all([lock.lock(), lock.lock(), lock.tryLock(5_000)])
        expect(await holds()).toEqual([3])
        for (const lease of leases) await lease?.release()
        expect(await holds()).toEqual([])
      })
    })

    describe('unlock()', () => {
      /** Checks that `unlock` rejects and does not change the lock in Redis. */
      const changesNothing = async (unlock: () => Promise<void>) => {
        const before = await stage.fields('it')
        const pttl = await stage.pttl('it')
        const [error] = await Promise.all([unlock().catch((error) => error), undefined])
        expect(error).toMatchObject({ code: 'HOLDFAST_NOT_HELD', lockName: 'it' })
        expect(error.message).toContain('it')
        expect(await stage.fields('it')).toEqual(before)
        const now = await stage.pttl('it')
        expect(now).toBeLessThanOrEqual(pttl)
        expect(now).toBeGreaterThan(pttl - 5_000)
      }

      test('unlock() by code that does not hold the lock rejects and changes nothing', async () => {
        const client = stage.world.newClient()
        const lease = await stage.getLock(client, 'it').lock(60_000)
        const other = stage.getLock(stage.world.newClient(), 'it')
        await changesNothing(() => other.unlock())
        await changesNothing(() => stage.getLock(client, 'it').unlock())
        await changesNothing(() => client.run(() => stage.getLock(client, 'it').unlock()))
        await changesNothing(() => stage.getLock(client, 'it', { owner: client.owner() }).unlock())
        await lease.release()
        expect(await holds()).toEqual([])
      })

      test('unlock() of a free lock rejects and leaves no key', async () => {
        await expect(newLock().unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
        expect(await lastingKeys(stage.world.server.admin)).toEqual([])
      })

      test('unlock() outside a frame does not release the hold of a frame', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const entered = deferred<void>()
        const end = deferred<void>()
        const holder = lock.using(async () => {
          entered.resolve()
          await end.promise
        })
        await entered.promise
        await changesNothing(() => lock.unlock())
        end.resolve()
        await holder
      })

      test('unlock() outside a frame releases what its own lock object acquired, and no hold of another lock object', async () => {
        const client = stage.world.newClient()
        const [one, two] = [stage.getLock(client, 'it'), stage.getLock(client, 'it')]
        await one.lock()
        await changesNothing(() => two.unlock())
        await one.unlock()
        expect(await holds()).toEqual([])
      })

      test('unlock() rejects after the last acquisition was released by its lease', async () => {
        const lock = newLock()
        await (await lock.lock()).release()
        await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
      })
    })

    describe('lease.release()', () => {
      test('release() undoes exactly one acquisition, in any order, even when it is called twice', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        await client.run(async () => {
          const [outer, middle, inner] = [await lock.lock(), await lock.lock(), await lock.lock()]
          expect(await outer.release()).toBe(true)
          expect(await outer.release()).toBe(true)
          expect(await holds()).toEqual([2])
          expect([outer.valid, middle.valid, inner.valid]).toEqual([false, true, true])
          await Promise.all([inner.release(), inner.release()])
          expect(await holds()).toEqual([1])
          expect(await middle.release()).toBe(true)
          expect(await holds()).toEqual([])
          expect(await inner.release()).toBe(true)
        })
      })

      test('release() of a hold that has ended does not release the next hold of the same given owner', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it', { owner: client.owner() })
        const first = await lock.lock()
        await first.release()
        const second = await lock.lock()
        // Each acquisition has a new owner name, because the server may receive the first acquisition late or lose its
        // release.
        expect(second.owner).not.toBe(first.owner)
        await first.release()
        expect(await holds()).toEqual([1])
        await second.release()
      })

      test('release() works outside the frame that acquired the lock', async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const lease = await client.run(() => lock.lock())
        expect(await lease.release()).toBe(true)
        expect(await holds()).toEqual([])
      })

      test('the end of an `await using` block releases the lease even when the block throws', async () => {
        const lock = newLock()
        let lease: Lease | undefined
        const work = async () => {
          await using mine = await lock.lock()
          lease = mine
          expect(await holds()).toEqual([1])
          throw new Error('of the work')
        }
        await expect(work()).rejects.toThrow('of the work')
        expect(await holds()).toEqual([])
        expect(lease?.valid).toBe(false)
      })
    })

    describe('using()', () => {
      test('using() returns the value of its function, and rejects with the error of its function', async () => {
        const lock = newLock()
        expect(await lock.using(() => 42)).toBe(42)
        const reason = new Error('of the work')
        const failing = () => {
          throw reason
        }
        await expect(lock.using(failing)).rejects.toBe(reason)
        expect(await holds()).toEqual([])
      })

      test('tryUsing() returns null and does not run its function while another client holds the lock', async () => {
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const fn = jest.fn()
        await one.using(async () => {
          expect(await two.tryUsing(fn, { waitMs: 1_000 })).toBeNull()
          expect(await two.tryUsing(fn)).toBeNull()
        })
        expect(fn).not.toHaveBeenCalled()
        expect(await two.tryUsing(() => 'mine', { waitMs: 5_000 })).toBe('mine')
        expect(await two.tryUsing(() => holds())).toEqual([1])
        expect(await holds()).toEqual([])
      })

      test('the lock is free after using() although its function released the lease itself', async () => {
        const lock = newLock()
        await lock.using((lease) => lease.release())
        expect(await holds()).toEqual([])
      })
    })

    describe('a lock object that waits for itself', () => {
      const selfWaits = (spy: jest.SpyInstance) =>
        spy.mock.calls.filter(([, { code } = { code: '' }]) => code === 'HOLDFAST_SELF_WAIT')

      afterEach(() => jest.restoreAllMocks())

      test('a lock object that waits for itself warns once, and the warning names the lock and the remedy', async () => {
        const spy = jest.spyOn(process, 'emitWarning').mockReturnValue()
        const lock = newLock()
        const abort = new AbortController()
        await lock.lock()
        const nested = [1, 2].map(() => lock.lock({ signal: abort.signal }))
        // The client warns within a second. The test waits longer, because the machine may be busy.
        await eventually(() => selfWaits(spy).length > 0, { timeoutMs: 3_000 })
        await never(() => selfWaits(spy).length > 1, 50)
        expect(selfWaits(spy)[0]?.[0]).toMatch(/"it".*using\(fn\).*run\(fn\).*owner/)
        abort.abort(new Error('enough'))
        for (const each of nested) await expect(each).rejects.toThrow('enough')
        await lock.unlock()
      })

      test('a lock object does not warn while another client holds the lock, or when the wait is short', async () => {
        const spy = jest.spyOn(process, 'emitWarning').mockReturnValue()
        const [one, two] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await one.lock()
        const others = two.lock()
        await pause(700)
        const own = one.lock()
        await lease.release()
        for (const next of await Promise.all(
          [others, own].map(async (it) => (await it).release()),
        )) {
          expect(next).toBe(true)
        }
        expect(selfWaits(spy)).toEqual([])
      })
    })

    describe('the waiters of one client', () => {
      const order: number[] = []
      beforeEach(() => order.splice(0))

      test('waiters of one client acquire the lock in the order of their calls, by lock() and using()', async () => {
        const client = stage.world.newClient()
        const lease = await stage.getLock(client, 'it').lock()
        const lock = stage.getLock(client, 'it')
        const bare = async (i: number) => {
          const own = await lock.lock()
          order.push(i)
          await own.release()
        }
        const works = Array.from({ length: 12 }, (_, i) =>
          i % 2 === 0 ? bare(i) : lock.using(() => void order.push(i)),
        )
        await pause(5)
        await lease.release()
        await Promise.all(works)
        expect(order).toEqual(works.map((_, i) => i))
      })

      test('waiters of one client keep their order when another client releases the lock', async () => {
        const [far, lock] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await far.lock()
        const works = Array.from({ length: 8 }, (_, i) => lock.using(() => void order.push(i)))
        await eventually(async () => (await stage.waiters(far)) === 1)
        await lease.release()
        await Promise.all(works)
        expect(order).toEqual(works.map((_, i) => i))
      })

      test('the other waiters keep their order when one waiter gives up', async () => {
        const lock = newLock()
        const lease = await lock.lock()
        const abort = new AbortController()
        const works = Array.from({ length: 5 }, (_, i) =>
          lock.using(() => void order.push(i), i === 2 ? { signal: abort.signal } : {}),
        )
        abort.abort(new Error('gave up'))
        await lease.release()
        const outcomes = await Promise.allSettled(works)
        expect(outcomes.map(({ status }) => status)).toEqual(
          works.map((_, i) => (i === 2 ? 'rejected' : 'fulfilled')),
        )
        expect(order).toEqual([0, 1, 3, 4])
      })

      test('the other waiters acquire the lock when the first waiter, which requests for all of them, gives up', async () => {
        const [far, lock] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
        const lease = await far.lock()
        const abort = new AbortController()
        const first = expect(lock.lock({ signal: abort.signal })).rejects.toThrow('gave up')
        const works = [1, 2].map((i) => lock.using(() => void order.push(i)))
        const served = Promise.allSettled(works)
        await eventually(async () => (await stage.waiters(far)) === 1)
        abort.abort(new Error('gave up'))
        await first
        await lease.release()
        await eventually(() => order.length === 2)
        await served
        expect(order).toEqual([1, 2])
      })
    })
  },
  { isOfExclusion: true },
)
