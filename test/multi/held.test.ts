import { describeWorlds, worlds } from '../support/worlds.ts'

const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'isHeld() of a MultiLock',
  (world) => {
    test.each(['readLock', 'upgradableLock'] as const)(
      'is true while it holds a %s beside a reader with a longer lease',
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

    test('is true while it holds both sides of one lock, as the one to write', async () => {
      const client = world.newClient()
      const sides = client.getReadWriteLock('it')
      const lock = client.getMultiLock(sides.readLock(), sides.writeLock())
      const lease = await lock.lock()
      expect(await lock.isHeld()).toBe(true)
      await lease.release()
      expect(await lock.isHeld()).toBe(false)
    })

    test('is false when one of its locks was taken away, and another reader has it', async () => {
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
