import { setTimeout as pause } from 'node:timers/promises'
import type { HoldfastLock, Lease } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { catchWarnings } from '../support/warnings.ts'
import { describeLocks } from './lock-kinds.ts'

const lost = { code: 'HOLDFAST_LEASE_LOST', reason: 'expired' }
const NOT_HELD = { code: 'HOLDFAST_NOT_HELD' }

describeLocks('expired leases', (stage) => {
  const newLock = () => stage.getLock(stage.world.newClient(), 'it')
  const holds = () => stage.holds('it')
  const warnings = catchWarnings()

  /** Returns a lease that has expired in the client and in Redis. */
  const outlived = async (locking: Promise<Lease>) => {
    const lease = await locking
    await eventually(() => lease.signal.aborted)
    await eventually(async () => (await holds()).length === 0)
    return lease
  }

  test('isHeld() and holdCount() count the lease that is held, and no expired lease', async () => {
    const lock = newLock()
    await outlived(lock.lock(100))
    await outlived(lock.lock(100))
    expect([await lock.isHeld(), await lock.holdCount()]).toEqual([false, 0])
    const lease = await lock.lock()
    expect([await lock.isHeld(), await lock.holdCount()]).toEqual([true, 1])
    await lease.release()
    expect(await lock.isHeld()).toBe(false)
  })

  test('a lock object that has lost the lock does not warn that it waits for itself', async () => {
    const [mine, theirs] = stage.getLocks('it', 2) as [HoldfastLock, HoldfastLock]
    await outlived(mine.lock(100))
    const lease = await theirs.lock()
    const waiting = mine.lock()
    await pause(700)
    await lease.release()
    await (await waiting).release()
    expect(warnings).toEqual([])
  })

  stage.testOfExclusion(
    'unlock() of a task that comes late rejects with its own loss, and does not free the next hold',
    async () => {
      const lock = newLock()
      const late = await lock.lock(1_000)
      const next = lock.lock() // This call waits while the first lease is held, so it counts as another task.
      const lease = await next
      expect(late.signal.aborted).toBe(true)
      const error = await lock.unlock().catch((one) => one)
      expect(error).toMatchObject({ ...lost, token: late.token })
      expect(error.message).toMatch(
        new RegExp(`token ${lease.token}.*still held.*unlock\\(\\) again`),
      )
      expect([lease.valid, await holds()]).toEqual([true, [1]])
      await lock.unlock()
      expect([lease.valid, await holds()]).toEqual([false, []])
      await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
    },
  )

  test('unlock() rejects with the first loss however late, if the next holder requested the lock before the loss', async () => {
    const lock = newLock()
    const late = await lock.lock(300)
    const lease = await lock.lock()
    await pause(700)
    await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: late.token })
    expect([lease.valid, await holds()]).toEqual([true, [1]])
    await lock.unlock()
    expect(await holds()).toEqual([])
  })

  test('unlock() frees a lock that was requested after the loss, and aborts the signal of its lease', async () => {
    const lock = newLock()
    await outlived(lock.lock(400))
    const lease = await lock.lock()
    const { signal } = lease
    await lock.unlock()
    expect([lease.valid, signal.aborted, await holds()]).toEqual([false, true, []])
    expect(signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', token: lease.token })
    expect(signal.reason.message).toMatch(/ended by an unlock\(\).*another task/)
    await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
  })

  test('unlock() rejects with the last loss, however late, if no lease followed', async () => {
    const lock = newLock()
    await outlived(lock.lock(100))
    const last = await outlived(lock.lock(100))
    await pause(250)
    await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: last.token })
    await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
  })

  test('each unlock() of nested acquisitions in a run rejects with the loss, however late', async () => {
    const client = stage.world.newClient()
    const lock = stage.getLock(client, 'it')
    await client.run(async () => {
      await lock.lock(1_500)
      await lock.lock(1_500)
      await outlived(lock.lock(1_500))
      await pause(250)
      for (let i = 0; i < 3; i++) await expect(lock.unlock()).rejects.toMatchObject(lost)
      await expect(lock.unlock()).rejects.toMatchObject(NOT_HELD)
    })
  })

  stage.testOfExclusion(
    'in one run, unlock() for an expired acquisition does not free a second acquisition that was pending with it',
    async () => {
      const client = stage.world.newClient()
      const lock = stage.getLock(client, 'it')
      await client.run(async () => {
        const [late, lease] = await Promise.all([lock.lock(300), lock.lock()])
        expect(late.signal.aborted).toBe(true)
        await expect(lock.unlock()).rejects.toMatchObject({ ...lost, token: late.token })
        expect(lease.valid).toBe(true)
        await lock.unlock()
      })
      expect(await holds()).toEqual([])
    },
  )
})

const LONGEST_MS = scaledMs(1_600)
/**
 * On a busy machine, a request may take this long. A renewal that ignored `maxHoldMs` would last about 700 ms longer.
 */
const LATENCY_MS = 500

describeLocks(
  'the longest hold',
  (stage) => {
    /** Checks that no lease in Redis ends later than `endsAt`, except for the latency of a request. */
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
