import { LeaseLostError } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { describeLocks } from './lock-kinds.ts'
import { renewals } from './renewals.ts'

describeLocks('the end of the watchdog', (stage) => {
  test('the watchdog stops at the release, and does not renew the lock for the next holder', async () => {
    // Without `presence: false`, the client would at some time also write its presence, in a cluster to another node.
    const client = stage.world.newClient({ leaseMs: scaledMs(1_500), presence: false })
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await renewals(client, 1)
    await lease.release()
    const before = await stage.settledRequests()
    await never(async () => (await stage.requests()) !== before, 700, { everyMs: 25 })
    // The watchdog also sends no renewal while another client holds the lock.
    const next = stage.world.newClient({ presence: false })
    const other = await stage.getLock(next, 'it').lock(5_000)
    const after = await stage.settledRequests()
    await never(async () => (await stage.requests()) !== after, 700, { everyMs: 25 })
    await other.release()
  })

  test('the watchdog aborts the lease of a holder whose key is gone', async () => {
    const client = stage.world.newClient({ leaseMs: 1_500 })
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

  stage.testOfExclusion(
    'the watchdog never revives a lock that another client holds by now',
    async () => {
      const client = stage.world.newClient({ leaseMs: 300 })
      const lease = await stage.getLock(client, 'it').lock()
      const owner = await stage.putHold('it', 1, 60_000)
      await eventually(() => lease.signal.aborted)
      expect(await lease.release()).toBe(false)
      expect(await stage.fields('it')).toEqual({ [owner]: 1 })
      expect(await stage.pttl('it')).toBeGreaterThan(50_000)
      leaves({ keys: true, why: 'the somebody else is made up and never releases' })
    },
  )
})
