import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Holdfast, Lease } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, SHA, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'

const rig = faultRig()
const KEEP_MS = 60_000

const channelOf = (client: Holdfast) => `holdfast_requests:${client.id}`

/** Acquires and releases the lock until the client keeps it. Returns the last lease. */
async function kept(client: Holdfast, keepMs = KEEP_MS): Promise<Lease> {
  const lock = client.getLock('it', { keepMs })
  return eventually(async () => {
    const lease = await lock.lock()
    await lease.release()
    return (await rig.exists('it')) && lease
  })
}

const becomesFree = () => eventually(async () => !(await rig.exists('it')))

test('a client keeps no lock before it can receive messages', async () => {
  // The subscription may take long. With this limit, the client does not replace its connection.
  const client = rig.client({ commandTimeoutMs: 20_000 })
  const lock = client.getLock('it', { keepMs: KEEP_MS })
  const trap = rig.proxy.onNextRequest(channelOf(client), 'hold')
  for (let i = 0; i < 3; i++) {
    await (await lock.lock()).release()
    expect(await rig.exists('it')).toBe(false)
  }
  // This hold began before the subscription, so a message for its lock may be lost.
  const lease = await lock.lock()
  trap.release()
  await eventually(
    async () => Number((await rig.server.admin.pubsub('NUMSUB', channelOf(client)))[1]) === 1,
  )
  await lease.release()
  expect(await rig.exists('it')).toBe(false)
  await kept(client)
})

test('a client that may have missed messages frees the lock', async () => {
  const client = rig.client()
  await kept(client)
  rig.proxy.cut('subscriber')
  await becomesFree()
  await kept(client)
})

test('a message that comes before the answer with the grant counts: the client frees the lock after the hold', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  await kept(client)
  await client.getLock('it').whenFree()
  const trap = rig.proxy.onNextRequest(SHA.acquire, 'holdReply')
  const acquiring = client.getLock('it', { keepMs: KEEP_MS }).lock()
  await trap.seen
  await eventually(() => rig.exists('it'))
  let token = 0
  const waiting = rig
    .witness()
    .getLock('it')
    .lock()
    .then((lease) => {
      token = lease.token
      return lease
    })
  await rig.listening('it')
  await never(() => token > 0, 50)
  trap.release()
  const lease = await acquiring
  await lease.release()
  await (await within(3_000, waiting)).release()
  expect(token).toBeGreaterThan(lease.token)
})

test.each(['cutBefore', 'cutAfter', 'mute', 'duplicate', 'holdReply'] as const)(
  'the lock becomes free after keepMs when the fault of the release is "%s", and is usable then',
  async (action) => {
    const client = rig.client()
    const diary = new Diary(client)
    const { token } = await kept(client, 200)
    const trap = rig.proxy.onNextRequest(SHA.release, action)
    await trap.seen
    await becomesFree()
    trap.release()
    const lease = await client.getLock('it', { keepMs: KEEP_MS }).lock()
    expect(lease.token).toBeGreaterThan(token)
    expect(lease.valid).toBe(true)
    await never(() => lease.signal.aborted, 300)
    await lease.release()
    expect(diary.lost).toEqual([])
  },
)

test.each(['cutBefore', 'cutAfter', 'mute', 'duplicate', 'holdReply'] as const)(
  'a waiter gets the kept lock when the fault of its message is "%s"',
  async (action) => {
    const { token } = await kept(rig.witness())
    const [keeper] = Object.keys(await rig.hash('it'))
    const trap = rig.proxy.onNextRequest(`holdfast_requests:${keeper?.split(':')[0]}`, action)
    const lease = await within(12_000, rig.client().getLock('it').lock())
    await trap.seen
    trap.release()
    expect(lease.token).toBeGreaterThan(token)
    await lease.release()
  },
)

test('a lease that ran out while the event loop was blocked is not used for the next call', async () => {
  const client = rig.client({ leaseMs: 400 })
  const diary = new Diary(client)
  const { owner, token } = await kept(client)
  for (const end = performance.now() + 600; performance.now() < end; );
  const lease = await client.getLock('it', { keepMs: KEEP_MS }).lock()
  expect(lease.owner).not.toBe(owner)
  expect(lease.token).toBeGreaterThan(token)
  expect(Object.keys(await rig.hash('it'))).toEqual([lease.owner])
  await lease.release()
  expect(diary.lost).toEqual([])
})

test('a frozen process loses the kept lock at the end of the lease, and gets a greater token later', async () => {
  const args = [String(rig.server.port), '1000']
  const child = startChild('test/faults/fixtures/keeper.mjs', { args })
  const { token } = await child.next<{ token: number }>()
  child.kill('SIGSTOP')
  const lease = await within(8_000, rig.witness().getLock('it').lock())
  expect(lease.token).toBeGreaterThan(token)
  child.kill('SIGCONT')
  child.send('again')
  await never(() => child.all.length > 1, 200)
  await lease.release()
  const later = await child.next<{ token: number }>()
  expect(later.token).toBeGreaterThan(lease.token)
  await child.stop()
  leaves({ keys: true, why: 'the keeper was killed' })
})

