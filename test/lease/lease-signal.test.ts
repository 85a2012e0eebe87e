import { Holdfast, type Lease } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually, eventuallyPasses, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { validityMs } from '../support/promised-times.ts'

const rig = faultRig()

/** When the signal aborts, resolves with the remaining time of the key in Redis, in milliseconds. */
function leadOf({ signal }: Lease, name: string): Promise<number> {
  const leftMs = () => rig.server.admin.pttl(name)
  // If the machine stands still for the whole lease, the lease has ended before the test listens.
  if (signal.aborted) return leftMs()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(leftMs()))
  })
}

/**
 * The margin is some milliseconds, and a busy machine may stand still for longer. So one success in five rounds is
 * enough.
 */
async function isAhead(round: () => Promise<number>): Promise<void> {
  let leadMs = 0
  for (let i = 0; i < 5 && leadMs <= 0; i++) leadMs = await round()
  expect(leadMs).toBeGreaterThan(0)
}

/** Blocks the event loop, so that no timer runs. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe('a black hole', () => {
  test.each([
    { kind: 'watched', leaseMs: undefined },
    { kind: 'fixed', leaseMs: 600 },
  ])('the signal of a $kind lease aborts before the server ends the lease', async ({ leaseMs }) => {
    const client = rig.client({ leaseMs: 600 })
    const diary = new Diary(client)
    const options = leaseMs === undefined ? {} : { leaseMs }
    const tokens: number[] = []
    await isAhead(async () => {
      const lease = granted(await client.getLock('hole').tryLock({ waitMs: 5_000, ...options }))
      tokens.push(lease.token)
      const lead = leadOf(lease, 'hole')
      const hole = rig.proxy.blackHole()
      const leadMs = await lead
      expect(lease.valid).toBe(false)
      expect(lease.remaining()).toBe(0)
      expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
      expect(() => lease.assertValid()).toThrow(lease.signal.reason as Error)
      expect(diary.lost).toEqual(tokens)
      hole.heal()
      expect(await lease.release()).toBe(false)
      return leadMs
    })
  })

  test('a hold whose renewals get no reply is given up, although the server renews it', async () => {
    const client = rig.client({ leaseMs: 600 })
    await isAhead(async () => {
      const lease = granted(await client.getLock('hole').tryLock(5_000))
      const lead = leadOf(lease, 'hole')
      const deaf = rig.proxy.blackHole({ direction: 'toClient' })
      const leadMs = await lead
      deaf.heal()
      expect(await lease.release()).toBe(false)
      // Late renewals do not keep the lock. The client releases it long before the lease would end.
      await eventually(async () => !(await rig.exists('hole')), { timeoutMs: 2_000 })
      return leadMs
    })
  })

  test('all holds of a client are lost, and `unlock()` reports each loss', async () => {
    const client = rig.client({ leaseMs: 500 })
    const locks = Array.from({ length: 20 }, (_, i) => client.getLock(`hole ${i}`))
    await isAhead(async () => {
      const leases = await Promise.all(locks.map((lock) => lock.lock()))
      const leads = Promise.all(leases.map((lease, i) => leadOf(lease, `hole ${i}`)))
      const hole = rig.proxy.blackHole()
      const leadMs = Math.min(...(await leads))
      hole.heal()
      for (const lock of locks) {
        const { error } = await outcome(lock.unlock())
        expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
      }
      return leadMs
    })
  })
})

describe('the time of a lease', () => {
  const DELAY_MS = 150

  test('counts from the request in an acquisition and in an extension', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000 })
    await granted(await client.getLock('warm').tryLock()).release()
    rig.proxy.delay(DELAY_MS, { direction: 'toClient' })
    const lease = granted(await client.getLock('slow').tryLock({ leaseMs: 1_000 }))
    expect(lease.remaining()).toBeLessThanOrEqual(validityMs(1_000) - DELAY_MS)
    await lease.extend(2_000)
    expect(lease.remaining()).toBeGreaterThan(1_000)
    expect(lease.remaining()).toBeLessThanOrEqual(validityMs(2_000) - DELAY_MS)
    await lease.release()
  })

  test('counts from the request in a hand-off', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000 })
    const lock = client.getLock('slow')
    const first = granted(await lock.tryLock())
    const pending = lock.lock(1_000)
    rig.proxy.delay(DELAY_MS, { direction: 'toClient' })
    const [, lease] = await Promise.all([first.release(), pending])
    expect(lease.remaining()).toBeLessThanOrEqual(validityMs(1_000) - DELAY_MS)
    await lease.release()
  })

  test('a grant whose reply arrives after the end of its lease is not returned to the caller', async () => {
    const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 20_000 })
    await granted(await client.getLock('warm').tryLock()).release()
    const slow = rig.proxy.delay(800, { direction: 'toClient' })
    const pending = client.getLock('slow').tryLock({ waitMs: 10_000, leaseMs: 700 })
    await eventually(() => rig.proxy.count(SHA.acquire) >= 3)
    slow.heal()
    const lease = granted(await pending)
    expect(lease.valid).toBe(true)
    expect(await lease.release()).toBe(true)
  })
})

describe('after a blocked event loop', () => {
  test.each(['valid', 'remaining', 'aborted', 'assertValid'] as const)(
    'the first property that is read shows the end of the lease: %s',
    async (what) => {
      const lease = granted(await rig.client().getLock('blocked').tryLock({ leaseMs: 250 }))
      expect(lease.valid).toBe(true)
      block(300)
      if (what === 'valid') expect(lease.valid).toBe(false)
      if (what === 'remaining') expect(lease.remaining()).toBe(0)
      if (what === 'aborted') expect(lease.signal.aborted).toBe(true)
      if (what === 'assertValid') expect(() => lease.assertValid()).toThrow(/was lost/)
      expect(await lease.release()).toBe(false)
    },
  )

  test('a watched lease that the server still has continues', async () => {
    const client = rig.client({ leaseMs: 2_000 })
    const diary = new Diary(client)
    const lease = granted(await client.getLock('blocked').tryLock())
    block(900)
    expect(lease.valid).toBe(true)
    await eventually(() => diary.renewed > 0)
    expect(lease.remaining()).toBeGreaterThan(1_200)
    expect(await lease.release()).toBe(true)
  })

  test('a watched lease that ended in the meantime is lost, and is not renewed', async () => {
    const client = rig.client({ leaseMs: 300 })
    const diary = new Diary(client)
    const lock = client.getLock('blocked')
    const lease = granted(await lock.tryLock())
    block(350)
    await eventually(() => diary.lost.length === 1)
    expect(lease.signal.aborted).toBe(true)
    expect((await outcome(lock.unlock())).error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST' })
    await never(() => rig.exists('blocked'), 150)
  })
})

test('a process that was stopped knows, when it continues, that its lease is over', async () => {
  const child = startChild('test/lease/fixtures/holder.mjs', { args: [rig.server.url, '1500'] })
  await child.next((message) => message === 'held')
  child.kill('SIGSTOP')
  const next = granted(await rig.witness().getLock('stopped').tryLock(5_000))
  child.kill('SIGCONT')
  const seen = await child.next<{ valid: boolean; aborted: boolean; gapMs: number }>(
    (message) => typeof message === 'object' && 'gapMs' in message && message.gapMs > 300,
  )
  expect(seen).toMatchObject({ valid: false, aborted: true })
  // The process does not touch the lock of the next holder.
  expect(await child.next((message) => message === 'released' || message === 'lost')).toBe('lost')
  expect(await rig.hash('stopped')).toEqual({ [next.owner]: '1' })
  await next.release()
})

describe('a key that is gone', () => {
  const LEASE_MS = 2_000

  test.each<[string, (name: string) => Promise<unknown>]>([
    ['deleted', (name) => rig.server.admin.del(name)],
    ['deleted by FLUSHALL', () => rig.server.flush()],
    ['overwritten by another type', (name) => rig.server.admin.set(name, 'x', 'PX', 10_000)],
    [
      'taken over by another owner',
      async (name) => {
        const witness = rig.witness().getLock(name)
        await witness.forceUnlock()
        granted(await witness.tryLock({ leaseMs: 10_000 }))
      },
    ],
  ])('is noticed at the next renewal at the latest: %s', async (_, take) => {
    const client = rig.client({ leaseMs: LEASE_MS, commandTimeoutMs: 5_000 })
    const diary = new Diary(client)
    const lease = granted(await client.getLock('gone').tryLock())
    const aborted = new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
    await take('gone')
    const renewals = rig.proxy.count(SHA.renew)
    await aborted
    // The next renewal already notices the loss.
    expect(rig.proxy.count(SHA.renew) - renewals).toBeLessThanOrEqual(1)
    expect(diary.reasons).toEqual(['gone'])
    expect(diary.lost).toEqual([lease.token])
    expect(lease.valid).toBe(false)
    const after = await rig.server.admin.dump('gone')
    expect(await lease.release()).toBe(false)
    await never(async () => {
      expect(await rig.server.admin.dump('gone')).toEqual(after)
    }, 100)
    await rig.server.admin.del('gone')
  })

  test('is noticed right after the reconnect when the server restarted empty', async () => {
    const client = rig.client({ leaseMs: 30_000 })
    const diary = new Diary(client)
    const watched = granted(await client.getLock('watched').tryLock())
    const fixed = granted(await client.getLock('fixed').tryLock({ leaseMs: 20_000 }))
    await rig.server.restart()
    // The next renewal would come after ten seconds.
    await eventually(() => diary.lost.length === 2, { timeoutMs: 8_000 })
    expect(diary.reasons).toEqual(['gone', 'gone'])
    expect(watched.signal.aborted && fixed.signal.aborted).toBe(true)
    // The token rises although the counter was lost.
    const next = granted(await client.getLock('watched').tryLock())
    expect(next.token).toBeGreaterThan(watched.token)
    await next.release()
  })

  test.each([
    ['deleted', () => rig.server.admin.del('gone')],
    ['unlocked by force by another client', () => rig.witness().getLock('gone').forceUnlock()],
  ])('is noticed for a fixed lease at the next check: %s', async (_, takeAway) => {
    const client = rig.client({ leaseMs: 600 })
    const diary = new Diary(client)
    const lease = granted(await client.getLock('gone').tryLock({ leaseMs: 60_000 }))
    await takeAway()
    await eventually(() => lease.signal.aborted, { timeoutMs: 5_000 })
    expect(diary.reasons).toEqual(['gone'])
    expect(diary.renewed).toBe(0)
    expect(await lease.release()).toBe(false)
  })

  test('is noticed by an extension and by a re-entry', async () => {
    const client = rig.client()
    const lock = client.getLock('gone', { owner: client.owner() })
    const lease = granted(await lock.tryLock())
    await rig.server.admin.del('gone')
    expect((await outcome(lease.extend(5_000))).error).toMatchObject({ reason: 'gone' })
    const again = granted(await lock.tryLock())
    await rig.server.admin.del('gone')
    expect((await outcome(lock.tryLock())).error).toMatchObject({ reason: 'gone' })
    expect(again.signal.aborted).toBe(true)
    expect(await rig.exists('gone')).toBe(false)
  })
})

describe('an outage shorter than the lease', () => {
  test.each<[string, () => { heal: () => unknown }]>([
    ['a black hole', () => rig.proxy.blackHole({ onHeal: 'drop' })],
    ['lost replies', () => rig.proxy.dropReplies()],
    [
      'a hanging server',
      () => {
        rig.server.pause()
        return { heal: () => rig.server.resume() }
      },
    ],
  ])('ends no hold, and emits `late`: %s', async (_, strike) => {
    const client = rig.client({ leaseMs: 6_000, commandTimeoutMs: 150 })
    const diary = new Diary(client)
    const leases = [
      granted(await client.getLock('blip 1').tryLock()),
      granted(await client.getLock('blip 2').tryLock()),
    ]
    const fault = strike()
    await eventually(() => diary.late >= 2)
    expect(leases.every((lease) => lease.valid)).toBe(true)
    await fault.heal()
    const before = diary.renewed
    await eventually(() => diary.renewed >= before + 2)
    for (const lease of leases) {
      expect(lease.remaining()).toBeGreaterThan(2_500)
      expect(await lease.release()).toBe(true)
    }
    expect(diary.lost).toEqual([])
  })

  test('ends no hold when the port is closed for a while', async () => {
    const client = rig.client({ leaseMs: 3_000, commandTimeoutMs: 150 })
    const diary = new Diary(client)
    const lease = granted(await client.getLock('blip').tryLock())
    rig.proxy.refuse()
    rig.proxy.cut()
    await eventually(() => diary.errors.length > 0 && lease.remaining() < 2_300)
    await rig.proxy.heal()
    await eventually(() => diary.renewed > 0)
    expect(await lease.release()).toBe(true)
    expect(diary.lost).toEqual([])
  })

  test('in which a release fails stops the renewals of that hold, and of no other hold', async () => {
    const client = rig.client({ leaseMs: 3_000, outageMs: 1_000 })
    const diary = new Diary(client)
    const kept = granted(await client.getLock('kept').tryLock())
    const left = granted(await client.getLock('left').tryLock())
    const hole = rig.proxy.blackHole({ onHeal: 'drop' })
    expect((await outcome(left.release())).error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    hole.heal()
    await eventually(async () => !(await rig.exists('left')), { timeoutMs: 1_500 })
    await eventually(() => diary.renewed > 0)
    expect(await rig.exists('left')).toBe(false)
    expect(await kept.release()).toBe(true)
  })
})

test('one key of another type among 1,000 held locks loses only its own hold', async () => {
  const client = rig.client({ leaseMs: 18_000, commandTimeoutMs: 5_000, outageMs: 30_000 })
  const diary = new Diary(client)
  const leases = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => client.getLock(`many ${i}`).lock()),
  )
  await rig.server.admin.set('many 500', 'not a lock', 'PX', 60_000)
  await eventually(() => diary.renewed >= 999, { timeoutMs: 40_000 })
  expect(diary.lost).toEqual([leases[500]?.token])
  expect(leases.filter((lease) => lease.valid)).toHaveLength(999)
  await rig.server.admin.del('many 500')
  await Promise.all(leases.map((lease) => lease.release()))
})

test('`close()` during an outage ends in limited time, and emits no loss of a watched hold', async () => {
  const client = new Holdfast({
    redis: { host: rig.proxy.host, port: rig.proxy.port },
    leaseMs: 800,
    commandTimeoutMs: 150,
  })
  const diary = new Diary(client)
  const lease = granted(await client.getLock('closing').tryLock())
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  await within(2_000, client.close())
  expect(lease.valid).toBe(false)
  expect(diary.lost).toEqual([])
  hole.heal()
  await eventuallyPasses(async () => expect(await rig.exists('closing')).toBe(false))
})
