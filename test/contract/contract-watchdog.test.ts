import { type HoldfastLock, LeaseLostError } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
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

  test('the watchdog stops at the release, and does not renew the lock for the next holder', async () => {
    // In a cluster, a client registers at another node, at its own time.
    const client = stage.world.newClient({ leaseMs: scaledMs(1_500), presence: false })
    const lock = stage.getLock(client, 'it')
    const lease = await lock.lock()
    await renewals(client, 1)
    await lease.release()
    const before = await stage.settledRequests()
    await never(async () => (await stage.requests()) !== before, 700, { everyMs: 25 })
    // Nor does it renew the lock while another client holds it.
    const next = stage.world.newClient({ presence: false })
    const other = await stage.getLock(next, 'it').lock(5_000)
    const after = await stage.settledRequests()
    await never(async () => (await stage.requests()) !== after, 700, { everyMs: 25 })
    await other.release()
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

describeLocks(
  'a renewed lease with its own leaseMs',
  (stage) => {
    test.each([
      ['lock()', (lock: HoldfastLock) => lock.lock({ leaseMs: OWN_MS, renew: true })],
      ['tryLock()', (lock: HoldfastLock) => lock.tryLock({ leaseMs: OWN_MS, renew: true })],
    ])(
      '%s with leaseMs and renew keeps the lock, and no lease is longer than leaseMs',
      async (_, acquire) => {
        // The watchdog would be much too late with the lease of the client.
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

const LONGEST_MS = scaledMs(1_600)
/** A request may take so long on a busy machine. A renewal that ignored `maxHoldMs` would last about 700 ms longer. */
const LATENCY_MS = 500

describeLocks(
  'the longest hold',
  (stage) => {
    /** No lease in Redis ends later than that time, except for the latency of a request. */
    const endsBy = async (endsAt: number, signal: AbortSignal) => {
      await never(
        async () => {
          const now = performance.now()
          return now + (await stage.pttl('it')) > endsAt + LATENCY_MS
        },
        Math.max(endsAt - performance.now(), 1),
        { everyMs: 20 },
      )
      expect(signal.aborted).toBe(true)
      expect(signal.reason).toMatchObject({ reason: 'expired' })
      expect(signal.reason.message).toContain(`\`maxHoldMs\` of ${LONGEST_MS} ms`)
      await eventually(async () => (await stage.pttl('it')) === -2)
    }

    test.each<[string, object, object]>([
      ['the maxHoldMs of a call', { leaseMs: scaledMs(1_000) }, { maxHoldMs: LONGEST_MS }],
      ['the maxHoldMs of the client', { leaseMs: scaledMs(1_000), maxHoldMs: LONGEST_MS }, {}],
      [
        'a maxHoldMs that is shorter than the lease',
        { leaseMs: 60_000 },
        { maxHoldMs: LONGEST_MS },
      ],
    ])('%s ends a renewed lease', async (_, ofClient, ofCall) => {
      const lock = stage.getLock(stage.world.newClient(ofClient), 'it')
      const { signal } = await lock.lock(ofCall)
      await endsBy(performance.now() + LONGEST_MS, signal)
    })

    test('the maxHoldMs of a client does not apply to fixed leases, nor to calls with an infinite maxHoldMs', async () => {
      const client = stage.world.newClient({ leaseMs: 60_000, maxHoldMs: 1_000 })
      for (const options of [{ leaseMs: 5_000 }, { maxHoldMs: Infinity }]) {
        const lease = await stage.getLock(client, 'it').lock(options)
        expect(lease.remaining()).toBeGreaterThan(2_000)
        await lease.release()
      }
    })

    test('the maxHoldMs of the first acquisition applies: no re-entry and no extend() lengthens the hold', async () => {
      const client = stage.world.newClient({ leaseMs: scaledMs(1_000) })
      const lock = stage.getLock(client, 'it', { owner: client.owner() })
      const lease = await lock.lock({ maxHoldMs: LONGEST_MS })
      const endsAt = performance.now() + LONGEST_MS
      await lock.lock({ leaseMs: 60_000 })
      await lock.lock({ leaseMs: 500, renew: true, maxHoldMs: 60_000 })
      await expect(lease.extend(60_000)).rejects.toThrow(
        /^Lock "it": extend\(60000\) would exceed its `maxHoldMs`, of which \d+ ms are left/,
      )
      await lease.extend(200)
      await endsBy(endsAt, lease.signal)
    })
  },
  { inOneWorld: true },
)
