import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import type { ProxyRequest } from '../support/proxy.ts'
import { warm } from '../support/warm.ts'

/** Requests that were lost on their way, that the client has given up, and that arrive later. */
const rig = faultRig()

/** Loses the next request with this script, and cuts the connection. The test can replay the request later. */
function loseNext(script: keyof typeof SHA): { request: Promise<ProxyRequest> } {
  return { request: rig.proxy.onNextRequest(SHA[script], 'cutBefore').seen }
}

const ownerOf = (client: Holdfast) => ({ owner: client.owner() })

describe('an acquisition that arrives late', () => {
  test('does not acquire the lock after its caller has given up', async () => {
    const client = rig.client({ commandTimeoutMs: 150, outageMs: 150 })
    await warm(client)
    const { request } = loseNext('acquire')
    const trying = outcome(client.getLock('it').tryLock())
    const lost = await request
    rig.proxy.refuse()
    expect((await trying).error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await pause(350) // until the request may no longer run, because this is the subject
    await rig.proxy.heal()
    await rig.proxy.replay(lost)
    expect(await rig.exists('it')).toBe(false)
  })

  test('for a short wait does not acquire the lock after that wait, however long a call may take', async () => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    await warm(client)
    const request = rig.proxy.onNextRequest(SHA.acquire, 'hold')
    const trying = outcome(client.getLock('it').tryLock(100))
    await request.seen
    await trying
    await pause(400) // until the request may no longer run, because this is the subject
    request.release()
    await request.done
    await never(() => rig.exists('it'), 200)
  })

  test('on a connection slower than its deadline does not acquire the lock', async () => {
    const client = rig.client({ commandTimeoutMs: 150, outageMs: 150 })
    await warm(client)
    const slow = rig.proxy.delay(600, { direction: 'toServer' })
    const { error } = await outcome(client.getLock('it').tryLock())
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await never(() => rig.exists('it'), 700)
    slow.heal()
  })

  test('is released when its deadline is too late because the client did not know the distance of the server', async () => {
    await granted(await rig.client().getLock('warm').tryLock()).release()
    const far = rig.proxy.delay(1_500, { direction: 'toServer' })
    const client = rig.client({ commandTimeoutMs: 3_000 })
    const aborting = new AbortController()
    const { request } = loseNext('acquire')
    const endsAt = performance.now() + 3_000
    const trying = outcome(client.getLock('it').lock({ leaseMs: 60_000, signal: aborting.signal }))
    const lost = await request
    rig.proxy.refuse()
    aborting.abort()
    await trying
    far.heal()
    await rig.proxy.heal()
    await pause(endsAt + 500 - performance.now()) // the request may still run then, which is the subject
    expect(await rig.proxy.replay(lost)).toContain('granted')
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 5_000 })
  })

  test('within its deadline is released again, after its caller has acquired and released the lock', async () => {
    const client = rig.client({ commandTimeoutMs: 1_500 })
    const lock = client.getLock('it', ownerOf(client))
    const { request } = loseNext('acquire')
    await granted(await lock.tryLock()).release()
    await rig.proxy.replay(await request)
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 3_000 })
  })

  test('within its deadline does not count twice', async () => {
    const client = rig.client({ commandTimeoutMs: 1_500 })
    const lock = client.getLock('it', ownerOf(client))
    const { request } = loseNext('acquire')
    const lease = granted(await lock.tryLock())
    const token = await rig.server.admin.get('redisson_lock_token:{it}')
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    expect(await rig.server.admin.get('redisson_lock_token:{it}')).toBe(token)
    expect(String(lease.token)).toBe(token)
    await lease.release()
  })

  test.each([
    ['the same lease', 10_000],
    ['another lease', 5_000],
  ])('is released even after a hand-off inside the client, for %s', async (_, leaseMs) => {
    const client = rig.client({ commandTimeoutMs: 1_500 })
    const lock = client.getLock('it')
    const held = granted(await rig.witness().getLock('it').tryLock())
    const { request } = loseNext('acquire')
    const first = lock.lock()
    const second = lock.lock({ leaseMs })
    const lost = await request
    await rig.listening('it')
    await held.release()
    await (await first).release()
    await (await second).release()
    await rig.proxy.replay(lost)
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 3_000 })
  })

  test('is released without harm to the next hold of its owner', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000 })
    const lock = client.getLock('it', ownerOf(client))
    const { request } = loseNext('acquire')
    await granted(await lock.tryLock()).release()
    const lease = granted(await lock.tryLock())
    await rig.proxy.replay(await request)
    // The client sends releases until the lost request can no longer run, and one more release after that.
    const releases = rig.proxy.count(SHA.release)
    await never(async () => {
      expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    }, 1_400)
    expect(rig.proxy.count(SHA.release)).toBeGreaterThan(releases)
    expect(lease.valid).toBe(true)
    expect(await lease.release()).toBe(true)
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 3_000 })
  })

  test('is released when its caller was aborted', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000 })
    const aborting = new AbortController()
    const trap = rig.proxy.onNextRequest(SHA.acquire, 'cutBefore')
    const pending = outcome(client.getLock('it').lock({ signal: aborting.signal }))
    const request = await trap.seen
    aborting.abort()
    expect((await pending).error).toBe(aborting.signal.reason)
    await trap.done
    expect(await rig.proxy.replay(request)).toContain('granted')
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 3_000 })
  })

  test('for a re-entry does not raise a hold count that was lowered in the meantime', async () => {
    const client = rig.client()
    const lock = client.getLock('it', ownerOf(client))
    const first = granted(await lock.tryLock())
    const { request } = loseNext('acquire')
    const second = granted(await lock.tryLock())
    await second.release()
    await pause(350) // past the deadline of the lost request
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [first.owner]: '1' })
    expect(await first.release()).toBe(true)
    expect(await rig.exists('it')).toBe(false)
  })
})

