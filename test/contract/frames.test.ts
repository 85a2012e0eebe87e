import { setTimeout as pause } from 'node:timers/promises'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'
import { Room } from './overlaps.ts'

const NOT_HELD = { code: 'HOLDFAST_NOT_HELD' }

describeLocks('the frames', (stage) => {
  const holds = () => stage.holds('it')

  describe('of using()', () => {
    stage.testOfExclusion(
      'are shared by all that a task starts there, and let nobody in who comes later',
      async () => {
        const client = stage.world.newClient()
        const shared = stage.getLock(client, 'it')
        let [inside, most] = [0, 0]
        const visit = async () => {
          inside += 1
          most = Math.max(most, inside)
          await pause(5)
          inside -= 1
        }
        // Some with a lock object of their own, some with one that all use.
        const request = async (i: number) => {
          await pause(2 * i)
          if (i % 3 === 0) {
            await shared.lock()
            await visit()
            await shared.unlock()
          } else {
            const lock = i % 3 === 1 ? shared : stage.getLock(client, 'it')
            const lease = await lock.tryLock(20_000)
            await visit()
            await lease?.release()
          }
        }
        await stage
          .getLock(client, 'leader')
          .using(() => Promise.all(Array.from({ length: 9 }, (_, i) => request(i))))
        expect(most).toBe(1)
        expect(await holds()).toEqual([])
      },
    )

    stage.testOfExclusion('let nobody into another lock by a bare call, however deep', async () => {
      const client = stage.world.newClient()
      const [leader, lock] = [stage.getLock(client, 'leader'), stage.getLock(client, 'it')]
      await leader.using(() =>
        leader.using(async () => {
          const first = await lock.tryLock()
          expect(await lock.tryLock()).toBeNull()
          expect(await stage.getLock(client, 'it').tryLock()).toBeNull()
          expect(await holds()).toEqual([1])
          await first?.release()
        }),
      )
    })

    test('carry their lock whoever holds it: re-entered, its owner is that of the outer code', async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      await client.run(async () => {
        await lock.lock()
        await lock.using(async () => {
          await lock.using(() =>
            stage.getLock(client, 'it').using(async () => {
              expect(await holds()).toEqual([4])
            }),
          )
        })
        await lock.unlock()
      })
      expect(await holds()).toEqual([])
    })

    stage.testOfExclusion('carry no other lock of an owner that is given', async () => {
      const client = stage.world.newClient()
      const owner = client.owner()
      const theirs = await stage.getLock(client, 'it', { owner }).lock()
      await stage.getLock(client, 'leader', { owner }).using(async () => {
        expect(await stage.getLock(client, 'leader').tryLock()).not.toBeNull()
        expect(await stage.getLock(client, 'it').tryLock()).toBeNull()
        expect(await stage.getLock(client, 'it').isHeld()).toBe(false)
      })
      await theirs.release()
    })

    test('leave unlock() of another lock to the lock object, as outside any frame', async () => {
      const client = stage.world.newClient()
      const [leader, lock] = [stage.getLock(client, 'leader'), stage.getLock(client, 'it')]
      await leader.using(async (lease) => {
        await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
        await lock.lock()
        expect([await lock.isHeld(), await lock.holdCount()]).toEqual([true, 1])
        await expect(stage.getLock(client, 'it').unlock()).rejects.toMatchObject(NOT_HELD)
        await lock.unlock()
        expect(await holds()).toEqual([])
        await expect(leader.unlock()).rejects.toMatchObject(NOT_HELD)
        expect(lease.valid).toBe(true)
      })
    })

    test('inside a run leave it a thread: bare calls of another lock act for the run', async () => {
      const client = stage.world.newClient()
      const [leader, lock] = [stage.getLock(client, 'leader'), stage.getLock(client, 'it')]
      await client.run(async () => {
        await leader.using(async () => {
          await lock.lock()
          await stage.getLock(client, 'it').lock()
          expect(await holds()).toEqual([2])
          await lock.unlock()
        })
        expect(await lock.holdCount()).toBe(1)
        await lock.unlock()
        await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
      })
    })

    stage.testOfExclusion(
      'hold a run inside: it re-enters their lock, and other locks are its own',
      async () => {
        const client = stage.world.newClient()
        const [leader, lock] = [stage.getLock(client, 'leader'), stage.getLock(client, 'it')]
        const room = new Room()
        await leader.using(async () => {
          const request = () =>
            client.run(async () => {
              expect(await leader.isHeld()).toBe(true)
              await leader.lock()
              await lock.lock()
              await lock.lock()
              await room.visit()
              await lock.unlock()
              await lock.unlock()
              await leader.unlock()
              await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
            })
          await Promise.all([request(), request(), request()])
        })
        expect(room).toMatchObject({ visits: 3, overlaps: 0 })
      },
    )

    stage.testOfExclusion(
      'of two side by side in one run are two, on one lock object',
      async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const room = new Room()
        const nested = () => lock.using(() => lock.using(room.visit))
        await client.run(() => Promise.all([nested(), nested(), nested()]))
        expect(room).toMatchObject({ visits: 3, overlaps: 0 })
      },
    )
  })

  describe('end with their function', () => {
    stage.testOfExclusion(
      'that of a run: what goes on afterwards does not act for it',
      async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const end = deferred<void>()
        const late: Promise<unknown>[] = []
        const look = () => late.push(end.promise.then(() => lock.tryLock()))
        const leases = [
          await client.run(async () => {
            look()
            await pause(1)
            look()
            return lock.lock()
          }),
        ]
        end.resolve()
        expect(await Promise.all(late)).toEqual([null, null])
        expect(await holds()).toEqual([1])
        for (const lease of leases) await lease.release()
      },
    )

    stage.testOfExclusion('that of a run which returns at once, or throws', async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      const late: Promise<boolean>[] = []
      const reenters = async () => {
        await pause(1)
        const [one, two] = [await lock.tryLock(20_000), await lock.tryLock()]
        await one?.release()
        await two?.release()
        return two !== null
      }
      const failing = () => {
        late.push(reenters())
        throw new Error('of the work')
      }
      client.run(() => {
        late.push(reenters())
      })
      expect(() => client.run(failing)).toThrow('of the work')
      await expect(client.run(async () => failing())).rejects.toThrow('of the work')
      expect(await Promise.all(late)).toEqual([false, false, false])
    })

    stage.testOfExclusion(
      'that of using(), although the task has a lease of the hold',
      async () => {
        const client = stage.world.newClient()
        const lock = stage.getLock(client, 'it')
        const end = deferred<void>()
        let task: Promise<unknown> = Promise.resolve()
        await lock.using(() => {
          task = lock.lock().then(async (lease) => {
            await end.promise
            expect([await lock.isHeld(), await lock.tryLock()]).toEqual([false, null])
            expect(await lease.release()).toBe(true)
          })
          return eventually(async () => (await holds())[0] === 2)
        })
        expect(await holds()).toEqual([1])
        end.resolve()
        await task
        expect(await holds()).toEqual([])
      },
    )

    test('and leave those around them as they are', async () => {
      const client = stage.world.newClient()
      const [lock, other] = [stage.getLock(client, 'it'), stage.getLock(client, 'other')]
      await lock.using(async () => {
        const end = deferred<void>()
        let task: Promise<unknown> = Promise.resolve()
        await other.using(() => {
          task = end.promise.then(() => lock.using(holds))
        })
        end.resolve()
        expect(await task).toEqual([2])
      })
    })
  })
})