test('a server that lost its data ends the kept lock at the next renewal, without an event', async () => {
  const client = rig.client({ leaseMs: 600 })
  const diary = new Diary(client)
  const { owner } = await kept(client)
  await rig.server.admin.flushdb()
  const lock = client.getLock('it', { keepMs: KEEP_MS })
  // The client learns of the loss from a renewal, or from the check of a call.
  await eventually(async () => {
    const lease = await lock.lock()
    const isNew = lease.owner !== owner
    await lease.release().catch(() => undefined)
    return isNew
  })
  expect(diary.reasons.every((reason) => reason === 'gone')).toBe(true)
})

test('a hold that was acquired without a request reports that the server lost the lock', async () => {
  // The watchdog renews such a lease only long after the test.
  const client = rig.client({ leaseMs: 120_000 })
  const { owner } = await kept(client)
  await rig.server.admin.flushdb()
  // For 10 ms, the answer to the acquisition counts as a check.
  await pause(20)
  const lease = await client.getLock('it', { keepMs: KEEP_MS }).lock()
  expect(lease.owner).toBe(owner)
  await eventually(() => lease.signal.aborted)
  expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
})

test('the client does not keep the lock in an outage, and acquires it again afterwards', async () => {
  const client = rig.client({ leaseMs: 600, outageMs: 5_000 })
  client.on('error', () => undefined)
  const { token } = await kept(client)
  rig.proxy.blackHole({ onHeal: 'drop' })
  await eventually(async () => !(await rig.exists('it')))
  const acquiring = client.getLock('it', { keepMs: KEEP_MS }).lock()
  await rig.proxy.heal()
  const lease = await within(8_000, acquiring)
  expect(lease.token).toBeGreaterThan(token)
  expect(Object.keys(await rig.hash('it'))).toEqual([lease.owner])
  await lease.release()
})

test('a broken connection ends the kept lock: a call during the outage waits, and a call after it sends a request', async () => {
  const client = rig.client({ outageMs: 8_000 })
  client.on('error', () => undefined)
  const isDown = new Promise<void>((resolve) => client.once('outage', () => resolve()))
  const { owner } = await kept(client)
  rig.proxy.refuse()
  rig.proxy.cut('commands')
  await isDown
  await rig.server.admin.flushdb()
  const other = rig.witness().getLock('it')
  const theirs = await other.lock()
  const lock = client.getLock('it', { keepMs: KEEP_MS })
  let isHeld = false
  const acquiring = lock.lock().then((lease) => {
    isHeld = true
    return lease
  })
  await never(() => isHeld, 100)
  await rig.proxy.heal()
  await never(() => isHeld, 200)
  await theirs.release()
  const lease = await within(8_000, acquiring)
  expect(lease.owner).not.toBe(owner)
  expect(lease.token).toBeGreaterThan(theirs.token)
  await lease.release()
})

test('the client frees the lock when its connection was restored', async () => {
  const client = rig.client()
  client.on('error', () => undefined)
  await kept(client)
  rig.proxy.cut('commands')
  await becomesFree()
})

test('a waiter that only listens to the channel of the lock gets it beside a busy client', async () => {
  const client = rig.client()
  const lock = client.getLock('it', { keepMs: 200 })
  await kept(client, 200)
  let isOver = false
  let uses = 0
  const busy = (async () => {
    while (!isOver) {
      const lease = await lock.lock()
      uses += 1
      await pause(100)
      await lease.release()
    }
  })()
  const stop = async () => {
    isOver = true
    await busy
  }
  atEnd(stop, { beforeCheck: true })
  // Waits like Redisson: it sends no message to the holder, and tries again after each message about the lock.
  const waiter = new Redis(rig.server.url)
  atEnd(() => waiter.disconnect(), { beforeCheck: true })
  const take =
    "return redis.call('EXISTS', KEYS[1]) == 0 and redis.call('HSET', KEYS[1], 'java', 1)"
  const taken = new Promise<void>((resolve) => {
    waiter.on('message', async () => {
      if ((await rig.server.admin.eval(take, 1, 'it')) === 1) resolve()
    })
  })
  await waiter.subscribe('redisson_lock__channel:{it}')
  await within(30_000, taken)
  // After 64 uses, the client would free the lock because it has used all reserved tokens.
  expect(uses).toBeLessThan(50)
  await rig.server.admin.del('it')
  await stop()
})

test('tryLock() returns null soon if the process of the keeper does not answer', async () => {
  const args = [String(rig.server.port), '30000']
  const child = startChild('test/faults/fixtures/keeper.mjs', { args })
  await child.next()
  child.kill('SIGSTOP')
  expect(await within(3_000, rig.witness().getLock('it').tryLock())).toBeNull()
  child.kill('SIGCONT')
  const lease = granted(
    await eventually(() => rig.witness().getLock('it').tryLock(), { everyMs: 50 }),
  )
  await lease.release()
  await child.stop()
  leaves({ keys: true, why: 'the keeper was killed' })
})
