import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import type { Action, ProxyRequest } from '../support/proxy.ts'
import * as scripts from '../support/scripts.ts'

/** Requests and replies of the fair lock that are lost, run twice, or arrive late. */
const rig = faultRig()

/** Much longer than a round trip, and much shorter than a lease. */
const SOON_MS = 6_000

/** Waits until an owner other than `from` holds the lock. */
const passed = (name: string, from: string) =>
  eventually(async () => {
    const [holder] = Object.keys(await rig.hash(name))
    return holder !== undefined && holder !== from
  })

/** Returns a connected client, so that a trap catches a request of the test and not of the connection. */
async function warmClient(commandTimeoutMs = 200, outageMs = 4_000): Promise<Holdfast> {
  const client = rig.client({ commandTimeoutMs, outageMs })
  // On a busy machine the first connection may take longer than a short `outageMs`.
  await eventually(async () => granted(await client.getFairLock('warm').tryLock()).release())
  return client
}

const lost: Action[] = ['cutBefore', 'cutAfter', 'mute', 'duplicate']

describe('a request to queue', () => {
  test.each(lost)('%s: the request makes one place, which is served', async (action) => {
    const client = await warmClient()
    const held = await rig.witness().getFairLock('it').lock()
    const trap = rig.proxy.onNextRequest(SHA.acquireFair, action)
    const pending = client.getFairLock('it').lock()
    await trap.done
    await eventually(() => rig.proxy.count(SHA.acquireFair) > (action === 'duplicate' ? 1 : 2))
    await rig.queued('it', 1)
    const behind = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 2)
    await held.release()
    const lease = await within(SOON_MS, pending)
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    expect(await lease.release()).toBe(true)
    await (await within(SOON_MS, behind)).release()
    expect(await rig.queue('it')).toEqual([])
  })

  test.each(lost)('%s: the request acquires a free lock once', async (action) => {
    const client = await warmClient()
    const trap = rig.proxy.onNextRequest(SHA.acquireFair, action)
    const lease = await within(SOON_MS, client.getFairLock('it').lock())
    await trap.done
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    expect(await lease.release()).toBe(true)
    await eventually(async () => !(await rig.exists('it')))
  })

  test('a request that arrives after its caller has given up makes no place, and does not acquire the lock', async () => {
    const client = await warmClient(150, 150)
    const trap = rig.proxy.onNextRequest(SHA.acquireFair, 'cutBefore')
    const trying = outcome(client.getFairLock('it').lock())
    const request = await trap.seen
    rig.proxy.refuse()
    expect((await trying).error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await pause(350) // until the request may no longer run, because this is the subject
    await rig.proxy.heal()
    await rig.proxy.replay(request)
    expect(await rig.exists('it')).toBe(false)
    const held = await rig.witness().getFairLock('it').lock()
    await rig.proxy.replay(request)
    expect(await rig.queue('it')).toEqual([])
    await held.release()
  })

  test('a request that acquires a free lock after its caller has left is released again', async () => {
    const client = await warmClient(1_000)
    const leaving = new AbortController()
    const trap = rig.proxy.onNextRequest(SHA.acquireFair, 'cutBefore')
    const trying = outcome(client.getFairLock('it').lock({ signal: leaving.signal }))
    const request = await trap.seen
    leaving.abort()
    expect((await trying).error).toBe(leaving.signal.reason)
    await rig.proxy.onNextRequest(SHA.releaseFair, 'pass').done
    expect(await rig.proxy.replay(request)).toContain('granted')
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: SOON_MS })
  })

  test('a request that queues after its caller has left gives up its place again', async () => {
    const client = await warmClient(1_000)
    const held = await rig.witness().getFairLock('it').lock()
    const leaving = new AbortController()
    const trap = rig.proxy.onNextRequest(SHA.acquireFair, 'cutBefore')
    const trying = outcome(client.getFairLock('it').lock({ signal: leaving.signal }))
    const request = await trap.seen
    leaving.abort()
    await trying
    await rig.proxy.onNextRequest(SHA.releaseFair, 'pass').done
    expect(await rig.proxy.replay(request)).toContain('queued')
    await eventually(async () => (await rig.queue('it')).length === 0, { timeoutMs: SOON_MS })
    await held.release()
  })

  test('a request that runs again later does not shorten the lease', async () => {
    const client = await warmClient(1_000)
    const trap = rig.proxy.onNextRequest(SHA.acquireFair, 'cutBefore')
    const lease = granted(await client.getFairLock('it').tryLock({ leaseMs: 1_000 }))
    await lease.extend(3_000)
    await rig.proxy.replay(await trap.seen)
    expect(await rig.server.admin.pttl('it')).toBeGreaterThanOrEqual(lease.remaining())
    await lease.release()
  })
})

