import { setTimeout as pause } from 'node:timers/promises'
import { type HoldfastLock, LeaseLostError } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { describeLocks } from './lock-kinds.ts'
import { renewals } from './renewals.ts'

describeLocks('the watchdog', (stage) => {
  const newLock = () => stage.getLock(stage.world.newClient(), 'it')

  test('keeps a lock for longer than a lease, and the default lease is that of the client', async () => {
    const leaseMs = 2_400
    const client = stage.world.newClient({ leaseMs })
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    expect(await stage.pttl('it')).toBeLessThanOrEqual(leaseMs)
    await never(async () => lease.signal.aborted || (await stage.pttl('it')) <= 0, 1.25 * leaseMs, {
      everyMs: 20,
      message: 'the end of the lease',
    })
    expect(lease.valid).toBe(true)
    expect(await stage.holds('it')).toEqual([1])
    expect(await lease.release()).toBe(true)
  })

  test('stops for good at the release', async () => {
    const client = stage.world.newClient({ leaseMs: 1_500 })
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await renewals(client, 1)
    await lease.release()
    const calls = async () =>
      /cmdstat_evalsha:calls=(\d+)/.exec(await stage.world.server.admin.info('commandstats'))?.[1]
    // A majority has confirmed it; the other masters hear of it a little later.
    if (stage.world.isQuorum) await pause(100)
    const before = await calls()
    await never(async () => (await calls()) !== before, 700, { everyMs: 25 })
    // Nor does it renew for somebody else who holds the lock meanwhile.
    const other = await newLock().lock(5_000)
    if (stage.world.isQuorum) await pause(100)
    const after = await calls()
    await never(async () => (await calls()) !== after, 700, { everyMs: 25 })
    await other.release()
  })

  test('goes on until the last watched acquisition is released, and no longer', async () => {
    const client = stage.world.newClient({ leaseMs: 3_000 })
    const lock = stage.getLock(client, 'it', { owner: client.owner() })
    const fixed = await lock.lock(3_200)
    const watched = [await lock.lock(), await lock.lock()]
    await renewals(client, 2)
    await watched[0]?.release()
    await renewals(client, 2)
    expect(fixed.valid).toBe(true)
    await watched[1]?.release()
    await eventually(async () => (await stage.pttl('it')) === -2)
    expect(fixed.signal.aborted).toBe(true)
  })

  test('tells a holder whose key is gone', async () => {
    const client = stage.world.newClient({ leaseMs: 3_000 })
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    const aborted = new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
    await stage.world.server.flush()
    await aborted
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
    expect(lease.signal.reason).toMatchObject({ reason: 'gone', token: lease.token })
    expect(lease.valid).toBe(false)
    expect(await lease.release()).toBe(false)
    expect(await stage.holds('it')).toEqual([])
  })

  stage.testOfExclusion('never revives a lock that somebody else has by now', async () => {
    const client = stage.world.newClient({ leaseMs: 300 })
    const lease = await stage.getLock(client, 'it').lock()
    const owner = await stage.putHold('it', 1, 60_000)
    await eventually(() => lease.signal.aborted)
    expect(await lease.release()).toBe(false)
    expect(await stage.fields('it')).toEqual({ [owner]: 1 })
    expect(await stage.pttl('it')).toBeGreaterThan(50_000)
    leaves({ keys: true, why: 'the somebody else is made up and never releases' })
  })
})

describeLocks(
  'a lease of its own that is renewed',
  (stage) => {
    test.each([
      ['lock()', (lock: HoldfastLock) => lock.lock({ leaseMs: 900, renew: true })],
      ['tryLock()', (lock: HoldfastLock) => lock.tryLock({ leaseMs: 900, renew: true })],
    ])('of %s is kept for longer than it lasts, and is never longer', async (_, acquire) => {
      // The watchdog would be much too late with the lease of the client.
      const lock = stage.getLock(stage.world.newClient({ leaseMs: 60_000 }), 'it')
      const lease = await acquire(lock)
      const isOver = async () => {
        const leftMs = await stage.pttl('it')
        return leftMs <= 0 || leftMs > 900 || lease?.valid === false
      }
      await never(isOver, 1_200, { everyMs: 20 })
      expect(await lease?.release()).toBe(true)
      expect(await stage.holds('it')).toEqual([])
    })

    test('is the longest of those in one hold, while that acquisition is held', async () => {
      const client = stage.world.newClient({ leaseMs: 60_000 })
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      const outer = await lock.lock({ leaseMs: 900, renew: true })
      const inner = await lock.lock({ leaseMs: 2_400, renew: true })
      await renewals(client, 1)
      expect(await stage.pttl('it')).toBeGreaterThan(900)
      await inner.release()
      await eventually(async () => (await stage.pttl('it')) <= 900)
      await renewals(client, 2)
      expect(outer.valid).toBe(true)
      await outer.release()
      expect(await stage.holds('it')).toEqual([])
    })

    test('of using() stands for its work, and `renew: false` for a fixed one of the client', async () => {
      const client = stage.world.newClient({ leaseMs: 700 })
      const lock = stage.getLock(client, 'it')
      await lock.using(() => renewals(client, 2), { leaseMs: 1_200, renew: true })
      const renewed = jest.fn()
      client.on('renewed', renewed)
      const fixed = await lock.lock({ renew: false })
      expect(await stage.pttl('it')).toBeLessThanOrEqual(700)
      await eventually(() => fixed.signal.aborted)
      expect(renewed).not.toHaveBeenCalled()
    })
  },
  { inOneWorld: true },
)
