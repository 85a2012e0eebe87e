import { InvalidArgumentError } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { describeWorlds, quorumWorlds, worlds } from '../support/worlds.ts'

const places = [...worlds, ...quorumWorlds].filter(({ name }) =>
  /memory|own client|three/.test(name),
)

describeWorlds(
  'whenFree() of a multi-lock',
  (world) => {
    const locksOf = (client = world.newClient(), names = ['a', 'b', 'c']) =>
      names.map((name) => client.getLock(name))

    test('`whenFree()` resolves at once if all locks are free, and acquires none', async () => {
      const client = world.newClient()
      const multi = client.getMultiLock(...locksOf(client))
      expect(await multi.whenFree()).toBe(true)
      expect(await multi.isLocked()).toBe(false)
    })

    test('`whenFree()` resolves when all locks are free at the same time, not when each has been free', async () => {
      const holder = world.newClient()
      const multi = world.newClient().getMultiLock(...locksOf())
      const [a, b] = [await holder.getLock('a').lock(), await holder.getLock('b').lock()]
      let isSettled = false
      const wait = multi.whenFree({ waitMs: 60_000 }).finally(() => {
        isSettled = true
      })
      await never(() => isSettled, 40)
      await a.release()
      await eventually(async () => !(await holder.getLock('a').isLocked()))
      await never(() => isSettled, 40)
      // The first lock is held again before the second lock is free.
      const again = await holder.getLock('a').lock()
      await b.release()
      await never(() => isSettled, 60)
      await again.release()
      expect(await wait).toBe(true)
    })

    test('`whenFree()` has one `waitMs` for all locks', async () => {
      const holder = world.newClient()
      const multi = world.newClient().getMultiLock(...locksOf())
      const lease = await holder.getLock('b').lock()
      expect(await within(2_400, multi.whenFree({ waitMs: 800 }))).toBe(false)
      await lease.release()
      await expect(multi.whenFree({ waitMs: 0 })).rejects.toBeInstanceOf(InvalidArgumentError)
    })

    test('`whenFree()` leaves no listener behind when it is aborted, or when one of its locks fails', async () => {
      const holder = world.newClient()
      const [client, other] = [world.newClient(), world.newClient()]
      const multi = client.getMultiLock(client.getLock('a'), other.getLock('b'))
      const leases = [await holder.getLock('a').lock(), await holder.getLock('b').lock()]
      const abort = new AbortController()
      const aborted = multi.whenFree({ signal: abort.signal }).catch((error) => error)
      const failed = multi.whenFree().catch((error) => error)
      const channels = async () =>
        ((await world.server.admin.pubsub('CHANNELS')) as string[]).filter((one) =>
          /^redisson_lock__channel/.test(one),
        )
      await eventually(async () => (await channels()).length === 2)
      abort.abort(new Error('not wanted'))
      expect(await aborted).toMatchObject({ message: 'not wanted' })
      await other.close()
      expect(await failed).toMatchObject({ code: 'HOLDFAST_CLOSED' })
      await eventually(async () => (await channels()).length === 0)
      for (const lease of leases) await lease.release()
    })
  },
  places,
)
