import { eventually } from '../support/eventually.ts'
import { describeWorlds, worlds } from '../support/worlds.ts'

const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'the upgradable side of a read-write lock',
  (world) => {
    test('plain readers do not hold the upgradable lock, and do not block it', async () => {
      const reading = await world.newClient().getReadWriteLock('it').readLock().lock(20_000)
      const upgradable = world.newClient().getReadWriteLock('it').upgradableLock()
      expect(await upgradable.whenFree({ waitMs: 10_000 })).toBe(true)
      expect(await upgradable.isLocked()).toBe(false)
      expect(await upgradable.remainingMs()).toBe(0)
      expect(await upgradable.inspect()).toMatchObject({ holder: null, holdCount: 0, ttlMs: null })
      expect((await upgradable.why()).holder).toBeNull()
      expect(await upgradable.forceUnlock()).toBe(false)
      expect(reading.valid).toBe(true)
      expect(await reading.release()).toBe(true)
    })

    test('the holder of the upgradable lock holds the read side too, even beside a reader with a longer lease', async () => {
      const holder = world.newClient()
      const reading = await world.newClient().getReadWriteLock('it').readLock().lock(60_000)
      const lease = await holder.getReadWriteLock('it').upgradableLock().lock(20_000)
      const lock = world.newClient().getReadWriteLock('it')
      expect(await lock.upgradableLock().isLocked()).toBe(true)
      expect(await lock.upgradableLock().inspect()).toMatchObject({ holder: lease.owner })
      expect(await lock.upgradableLock().remainingMs()).toBeLessThanOrEqual(20_000)
      expect(await lock.readLock().remainingMs()).toBeGreaterThan(20_000)
      expect(await lock.readLock().isLocked()).toBe(true)
      await reading.release()
      expect(await lock.readLock().isLocked()).toBe(true)
      await lease.release()
    })

    test('`forceUnlock()` of the upgradable lock ends its holder and no plain reader', async () => {
      const client = world.newClient()
      const reading = await client.getReadWriteLock('it').readLock().lock()
      const lease = await client.getReadWriteLock('it').upgradableLock().lock()
      const lock = world.newClient().getReadWriteLock('it')
      expect(await lock.upgradableLock().forceUnlock()).toBe(true)
      expect((await lock.inspect()).holders.map(({ owner }) => owner)).toEqual([reading.owner])
      expect(await lock.upgradableLock().isLocked()).toBe(false)
      expect(await lease.release()).toBe(false)
      expect(await reading.release()).toBe(true)
    })

    test('a release request for the upgradable lock reaches its holder and no plain reader', async () => {
      const [reader, holder] = [world.newClient(), world.newClient()]
      const heard: string[] = []
      for (const client of [reader, holder]) {
        client.on('releaseRequested', ({ owner }) => heard.push(owner))
      }
      const reading = await reader.getReadWriteLock('it').readLock().lock()
      const lease = await holder.getReadWriteLock('it').upgradableLock().lock()
      const lock = world.newClient().getReadWriteLock('it')
      await eventually(async () => (await lock.readLock().requestRelease()) === 2)
      heard.length = 0
      expect(await lock.upgradableLock().requestRelease()).toBe(1)
      expect(heard).toEqual([lease.owner])
      await lease.release()
      expect(await lock.upgradableLock().requestRelease()).toBe(0)
      await reading.release()
    })
  },
  places,
)
