import { setTimeout as pause } from 'node:timers/promises'
import { type HoldfastLock, LeaseLostError } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { describeLocks } from './lock-kinds.ts'
import { renewals } from './renewals.ts'

describeLocks('the watchdog', (stage) => {
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
    // Who a client is goes to another node of a cluster, at its own time.
    const client = stage.world.newClient({ leaseMs: 1_500, presence: false })
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
    const next = stage.world.newClient({ presence: false })
    const other = await stage.getLock(next, 'it').lock(5_000)
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

const LONGEST_MS = 2_500

describeLocks(
  'the longest time that a lock is held',
  (stage) => {
    /** No lease in Redis ends later than that, but for the way of a request. */
    const endsBy = async (endsAt: number, signal: AbortSignal) => {
      await never(
        async () => {
          const now = performance.now()
          return now + (await stage.pttl('it')) > endsAt + 150
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
      ['of a call', { leaseMs: 1_500 }, { maxHoldMs: LONGEST_MS }],
      ['of the client', { leaseMs: 1_500, maxHoldMs: LONGEST_MS }, {}],
      ['that is shorter than the lease', { leaseMs: 60_000 }, { maxHoldMs: LONGEST_MS }],
    ])('%s ends a renewed lease', async (_, ofClient, ofCall) => {
      const lock = stage.getLock(stage.world.newClient(ofClient), 'it')
      const { signal } = await lock.lock(ofCall)
      await endsBy(performance.now() + LONGEST_MS, signal)
    })

    test('of a client is not that of fixed leases, nor of calls without an end', async () => {
      const client = stage.world.newClient({ leaseMs: 60_000, maxHoldMs: 1_000 })
      for (const options of [{ leaseMs: 5_000 }, { maxHoldMs: Infinity }]) {
        const lease = await stage.getLock(client, 'it').lock(options)
        expect(lease.remaining()).toBeGreaterThan(2_000)
        await lease.release()
      }
    })

    test('is that of the first acquisition: no re-entry and no extend() makes it longer', async () => {
      const client = stage.world.newClient({ leaseMs: 1_500 })
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
