import { eventually } from '../support/eventually.ts'
import { describeWorlds, worlds } from '../support/worlds.ts'

const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'a request to release one side of a read-write lock',
  (world) => {
    test('the request reaches each holder of that side once', async () => {
      const holders = [world.newClient(), world.newClient()] as const
      const heard: string[] = []
      for (const client of holders) {
        client.on('releaseRequested', ({ owner }) => heard.push(owner))
      }
      const leases = [
        await holders[0].getReadWriteLock('it').readLock().lock(),
        await holders[0].getReadWriteLock('it').readLock().lock(),
        await holders[1].getReadWriteLock('it').upgradableLock().lock(),
      ]
      const rw = world.newClient().getReadWriteLock('it')
      expect(await rw.writeLock().requestRelease()).toBe(0)
      await eventually(async () => (await rw.readLock().requestRelease()) === 3)
      expect(new Set(heard)).toEqual(new Set(leases.map(({ owner }) => owner)))
      for (const lease of leases) await lease.release()
      const writing = await holders[0].getReadWriteLock('it').writeLock().lock()
      expect(await rw.readLock().requestRelease()).toBe(0)
      expect(await rw.writeLock().requestRelease()).toBe(1)
      expect(heard.at(-1)).toBe(writing.owner)
      await writing.release()
    })
  },
  places,
)