describe('a release that arrives late', () => {
  test('does not end the next hold of the same owner', async () => {
    const client = rig.client()
    const lock = client.getLock('it', ownerOf(client))
    const first = granted(await lock.tryLock())
    const { request } = loseNext('release')
    expect(await first.release()).toBe(true)
    const second = granted(await lock.tryLock())
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [second.owner]: '1' })
    expect(await second.release()).toBe(true)
  })

  test('does not end the hold of another owner', async () => {
    const client = rig.client()
    const { request } = loseNext('release')
    await granted(await client.getLock('it').tryLock()).release()
    const other = granted(await rig.witness().getLock('it').tryLock())
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [other.owner]: '1' })
    expect(await other.release()).toBe(true)
  })

  test('does not lower a hold count that was raised in the meantime', async () => {
    const client = rig.client()
    const lock = client.getLock('it', ownerOf(client))
    const first = granted(await lock.tryLock())
    const second = granted(await lock.tryLock())
    const { request } = loseNext('release')
    await second.release()
    const again = granted(await lock.tryLock())
    await pause(350) // past the deadline of the lost request
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [first.owner]: '2' })
    expect(await again.release()).toBe(true)
    expect(await first.release()).toBe(true)
  })

  test('after a flush does not end the next hold', async () => {
    const client = rig.client()
    const lock = client.getLock('it', ownerOf(client))
    const first = granted(await lock.tryLock())
    const { request } = loseNext('release')
    await first.release()
    await rig.server.flush()
    const second = granted(await lock.tryLock())
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [second.owner]: '1' })
    await second.release()
  })
})

