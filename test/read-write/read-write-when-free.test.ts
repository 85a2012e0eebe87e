import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { takes } from '../support/takes.ts'
import { describeWorlds, worlds } from '../support/worlds.ts'

const SOON_MS = 1_500
const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'whenFree() of the sides of a read-write lock',
  (world) => {
    const two = () => {
      const [holder, client] = [world.newClient(), world.newClient()]
      return [holder.getReadWriteLock('it'), client.getReadWriteLock('it')] as const
    }
    const settled = (work: Promise<boolean>) => {
      const state = { isSettled: false }
      void work.then(() => {
        state.isSettled = true
      })
      return () => state.isSettled
    }

    test('the lock is free to read, and not free to write, while another owner reads', async () => {
      const [theirs, ours] = two()
      const lease = await theirs.readLock().lock()
      expect(await ours.readLock().whenFree()).toBe(true)
      expect(await ours.upgradableLock().whenFree()).toBe(true)
      const writable = ours.writeLock().whenFree()
      const isWritable = settled(writable)
      await never(isWritable, 50)
      await lease.release()
      expect(await within(SOON_MS, writable)).toBe(true)
    })

    test('the upgradable and the write side are not free while another owner holds the upgradable lock', async () => {
      const [theirs, ours] = two()
      const lease = await theirs.upgradableLock().lock()
      expect(await ours.readLock().whenFree()).toBe(true)
      const waits = [ours.upgradableLock().whenFree(), ours.writeLock().whenFree()]
      const areSettled = waits.map(settled)
      await never(() => areSettled.some((isSettled) => isSettled()), 50)
      await lease.release()
      expect(await Promise.all(waits)).toEqual([true, true])
    })

    test('no side is free while another owner writes; only the read side is free while that owner still reads', async () => {
      const [theirs, ours] = two()
      const reads: (() => Promise<boolean>)[] = []
      const waits: Promise<boolean>[] = []
      await theirs.writeLock().using(async (write) => {
        const read = await theirs.readLock().lock()
        reads.push(() => read.release())
        waits.push(ours.readLock().whenFree(), ours.writeLock().whenFree())
        const areSettled = waits.map(settled)
        await never(() => areSettled.some((isSettled) => isSettled()), 50)
        await write.release()
        expect(await waits[0]).toBe(true)
        expect(areSettled[1]?.()).toBe(false)
      })
      await reads[0]?.()
      expect(await waits[1]).toBe(true)
    })

    test('the write side is free when the lease of a dead reader ends', async () => {
      const [theirs, ours] = two()
      await theirs.readLock().lock(300)
      expect(await takes({ atMost: 300 + SOON_MS }, ours.writeLock().whenFree())).toBe(true)
    })

    test('`onFree()` of the read side reports the releases of writers, and no releases of readers', async () => {
      const [theirs, ours] = two()
      const calls = { read: 0, write: 0 }
      const stops = [
        ours.readLock().onFree(() => {
          calls.read += 1
        }),
        ours.writeLock().onFree(() => {
          calls.write += 1
        }),
      ]
      const channels = async () => (await world.server.admin.pubsub('CHANNELS')) as string[]
      await eventually(async () => (await channels()).some((one) => one.includes('rwlock')))
      await theirs.readLock().using(() => {})
      await eventually(() => calls.write === 1)
      expect(calls).toEqual({ read: 0, write: 1 })
      await theirs.writeLock().using(() => {})
      await eventually(() => calls.read === 1 && calls.write === 2)
      for (const stop of stops) stop()
    })
  },
  places,
)