describe('the request that confirms a grant', () => {
  /** Grants the lock to a client whose next `renew` meets the fault. */
  async function grantWith(action: Action, options = {}): Promise<Lease> {
    const client = await warmClient()
    const held = await rig.witness().getFairLock('it').lock()
    const pending = client.getFairLock('it').lock(options)
    await rig.hears(client)
    const trap = rig.proxy.onNextRequest(SHA.renew, action)
    await held.release()
    const lease = await within(SOON_MS, pending)
    await trap.done
    return lease
  }

  test.each(
    lost.flatMap((action) => [
      { action, kind: 'watched', options: {} },
      { action, kind: 'fixed', options: { leaseMs: 10_000 } },
    ]),
  )('$action: a $kind lease of the holder still lasts', async ({ action, options }) => {
    const lease = await grantWith(action, options)
    await eventually(() => lease.remaining() > 5_000)
    expect(await rig.server.admin.pttl('it')).toBeGreaterThan(5_000)
    expect(await lease.release()).toBe(true)
  })

  test('the holder learns that its confirmations are lost before the next waiter has the lock', async () => {
    const client = await warmClient()
    const diary = new Diary(client)
    const held = await rig.witness().getFairLock('it').lock()
    const first = client.getFairLock('it').lock()
    await rig.hears(client)
    const second = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 2)
    rig.proxy.blackHole({ only: 'commands', onHeal: 'drop' })
    await held.release()
    const lease = await within(SOON_MS, first)
    expect(lease.valid).toBe(true)
    const { signal } = lease
    let knew = false
    signal.addEventListener('abort', () => {
      knew = true
    })
    const next = await within(SOON_MS, second)
    expect(knew).toBe(true)
    expect(next.token).toBeGreaterThan(lease.token)
    expect(diary.lost).toEqual([lease.token])
    expect(await lease.release()).toBe(false)
    await rig.proxy.heal()
    await next.release()
  })

  test('the holder learns from the answer to its confirmation that the lock is gone', async () => {
    // With this limit, the client does not repeat the confirmation while the proxy holds it back.
    const client = await warmClient(5_000)
    const held = await rig.witness().getFairLock('it').lock()
    const pending = client.getFairLock('it').lock()
    await rig.hears(client)
    const trap = rig.proxy.onNextRequest(SHA.renew, 'hold')
    await held.release()
    const lease = await within(SOON_MS, pending)
    await trap.seen
    await rig.server.admin.del('it')
    expect(lease.signal.aborted).toBe(false)
    trap.release()
    await trap.done
    await eventually(() => lease.signal.aborted)
    expect(lease.signal.reason).toMatchObject({ reason: 'gone' })
    await (await client.getFairLock('it').lock()).release()
  })

  test('a lock whose confirmation got no answer before an outage is released after the outage', async () => {
    const lease = await grantWith('cutAfter')
    rig.proxy.refuse()
    await eventually(() => lease.signal.aborted)
    expect(await lease.release()).toBe(false)
    await pause(1_600) // longer than the claim window, and much shorter than the lease
    await rig.proxy.heal()
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: 7_000 })
  })
})