test('a release that continues in the background does not end the next hold of its owner', async () => {
  const client = rig.client({ commandTimeoutMs: 500, outageMs: 1_000 })
  const lock = client.getLock('it', ownerOf(client))
  const first = granted(await lock.tryLock())
  // Every release is lost for a while; everything else gets through.
  const isRelease = ({ args }: ProxyRequest) => args[0] === SHA.release
  const traps = Array.from({ length: 100 }, () => rig.proxy.onNextRequest(isRelease, 'cutBefore'))
  expect((await outcome(first.release())).error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  await rig.server.admin.del('it') // as if the lease had ended
  // Each lost release breaks the connection, so one call may not get through within `outageMs`.
  const second = granted(await eventually(() => lock.tryLock(3_000)))
  for (const trap of traps) trap.cancel()
  const releases = rig.proxy.count(SHA.release)
  await eventually(() => rig.proxy.count(SHA.release) > releases)
  await never(async () => {
    expect(await rig.hash('it')).toEqual({ [second.owner]: '1' })
  }, 100)
  expect(await second.release()).toBe(true)
})

describe('a hand-off that arrives late', () => {
  test('does not acquire the lock for a waiter that has released it', async () => {
    const client = rig.client()
    const lock = client.getLock('it')
    const first = await lock.lock()
    const pending = lock.lock()
    const { request } = loseNext('handOver')
    const [, second] = await Promise.all([first.release(), pending])
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [second.owner]: '1' })
    expect(await second.release()).toBe(true)
    await rig.proxy.replay(await request)
    await never(() => rig.exists('it'), 50)
  })

  test('does not end the hold of another client', async () => {
    const client = rig.client()
    const lock = client.getLock('it')
    const first = await lock.lock()
    const pending = lock.lock()
    const { request } = loseNext('handOver')
    const [, second] = await Promise.all([first.release(), pending])
    await second.release()
    const other = granted(await rig.witness().getLock('it').tryLock(2_000))
    await rig.proxy.replay(await request)
    expect(await rig.hash('it')).toEqual({ [other.owner]: '1' })
    await other.release()
  })

  test('leaves no lock for a waiter that was aborted', async () => {
    const client = rig.client()
    const lock = client.getLock('it')
    const first = await lock.lock()
    const aborting = new AbortController()
    const pending = outcome(lock.lock({ signal: aborting.signal }))
    const trap = rig.proxy.onNextRequest(SHA.handOver, 'hold')
    const released = first.release()
    await trap.seen
    aborting.abort()
    expect((await pending).error).toBe(aborting.signal.reason)
    await released
    trap.release()
    await eventually(async () => !(await rig.exists('it')))
    await never(() => rig.exists('it'), 100)
  })
})

describe('a renewal that arrives late', () => {
  test('does not revive a lock that was released', async () => {
    const client = rig.client({ leaseMs: 2_000 })
    const { request } = loseNext('renew')
    const lease = granted(await client.getLock('it').tryLock())
    const renewal = await request
    await lease.release()
    await rig.proxy.replay(renewal)
    expect(await rig.exists('it')).toBe(false)
  })

  test('does not extend the lock of another client', async () => {
    const client = rig.client({ leaseMs: 2_000 })
    const { request } = loseNext('renew')
    const lease = granted(await client.getLock('it').tryLock())
    const renewal = await request
    await lease.release()
    const other = granted(await rig.witness().getLock('it').tryLock({ leaseMs: 300 }))
    await rig.proxy.replay(renewal)
    expect(await rig.server.admin.pttl('it')).toBeLessThanOrEqual(300)
    await other.release()
  })
})

test('requests that a hanging server runs later leave no lock behind', async () => {
  const client = rig.client({ commandTimeoutMs: 200, outageMs: 200 })
  await warm(client)
  const witness = rig.witness()
  await granted(await witness.getLock('warm').tryLock()).release()
  rig.server.pause()
  const failures = await Promise.all(
    [1, 2, 3].map((n) => outcome(within(1_500, client.getLock(`it ${n}`).lock()))),
  )
  for (const { error } of failures) expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  rig.server.resume()
  for (const n of [1, 2, 3]) {
    await (await within(2_000, witness.getLock(`it ${n}`).lock())).release()
  }
})

test('a request that runs between its release and the answer to the release leaves no lock behind', async () => {
  const client = rig.client({ commandTimeoutMs: 1_000, leaseMs: 60_000 })
  const lock = client.getLock('it')
  await lock.isLocked()
  rig.proxy.onNextRequest(SHA.acquire, 'cutBefore')
  const lease = await lock.lock()
  const late = rig.lastRequest('acquire')
  rig.proxy.onNextRequest(SHA.release, 'mute')
  const releasing = lease.release()
  await eventually(async () => !(await rig.exists('it')))
  expect(await rig.proxy.replay(late)).toContain('granted')
  expect(await rig.exists('it')).toBe(true)
  await releasing
  await eventually(async () => !(await rig.exists('it')))
})
