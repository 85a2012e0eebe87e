import { ClosedError, type HoldfastLock } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

describeLocks('close() of the client', (stage) => {
  const connections = async () => {
    const list = (await stage.world.server.admin.client('LIST')) as string
    return list.trim().split('\n').length
  }

  stage.testOfExclusion(
    'close() releases every hold, re-entered or not, and wakes a waiter of another client',
    async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'a', { owner: client.owner() })
      const leases = [await lock.lock(), await lock.lock(), await stage.getLock(client, 'b').lock()]
      const other = stage.getLock(stage.world.newClient(), 'a')
      const waiting = other.lock()
      await eventually(async () => (await stage.waiters(other)) === 1)
      await client.close()
      expect(leases.map((lease) => lease.valid)).toEqual([false, false, false])
      expect(await stage.holds('b')).toEqual([])
      const next = await waiting
      expect(await stage.fields('a')).toEqual({ [next.owner]: 1 })
      await next.release()
    },
  )

  test('close() aborts the signal of a lease that is held', async () => {
    const client = stage.world.newClient()
    const { signal } = await stage.getLock(client, 'it').lock()
    await client.close()
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toBeInstanceOf(ClosedError)
  })

  stage.testOfExclusion(
    'close() ends every wait of the client with a ClosedError, and no wait acquires its lock afterwards',
    async () => {
      const client = stage.world.newClient()
      const far = stage.getLock(stage.world.newClient(), 'far')
      const lease = await far.lock()
      const near = stage.getLock(client, 'near')
      await near.lock()
      const waits = [
        near.lock(),
        near.tryLock(10_000),
        stage.getLock(client, 'far').lock(),
        stage.getLock(client, 'far').using(() => 'ran'),
        stage.getLock(client, 'far').tryLock(10_000),
      ].map((wait) => wait.catch((error) => error))
      await eventually(async () => (await stage.waiters(far)) === 1)
      await client.close()
      for (const error of await Promise.all(waits)) {
        expect(error).toBeInstanceOf(ClosedError)
        expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
      }
      await lease.release()
      expect(await stage.holds('near')).toEqual([])
      expect(await stage.holds('far')).toEqual([])
    },
  )

  test('close() makes every later call reject, except release(), which returns false', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await client.close()
    const calls: Promise<unknown>[] = [
      lock.lock(),
      lock.tryLock(),
      lock.tryLock(100),
      lock.using(() => {}),
      lock.inspect(),
      lock.isLocked(),
      lock.isHeld(),
      lock.holdCount(),
      lock.remainingMs(),
      lock.forceUnlock(),
      stage.getLock(client, 'other').lock(),
      client.run(() => stage.getLock(client, 'other').lock()),
      lease.extend(1_000),
    ]
    for (const error of await Promise.all(calls.map((call) => call.catch((error) => error)))) {
      expect(error).toBeInstanceOf(ClosedError)
    }
    expect(await lease.release()).toBe(false)
    expect(await stage.holds('it')).toEqual([])
  })

  test('close() returns the holds that it ended, with the owner and the token of each hold', async () => {
    const client = stage.world.newClient()
    const [a, b] = [stage.getLock(client, 'a'), stage.getLock(client, 'b')]
    const leases = [await a.lock(), await b.lock(5_000)]
    await (await stage.getLock(client, 'c').lock()).release()
    const held = leases.map(({ name, owner, token }) => ({ name, owner, token }))
    const cutOff = await client.close()
    expect(cutOff).toHaveLength(2)
    expect(cutOff).toEqual(expect.arrayContaining(held.map((one) => expect.objectContaining(one))))
  })

  stage.testOfExclusion(
    'close() with drainMs waits for the holder, who can still re-enter, and rejects every other acquisition',
    async () => {
      const client = stage.world.newClient()
      const owner = client.owner()
      const lock = stage.getLock(client, 'it', { owner })
      const lease = await lock.lock()
      const far = await stage.getLock(stage.world.newClient(), 'far').lock()
      const near = stage.getLock(client, 'it')
      const waits = [near.lock(), near.tryLock(20_000), stage.getLock(client, 'far').lock()]
      const ended = Promise.all(waits.map((wait) => wait.catch((error) => error)))
      const closing = client.close({ drainMs: 60_000 })
      for (const error of await ended) expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
      await expect(near.tryLock()).rejects.toThrow(/is closing/)
      await expect(stage.getLock(client, 'new').lock()).rejects.toBeInstanceOf(ClosedError)
      await far.release()
      const again = await lock.lock()
      await again.extend(20_000)
      expect(await lock.holdCount()).toBe(2)
      await lease.release()
      expect(again.valid).toBe(true)
      await again.release()
      expect(await closing).toEqual([])
      expect(await stage.holds('it')).toEqual([])
      await expect(lock.lock()).rejects.toThrow(/client is closed\./)
    },
  )

  test('close() ends the holds that remain after drainMs, and returns them', async () => {
    const client = stage.world.newClient()
    const { name, owner, token, signal } = await stage.getLock(client, 'it').lock()
    expect(await client.close({ drainMs: 20 })).toMatchObject([{ name, owner, token }])
    expect(signal.reason).toBeInstanceOf(ClosedError)
    expect(await stage.holds('it')).toEqual([])
  })

  test('close() can be called twice, at once, and before any other call', async () => {
    const client = stage.world.newClient()
    const first = client.close()
    expect(client.close()).toBe(first)
    await first
    await client.close()
    const used = stage.world.newClient()
    await stage.getLock(used, 'it').lock()
    await Promise.all([used.close(), used.close()])
    expect(await stage.holds('it')).toEqual([])
  })

  test('close() in the middle of an acquisition leaves no hold behind', async () => {
    for (let round = 0; round < 10; round++) {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      if (round % 2 === 0) await lock.isLocked() // connects the client before
      const wait = lock.lock().catch((error) => error)
      for (let turn = 0; turn < round; turn++) await Promise.resolve()
      await client.close()
      const outcome = await wait
      expect(outcome instanceof ClosedError || outcome.valid === false).toBe(true)
      expect(await stage.holds('it')).toEqual([])
    }
  })

  stage.testOfExclusion(
    'close() ends the connections of the client, and no other connection',
    async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      const holder = stage.getLock(stage.world.newClient(), 'it')
      const lease = await holder.lock()
      const others = await connections()
      expect(await lock.tryLock(1_000)).toBeNull()
      expect(await connections()).toBeGreaterThan(others)
      await client.close()
      await eventually(async () => (await connections()) === others)
      await lease.release()
    },
  )

  test('the end of an `await using` block closes the client', async () => {
    let lock: HoldfastLock
    {
      await using client = stage.world.newClient()
      lock = stage.getLock(client, 'it')
      await lock.lock()
      expect(await stage.holds('it')).toEqual([1])
    }
    expect(await stage.holds('it')).toEqual([])
    await expect(lock.lock()).rejects.toBeInstanceOf(ClosedError)
  })

  test('close() waits for a release that is under way, and the release succeeds', async () => {
    const client = stage.world.newClient()
    const lease = await stage.getLock(client, 'it').lock()
    const ended: unknown[] = []
    const releasing = lease.release().then((released) => ended.push(released))
    await client.close()
    expect(ended).toEqual([true])
    await releasing
    expect(await stage.holds('it')).toEqual([])
  })
})
