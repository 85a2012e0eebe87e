import type { HoldfastLock } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'
import { renewals } from './renewals.ts'

const OWN_MS = scaledMs(1_200)

describeLocks('the watchdog', (stage) => {
  test('the watchdog keeps a lock beyond one lease, and the default lease is the leaseMs of the client', async () => {
    const leaseMs = scaledMs(2_000)
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

  test('the watchdog continues until the last renewed acquisition is released, and no longer', async () => {
    const client = stage.world.newClient({ leaseMs: scaledMs(1_800) })
    const lock = stage.getLock(client, 'it', { owner: client.owner() })
    const fixed = await lock.lock(scaledMs(2_000))
    const watched = [await lock.lock(), await lock.lock()]
    await renewals(client, 2)
    await watched[0]?.release()
    await renewals(client, 2)
    expect(fixed.valid).toBe(true)
    await watched[1]?.release()
    await eventually(async () => (await stage.pttl('it')) === -2)
    expect(fixed.signal.aborted).toBe(true)
  })
})

describeLocks(
  'a renewed lease with its own leaseMs',
  (stage) => {
    test.each([
      ['lock()', (lock: HoldfastLock) => lock.lock({ leaseMs: OWN_MS, renew: true })],
      ['tryLock()', (lock: HoldfastLock) => lock.tryLock({ leaseMs: OWN_MS, renew: true })],
    ])(
      '%s with leaseMs and renew keeps the lock, and no lease is longer than leaseMs',
      async (_, acquire) => {
        // With the lease of the client, the watchdog would renew the lock much too late.
        const lock = stage.getLock(stage.world.newClient({ leaseMs: 60_000 }), 'it')
        const lease = await acquire(lock)
        const isOver = async () => {
          const leftMs = await stage.pttl('it')
          return leftMs <= 0 || leftMs > OWN_MS || lease?.valid === false
        }
        await never(isOver, 1.3 * OWN_MS, { everyMs: 20 })
        expect(await lease?.release()).toBe(true)
        expect(await stage.holds('it')).toEqual([])
      },
    )

    test('a hold is renewed for the longest lease of its acquisitions while that acquisition is held', async () => {
      const client = stage.world.newClient({ leaseMs: 60_000 })
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      const outer = await lock.lock({ leaseMs: scaledMs(900), renew: true })
      const inner = await lock.lock({ leaseMs: scaledMs(1_800), renew: true })
      await renewals(client, 1)
      expect(await stage.pttl('it')).toBeGreaterThan(scaledMs(900))
      await inner.release()
      await eventually(async () => (await stage.pttl('it')) <= scaledMs(900))
      await renewals(client, 2)
      expect(outer.valid).toBe(true)
      await outer.release()
      expect(await stage.holds('it')).toEqual([])
    })

    test('using() renews its own lease while its work runs, and `renew: false` makes the lease of the client fixed', async () => {
      const client = stage.world.newClient({ leaseMs: 700 })
      const lock = stage.getLock(client, 'it')
      await lock.using(() => renewals(client, 2), { leaseMs: OWN_MS, renew: true })
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
