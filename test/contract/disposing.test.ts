import { describeLocks } from './lock-kinds.ts'

describeLocks('the end of an `await using` block', (stage) => {
  const newLock = () => stage.getLock(stage.world.newClient(), 'it')
  const LOST = { code: 'HOLDFAST_LEASE_LOST', lockName: 'it', reason: 'forced' }

  test('the end of the block rejects when the lease was lost, as using() does', async () => {
    const lock = newLock()
    const work = async () => {
      await using _ = await lock.lock()
      await lock.forceUnlock()
    }
    await expect(work()).rejects.toMatchObject(LOST)
    await expect(lock.using(() => lock.forceUnlock())).rejects.toMatchObject(LOST)
  })

  test('the end of the block releases the lock when the block throws, and the error of the block passes through', async () => {
    const lock = newLock()
    const own = new Error('of the work')
    const work = async () => {
      await using _ = await lock.lock()
      throw own
    }
    await expect(work()).rejects.toBe(own)
    expect(await stage.holds('it')).toEqual([])
  })

  test('the end of the block does not report a loss again that a call inside the block has reported', async () => {
    const lock = newLock()
    const told: unknown[] = []
    const released = async () => {
      await using lease = await lock.lock()
      await lock.forceUnlock()
      told.push(await lease.release())
    }
    const unlocked = async () => {
      await using _ = await lock.lock()
      await lock.forceUnlock()
      told.push(await lock.unlock().catch(({ code }) => code))
    }
    const asserted = async () => {
      await using lease = await lock.lock()
      await lock.forceUnlock()
      expect(() => lease.assertValid()).toThrow(expect.objectContaining(LOST))
      told.push(await lease.extend(1_000).catch(({ code }) => code))
    }
    for (const work of [released, unlocked, asserted]) await work()
    expect(told).toEqual([false, LOST.code, LOST.code])
    expect(await stage.holds('it')).toEqual([])
  })

  test('the end of the block does not reject if the client was closed inside the block', async () => {
    const client = stage.world.newClient()
    await using lease = await stage.getLock(client, 'it').lock()
    await client.close()
    expect(lease.signal.aborted).toBe(true)
  })

  test('the error of assertValid() passes through the end of the block', async () => {
    const lock = newLock()
    let own: unknown
    const work = async () => {
      await using lease = await lock.lock()
      await lock.forceUnlock()
      try {
        lease.assertValid()
      } catch (error) {
        own = error
        throw error
      }
    }
    const error = await work().catch((error) => error)
    expect(own).toMatchObject(LOST)
    expect(error).toBe(own)
  })
})
