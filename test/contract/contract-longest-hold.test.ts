import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { describeLocks } from './lock-kinds.ts'

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
