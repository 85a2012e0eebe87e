import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'
import { renewals } from './renewals.ts'

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
