import type { HeldEntry, WaitingEntry } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

describeLocks('held() of the client', (stage) => {
  test('held() lists each hold with its owner, token, hold count, age and remaining lease', async () => {
    const client = stage.world.newClient()
    expect(client.held()).toEqual({ held: [], waiting: [] })
    const lock = stage.getLock(client, 'it', { owner: client.owner() })
    const [lease] = [await lock.lock(), await lock.lock()]
    const { owner, token } = lease
    const { held, waiting } = client.held()
    const entry = { name: lock.name, owner, token, holdCount: 2 }
    expect(held).toEqual([
      {
        ...entry,
        kind: expect.any(String),
        heldMs: expect.any(Number),
        remainingMs: expect.any(Number),
      },
    ])
    expect(waiting).toEqual([])
    const [{ heldMs, remainingMs }] = held as [HeldEntry]
    expect(heldMs).toBeLessThan(10_000)
    expect(remainingMs).toBeLessThanOrEqual(30_000)
    expect(remainingMs).toBeGreaterThan(15_000)
    expect(JSON.parse(JSON.stringify(client.held()))).toMatchObject({ held: [entry] })
    await lease.release()
    expect(client.held().held).toMatchObject([{ holdCount: 1 }])
    await lock.unlock()
    expect(client.held()).toEqual({ held: [], waiting: [] })
  })

  test('held() counts the age of a hold from its first acquisition, even after a re-entry', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it', { owner: client.owner() })
    const fixed = await lock.lock(20_000)
    const startedAt = performance.now()
    await eventually(() => performance.now() - startedAt > 100)
    const renewed = await lock.lock({ leaseMs: 20_000, renew: true, maxHoldMs: 60_000 })
    expect(client.held().held[0]?.heldMs).toBeGreaterThanOrEqual(99)
    await renewed.release()
    await fixed.release()
  })

  stage.testOfExclusion(
    'held() lists each call that waits, with the holder that the call has seen',
    async () => {
      const [one, two] = [stage.world.newClient(), stage.world.newClient()]
      const lease = await stage.getLock(one, 'it').lock()
      const lock = stage.getLock(two, 'it')
      const waits = [lock.lock(), lock.tryLock(60_000)]
      await eventually(() => two.held().waiting.every(({ holder }) => holder === lease.owner))
      const { held, waiting } = two.held()
      expect(held).toEqual([])
      expect(waiting.map(({ name, waitMs }) => ({ name, waitMs }))).toEqual(
        expect.arrayContaining([
          { name: lock.name, waitMs: null },
          { name: lock.name, waitMs: 60_000 },
        ]),
      )
      for (const { waitedMs } of waiting as WaitingEntry[]) expect(waitedMs).toBeLessThan(10_000)
      await lease.release()
      for (const wait of waits) await (await wait)?.release()
      expect(two.held()).toEqual({ held: [], waiting: [] })
    },
  )

  test('held() does not list a lease that was lost', async () => {
    const client = stage.world.newClient()
    const lease = await stage.getLock(client, 'it').lock(60)
    await eventually(() => !lease.valid)
    expect(client.held().held).toEqual([])
    await lease.release()
  })

  test('close() returns the same entries that held() listed', async () => {
    const client = stage.world.newClient()
    await stage.getLock(client, 'it').lock()
    const [before] = client.held().held as [HeldEntry]
    const [cutOff] = (await client.close()) as [HeldEntry]
    const { heldMs, remainingMs, ...facts } = before
    expect(cutOff).toMatchObject(facts)
    expect(cutOff.heldMs).toBeGreaterThanOrEqual(heldMs)
    expect(cutOff.remainingMs).toBeGreaterThan(0)
    expect(client.held()).toEqual({ held: [], waiting: [] })
  })
})
