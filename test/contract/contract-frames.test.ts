import { setTimeout as pause } from 'node:timers/promises'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'
import { Room } from './overlaps.ts'

const NOT_HELD = { code: 'HOLDFAST_NOT_HELD' }

describeLocks('the frames', (stage) => {
  const holds = () => stage.holds('it')

  describe('a frame of using()', () => {
    stage.testOfExclusion(
      'parallel tasks inside using() of another lock exclude each other by bare calls, with shared or separate lock objects',
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
        // Some requests have their own lock object, some share a lock object.
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

    stage.testOfExclusion(
      'inside nested using() of another lock, a second bare tryLock() returns null',
      async () => {
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
      },
    )

    test('using() inside a run that holds the lock re-enters the hold of the run at any depth', async () => {
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

    stage.testOfExclusion(
      'using() with a given owner lets bare calls re-enter its own lock, but no other lock of that owner',
      async () => {
        const client = stage.world.newClient()
        const owner = client.owner()
        const theirs = await stage.getLock(client, 'it', { owner }).lock()
        await stage.getLock(client, 'leader', { owner }).using(async () => {
          expect(await stage.getLock(client, 'leader').tryLock()).not.toBeNull()
          expect(await stage.getLock(client, 'it').tryLock()).toBeNull()
          expect(await stage.getLock(client, 'it').isHeld()).toBe(false)
        })
        await theirs.release()
      },
    )

    test('inside using(), unlock() of another lock releases only what the same lock object acquired', async () => {
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

    test('inside using() in a run, bare calls for another lock act for the run', async () => {
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
      'a run inside using() re-enters the lock of using(), and its other locks belong to that run alone',
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
      'using() calls side by side in one run exclude each other, with one lock object',
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

  describe('the end of a frame', () => {
    stage.testOfExclusion(
      'a task that outlives its run does not act for the run, and tryLock() returns null',
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

    stage.testOfExclusion(
      'after a run returns at once or throws, a task of that run cannot re-enter its own hold',
      async () => {
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
      },
    )

    stage.testOfExclusion(
      'a task that outlives using() does not act for its frame, although the task has a lease of the hold',
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

    test('a task that outlives an inner frame still re-enters the lock of the outer frame', async () => {
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