describe('a release', () => {
  test.each(
    lost.flatMap((action) => [
      { action, follower: 'of another client' },
      { action, follower: 'of the same client' },
    ]),
  )('$action: the next waiter, $follower, is served', async ({ action, follower }) => {
    const client = await warmClient()
    const lease = await client.getFairLock('it').lock()
    const nextClient = follower === 'of the same client' ? client : rig.witness()
    const pending = nextClient.getFairLock('it').lock()
    await rig.queued('it', 1)
    const behind = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 2)
    const trap = rig.proxy.onNextRequest(SHA.releaseFair, action)
    expect(await within(SOON_MS, lease.release())).toBe(true)
    await trap.done
    const next = await within(SOON_MS, pending)
    expect(next.token).toBeGreaterThan(lease.token)
    expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
    expect(await next.release()).toBe(true)
    await (await within(SOON_MS, behind)).release()
  })

  test('a release that runs again later releases nothing', async () => {
    const client = await warmClient()
    const lock = client.getFairLock('it', { owner: client.owner() })
    const first = await lock.lock()
    const trap = rig.proxy.onNextRequest(SHA.releaseFair, 'cutBefore')
    await first.release()
    const request = await trap.seen
    const second = await lock.lock()
    await rig.proxy.replay(request)
    expect(await rig.hash('it')).toEqual({ [second.owner]: '1' })
    const other = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 1)
    await second.release()
    const third = lock.lock()
    await rig.queued('it', 1)
    await rig.proxy.replay(request)
    expect(await rig.queue('it')).toHaveLength(1)
    await (await other).release()
    await (await within(SOON_MS, third)).release()
  })

  test('a release that got no answer for `outageMs` hands the lock off after the outage', async () => {
    const client = await warmClient(200, 1_000)
    const lease = await client.getFairLock('it').lock()
    const pending = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 1)
    rig.proxy.blackHole({ onHeal: 'drop' })
    expect((await outcome(lease.release())).error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await rig.proxy.heal()
    await (await within(SOON_MS, pending)).release()
  })
})

describe('a heartbeat', () => {
  test.each(lost)('%s: the place stays, and is served', async (action) => {
    const client = await warmClient()
    const held = await rig.witness().getFairLock('it').lock()
    const pending = client.getFairLock('it').lock()
    await rig.queued('it', 1)
    const [place] = await rig.queue('it')
    const trap = rig.proxy.onNextRequest(SHA.heartbeat, action)
    await trap.done
    await rig.proxy.onNextRequest(SHA.heartbeat, 'pass').done
    expect(await rig.queue('it')).toEqual([place])
    await held.release()
    await (await within(SOON_MS, pending)).release()
  })

  test('the server passes over a place whose heartbeat comes too late, and the next heartbeat puts the place back', async () => {
    const client = await warmClient(10_000, 30_000)
    const held = await rig.witness().getFairLock('it').lock()
    const first = client.getFairLock('it').lock()
    await rig.queued('it', 1)
    const second = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 2)
    const third = rig.witness().getFairLock('it').lock()
    await rig.queued('it', 3)
    const hole = rig.proxy.blackHole()
    await pause(3_100) // longer than places are kept, because this is the subject
    await held.release()
    const next = await within(SOON_MS, second)
    hole.heal()
    await rig.queued('it', 2)
    const [head] = await rig.queue('it')
    expect(head?.startsWith(`${client.id}:`)).toBe(true)
    await next.release()
    const lease = await within(SOON_MS, first)
    await lease.release()
    await (await within(SOON_MS, third)).release()
  })

  test('a heartbeat that arrives after its waiter has left makes no lasting place, and delays the next waiter only briefly', async () => {
    const client = await warmClient()
    const held = await rig.witness().getFairLock('it').lock()
    const leaving = new AbortController()
    const pending = outcome(client.getFairLock('it').lock({ signal: leaving.signal }))
    await rig.queued('it', 1)
    const [leaver] = (await rig.queue('it')) as [string]
    const request = await rig.proxy.onNextRequest(SHA.heartbeat, 'cutBefore').seen
    const stays = client.getFairLock('it').lock()
    await rig.queued('it', 2)
    leaving.abort()
    await pending
    await rig.queued('it', 1)
    await rig.proxy.replay(request)
    expect(await rig.queue('it')).toHaveLength(2)
    const refusals = () =>
      rig.proxy.count(
        ({ args: [script, ...rest] }) =>
          (script === SHA.releaseFair || script === SHA.batchFair) && rest.includes(leaver),
      )
    const before = refusals()
    await held.release()
    // The client refuses the grant to a waiter that has left. So the next waiter is served before the claim window
    // ends.
    const lease = await within(1_200, stays)
    expect(refusals()).toBe(before + 1)
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    await eventually(async () => (await rig.queue('it')).length === 0, { timeoutMs: SOON_MS })
    await lease.release()
    await never(() => rig.exists('it'), 100)
  })

  test('a heartbeat that is sent again after a waiter has left does not contain the place of that waiter', async () => {
    const client = await warmClient(2_000)
    const held = await rig.witness().getFairLock('it').lock()
    const leaving = new AbortController()
    const pending = outcome(client.getFairLock('it').lock({ signal: leaving.signal }))
    await rig.queued('it', 1)
    const stays = client.getFairLock('it').lock()
    await rig.queued('it', 2)
    const owners = await rig.queue('it')
    const speaksForBoth = ({ args }: ProxyRequest) =>
      [SHA.heartbeat, ...owners].every((one) => args.includes(one))
    const beat = rig.proxy.onNextRequest(speaksForBoth, 'hold')
    await beat.seen
    // The server no longer knows the script when the heartbeat arrives, so the client sends the whole script with the
    // places of the other waiters. An earlier heartbeat would have loaded the script again.
    await rig.server.admin.script('FLUSH')
    await rig.server.admin.script('LOAD', scripts.releaseFair.source)
    leaving.abort()
    await pending
    const whole = rig.proxy.onNextRequest('EVAL', 'pass')
    beat.release()
    await whole.done
    await rig.queued('it', 1)
    await never(async () => (await rig.queue('it')).length > 1, 100)
    await held.release()
    await (await within(SOON_MS, stays)).release()
  })

  test('a heartbeat that arrives while its waiter holds the lock makes no place', async () => {
    const client = await warmClient()
    const held = await rig.witness().getFairLock('it').lock()
    const pending = client.getFairLock('it').lock()
    await rig.queued('it', 1)
    const request = await rig.proxy.onNextRequest(SHA.heartbeat, 'pass').seen
    await held.release()
    const lease = await pending
    await eventually(() => lease.remaining() > 5_000)
    await rig.proxy.replay(request)
    expect(await rig.queue('it')).toEqual([])
    await lease.release()
    expect(await rig.exists('it')).toBe(false)
  })
})

