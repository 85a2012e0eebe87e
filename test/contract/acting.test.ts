import { describeLocks } from './lock-kinds.ts'

describeLocks('unlock() and isHeld()', (stage) => {
  test('unlock() in a frame does not release a hold that code outside the frame acquired with the same lock object', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await client.run(async () => {
      await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
      expect(await lock.isHeld()).toBe(false)
      expect(await lock.holdCount()).toBe(0)
    })
    expect(await lock.isHeld()).toBe(true)
    expect(await lease.release()).toBe(true)
  })

  test('inside using() of another lock, unlock() and isHeld() act for the lock object that acquired the lock', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    await lock.lock()
    await stage.getLock(client, 'other').using(async () => {
      expect(await lock.isHeld()).toBe(true)
      await expect(stage.getLock(client, 'it').unlock()).rejects.toMatchObject({
        code: 'HOLDFAST_NOT_HELD',
      })
      await lock.unlock()
    })
    expect(await stage.holds('it')).toEqual([])
  })

  stage.testOfExclusion('unlock() inside using() does not end the hold of using()', async () => {
    const client = stage.world.newClient()
    const other = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    await lock.using(async (lease) => {
      await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
      expect(await lock.isHeld()).toBe(true)
      await lock.lock()
      await lock.unlock()
      await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
      expect(lease.valid).toBe(true)
      expect(await stage.getLock(other, 'it').tryLock()).toBeNull()
    })
    const lease = await stage.getLock(other, 'it').tryLock()
    expect(await lease?.release()).toBe(true)
  })

  test('each unlock() in one frame releases one of the acquisitions that were pending at once', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    await client.run(async () => {
      const task = async () => {
        await lock.lock()
        await lock.unlock()
      }
      await Promise.all([task(), task(), task()])
      await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
    })
  })

  test('unlock() rejects with HOLDFAST_CLOSED after close()', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    await lock.lock()
    await client.close()
    await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
  })

  test('lock() and tryLock() refuse a unit of time because times are milliseconds', async () => {
    const lock = stage.getLock(stage.world.newClient(), 'it') as unknown as Record<string, unknown>
    const lockFor = (lock.lock as (...args: unknown[]) => Promise<unknown>).bind(lock)
    const tryFor = (lock.tryLock as (...args: unknown[]) => Promise<unknown>).bind(lock)
    await expect(lockFor(10, 'SECONDS')).rejects.toThrow(/got "SECONDS".*milliseconds/)
    await expect(tryFor(5, 30, 'SECONDS')).rejects.toThrow(/got "SECONDS".*milliseconds/)
  })
})
