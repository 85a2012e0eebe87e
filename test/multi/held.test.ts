import { describeWorlds, worlds } from '../support/worlds.ts'

const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'isHeld() of a MultiLock',
  (world) => {
    test.each(['readLock', 'upgradableLock'] as const)(
      '`isHeld()` is true for a %s beside a reader with a longer lease',
      async (side) => {
        const other = await world.newClient().getReadWriteLock('it').readLock().lock(120_000)
        const client = world.newClient()
        const lock = client.getMultiLock(client.getReadWriteLock('it')[side](), client.getLock('a'))
        const lease = await lock.lock(20_000)
        expect(await lock.isHeld()).toBe(true)
        await lease.release()
        expect(await lock.isHeld()).toBe(false)
        await other.release()
      },
    )

    test('`isHeld()` is true for both sides of one read-write lock', async () => {
      const client = world.newClient()
      const sides = client.getReadWriteLock('it')
      const lock = client.getMultiLock(sides.readLock(), sides.writeLock())
      const lease = await lock.lock()
      expect(await lock.isHeld()).toBe(true)
      await lease.release()
      expect(await lock.isHeld()).toBe(false)
    })

    test('`isHeld()` is false if one lock was taken away and another reader holds it', async () => {
      const client = world.newClient()
      const side = client.getReadWriteLock('it').readLock()
      const lock = client.getMultiLock(side, client.getLock('a'))
      const lease = await lock.lock()
      await world.newClient().getReadWriteLock('it').readLock().forceUnlock()
      const other = await world.newClient().getReadWriteLock('it').readLock().lock(120_000)
      expect(await lock.isHeld()).toBe(false)
      expect(await lease.release()).toBe(false)
      await other.release()
    })
  },
  places,
)