test('the next waiter acquires the lock at once when the waiter before it leaves with a grant', async () => {
  const client = await warmClient()
  const other = await warmClient()
  const held = await rig.witness().getFairLock('it').lock()
  const leaving = new AbortController()
  const gone = outcome(client.getFairLock('it').lock({ signal: leaving.signal }))
  await rig.queued('it', 1)
  const sameClient = client.getFairLock('it').lock()
  await rig.queued('it', 2)
  const otherClient = other.getFairLock('it').lock()
  await rig.queued('it', 3)
  const [head = ''] = await rig.queue('it')
  // The lock is already granted to the first waiter when this waiter leaves. The message with the grant is still on its
  // way.
  const slow = rig.proxy.delay(2_000, { only: 'subscriber', direction: 'toClient' })
  await held.release()
  leaving.abort()
  await gone
  await passed('it', head)
  slow.heal()
  await (await within(1_000, sameClient)).release()
  await (await within(1_000, otherClient)).release()
})

test('a confirmation that is sent again requests only the time that is left until `maxHoldMs`', async () => {
  const client = await warmClient()
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock({ maxHoldMs: 9_000 })
  await rig.queued('it', 1)
  await rig.hears(client)
  const trap = rig.proxy.onNextRequest(SHA.renew, 'mute')
  await held.release()
  const lease = await within(SOON_MS, pending)
  const wantedMs = ({ args }: ProxyRequest) => Number(args[2 + Number(args[1])])
  expect(wantedMs(await trap.seen)).toBe(9_000)
  await eventually(() => rig.proxy.count(SHA.renew) > 1)
  // The client has waited for the first answer before it repeated the request.
  expect(wantedMs(rig.lastRequest('renew'))).toBeLessThanOrEqual(8_850)
  await lease.release()
})
