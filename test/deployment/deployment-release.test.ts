import { Holdfast, type Lease } from '../../src/index.ts'
import type { HolderRow, LockRow } from '../../tools/inspection/inspection.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { channelOf } from '../support/promised-keys.ts'
import { startProxy } from '../support/proxy.ts'
import { sharedServer } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

const server = sharedServer()
const LEASE_MS = 900

const clean = () => atEnd(() => server.flush(), { beforeCheck: true })

function newClient(options = {}) {
  const client = new Holdfast({ redis: server.url, leaseMs: LEASE_MS, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

function openAt(url: string, timeoutMs = 5_000) {
  const inspection = openInspection(readWhere({}, [url], {}), { timeoutMs })
  atEnd(() => inspection.close(), { beforeCheck: true })
  return inspection
}

/** The row that an operator has seen, and its only holder. */
async function seen(key: string): Promise<{ row: LockRow; owner: string; token: number | null }> {
  const row = await openAt(server.url).inspect(key)
  const [holder] = row?.holders ?? []
  if (row === null || holder === undefined) throw new Error(`Nobody has ${key}`)
  return { row, owner: holder.owner, token: row.token }
}

const lost = (lease: Lease) => eventually(() => lease.signal.aborted)
const waits = (key: string, count = 1) =>
  eventually(async () => (await openAt(server.url).read([key]))[0]?.waiting === count)

test('the next holder has a token above the fence, and the old holder learns of its loss at its renewal', async () => {
  clean()
  const [client, other] = [newClient(), newClient()]
  const stuck = await client.getLock('a').lock()
  const next = other.getLock('a').lock()
  await waits('a')
  const forced = await openAt(server.url).forceRelease('a', await seen('a'))
  expect(forced).toEqual({ outcome: 'released', fence: stuck.token })
  const lease = await next
  expect(lease.token).toBeGreaterThan(stuck.token)
  await lost(stuck)
  expect(stuck.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
  await stuck.release().catch(() => {})
  expect((await seen('a')).owner).toBe(lease.owner)
})

test('a release wakes a waiter, and a late release of the old holder does not end the next hold', async () => {
  clean()
  const [client, other] = [newClient({ leaseMs: 60_000 }), newClient()]
  const stuck = await client.getLock('a').lock()
  const next = other.getLock('a').lock()
  await waits('a')
  const before = await seen('a')
  const listener = server.admin.duplicate()
  atEnd(() => listener.disconnect(), { beforeCheck: true })
  const messages: string[] = []
  listener.on('message', (channel: string) => messages.push(channel))
  const channel = channelOf('a')
  await listener.subscribe(channel)
  await openAt(server.url).forceRelease('a', before)
  const lease = await next
  // The message woke the waiter. Without a message, the waiter would check only after five seconds.
  expect(messages).toEqual([channel])
  await stuck.release().catch(() => {})
  expect((await seen('a')).owner).toBe(lease.owner)
})

test('the first waiter of the queue acquires the lock with a token above the fence', async () => {
  clean()
  const [client, other, third] = [newClient(), newClient(), newClient()]
  const stuck = await client.getFairLock('fair').lock()
  const next = other.getFairLock('fair').lock()
  await waits('fair')
  const last = third.getFairLock('fair').lock()
  await eventually(async () => (await openAt(server.url).inspect('fair'))?.queue.length === 2)
  const { fence } = await openAt(server.url).forceRelease('fair', await seen('fair'))
  const lease = await next
  expect(fence).toBe(stuck.token)
  expect(lease.token).toBeGreaterThan(stuck.token)
  await lease.release()
  await (await last).release()
  await lost(stuck)
})

test('a release grants the lock to the first waiter of the queue without a request of that waiter', async () => {
  clean()
  await newClient().getFairLock('fair').lock()
  const id = 'NxwZr5PVhg5sb0Me8yo04'
  await server.admin.zadd('holdfast_queue:{fair}', 1, `${id}:17`)
  await server.admin.hset('holdfast_waiting:{fair}', id, `${Date.now() + 60_000} 0 label`)
  for (const key of ['queue', 'waiting'])
    await server.admin.pexpire(`holdfast_${key}:{fair}`, 60_000)
  const { fence } = await openAt(server.url).forceRelease('fair', await seen('fair'))
  const { owner, token } = await seen('fair')
  expect(owner).toBe(`${id}:17`)
  expect(token).toBeGreaterThan(fence ?? Infinity)
})

test('a release notifies waiters of Redisson, in a queue or not', async () => {
  clean()
  const heard: string[] = []
  const subscriber = server.admin.duplicate()
  atEnd(() => subscriber.disconnect(), { beforeCheck: true })
  subscriber.on('message', (channel, message) => heard.push(`${channel} ${message}`))
  const java = '8743c9c0-0795-4907-87fd-6c719a6b4586:31'
  const channel = 'redisson_lock__channel:{a}'
  await subscriber.subscribe(channel, `${channel}:${java}`)
  await server.admin.rpush('redisson_lock_queue:{a}', java)
  await server.admin.zadd('redisson_lock_timeout:{a}', Date.now() + 60_000, java)
  await newClient().getLock('a').lock()
  await openAt(server.url).forceRelease('a', await seen('a'))
  await eventually(() => heard.length === 2)
  expect(heard.sort()).toEqual([`${channel} 0`, `${channel}:${java} 0`])
})

test('a release of an election ends the term, and another candidate leads', async () => {
  clean()
  const [client, other] = [newClient(), newClient()]
  const first = client.getLeaderElection('billing')
  const second = other.getLeaderElection('billing')
  const terms: number[] = []
  const lead = async (term: { token: number; signal: AbortSignal }) => {
    terms.push(term.token)
    await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()))
  }
  void first.lead(lead).catch(() => {})
  await eventually(() => terms.length === 1)
  void second.lead(lead).catch(() => {})
  await waits('billing')
  const { outcome, fence } = await openAt(server.url).forceRelease('billing', await seen('billing'))
  expect([outcome, fence]).toEqual(['released', terms[0]])
  await eventually(() => terms.length === 2)
  expect(terms[1]).toBeGreaterThan(fence ?? Infinity)
})

test('a new holder keeps the lock, even if the same owner holds it under a newer token', async () => {
  clean()
  const client = newClient()
  const stuck = await client.getLock('a').lock()
  const before = await seen('a')
  await stuck.release()
  const next = await newClient().getLock('a').lock()
  const inspection = openAt(server.url)
  expect(await inspection.forceRelease('a', before)).toEqual({ outcome: 'changed', fence: null })
  const now = await seen('a')
  expect(now.owner).toBe(next.owner)
  const older = { owner: now.owner, token: (now.token ?? 0) - 1 }
  expect(await inspection.forceRelease('a', older)).toEqual({ outcome: 'changed', fence: null })
  expect((await seen('a')).owner).toBe(next.owner)
  expect(await server.admin.get('redisson_lock_token:{a}')).toBe(String(next.token))
})

test('a release of a lock that is free reports "free", and a repeated release changes nothing', async () => {
  clean()
  const stuck = await newClient().getLock('a').lock()
  const before = await seen('a')
  const inspection = openAt(server.url)
  expect(await inspection.forceRelease('a', before)).toMatchObject({ outcome: 'released' })
  expect(await inspection.forceRelease('a', before)).toEqual({ outcome: 'free', fence: null })
  const next = await newClient().getLock('a').lock()
  expect(await inspection.forceRelease('a', before)).toEqual({ outcome: 'changed', fence: null })
  await next.release()
  expect(await inspection.forceRelease('nothing', before)).toEqual({ outcome: 'free', fence: null })
  await lost(stuck)
})

test('tokens rise above the seen token if the counter is gone, even ahead of the time', async () => {
  clean()
  const ahead = Date.now() * 1_000 + 3_600_000_000
  await server.admin.set('redisson_lock_token:{a}', ahead)
  const stuck = await newClient().getLock('a').lock()
  expect(stuck.token).toBe(ahead + 1)
  const before = await seen('a')
  await server.admin.del('redisson_lock_token:{a}')
  const { outcome, fence } = await openAt(server.url).forceRelease('a', before)
  expect(outcome).toBe('released')
  expect(fence).toBeGreaterThanOrEqual(stuck.token)
  const next = await newClient().getLock('a').lock()
  expect(next.token).toBeGreaterThan(fence ?? Infinity)
  expect(await server.admin.pttl('redisson_lock_token:{a}')).toBeGreaterThan(3_000_000)
})

test('the fence is the time of the server if the counter was missing from the start', async () => {
  clean()
  const stuck = await newClient().getLock('a').lock()
  await server.admin.del('redisson_lock_token:{a}')
  const { fence } = await openAt(server.url).forceRelease('a', await seen('a'))
  expect(fence).toBeGreaterThanOrEqual(stuck.token)
  expect((await newClient().getLock('a').lock()).token).toBeGreaterThan(fence ?? Infinity)
})

test('a token that was never issued is refused, because the counter would continue above it', async () => {
  clean()
  const held = await newClient().getLock('a').lock()
  const { owner } = await seen('a')
  await expect(
    openAt(server.url).forceRelease('a', { owner, token: Number.MAX_SAFE_INTEGER }),
  ).rejects.toThrow(
    'Token 9007199254740991 of "a" was never issued: at this time the last token is at most about ',
  )
  expect(await server.admin.get('redisson_lock_token:{a}')).toBe(String(held.token))
  expect((await seen('a')).owner).toBe(held.owner)
})

test('a counter without an expiry stays without an expiry', async () => {
  clean()
  const [client, other] = [newClient({ keepCounters: true }), newClient({ keepCounters: true })]
  const stuck = await client.getFairLock('a').lock()
  const next = other.getFairLock('a').lock()
  await waits('a')
  const { owner } = await seen('a')
  const token = stuck.token + 3_600_000_000
  expect(await openAt(server.url).forceRelease('a', { owner, token })).toMatchObject({
    fence: token,
  })
  expect((await next).token).toBe(token + 1)
  expect(await server.admin.pttl('redisson_lock_token:{a}')).toBe(-1)
})

test.each([
  ['arrives after the release', 'hold'],
  ['was confirmed by the server before the release', 'holdReply'],
] as const)('a renewal that %s does not keep the lock for the holder', async (_, action) => {
  clean()
  const proxy = await startProxy(server.port)
  atEnd(() => proxy.close(), { beforeCheck: true })
  const stuck = await newClient({ redis: proxy.url }).getLock('a').lock()
  const before = await seen('a')
  const renewals = () => proxy.count(scripts.renew.sha1)
  const renewal = proxy.onNextRequest(scripts.renew.sha1, action)
  await renewal.seen
  expect(await openAt(server.url).forceRelease('a', before)).toMatchObject({ outcome: 'released' })
  expect([stuck.signal.aborted, renewals()]).toEqual([false, 1])
  renewal.release()
  await renewal.done
  await lost(stuck)
  expect(stuck.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
  expect(await server.admin.exists('a')).toBe(0)
})

test('a lost reply of a release is reported, and a repeated release reports that the lock is free', async () => {
  clean()
  const proxy = await startProxy(server.port)
  atEnd(() => proxy.close(), { beforeCheck: true })
  const stuck = await newClient().getLock('a').lock()
  const before = await seen('a')
  const inspection = openAt(`redis://127.0.0.1:${proxy.port}`, 1_000)
  proxy.onNextRequest('EVAL', 'cutAfter')
  await expect(inspection.forceRelease('a', before)).rejects.toThrow(
    /^"a" may not have been released\. Check the lock again\. 127\.0\.0\.1:\d+: /,
  )
  expect(await inspection.forceRelease('a', before)).toEqual({ outcome: 'free', fence: null })
  await lost(stuck)
})

test('a release ends the hold of a writer, and the next reader has a token above the fence', async () => {
  clean()
  const [client, other] = [newClient(), newClient()]
  const stuck = await client.getReadWriteLock('rw').writeLock().lock()
  const next = other.getReadWriteLock('rw').readLock().lock()
  await waits('rw')
  const { outcome, fence } = await openAt(server.url).forceRelease('rw', await seen('rw'))
  expect([outcome, fence]).toEqual(['released', stuck.token])
  const lease = await next
  expect(lease.token).toBeGreaterThan(stuck.token)
  await lost(stuck)
  await stuck.release().catch(() => {})
  expect((await seen('rw')).owner).toBe(lease.owner)
})

test('a release ends one of several readers, and the next writer waits for the other readers', async () => {
  clean()
  const [client, other, third] = [newClient(), newClient(), newClient()]
  const stuck = await client.getReadWriteLock('rw').readLock().lock()
  const reader = await other.getReadWriteLock('rw').readLock().lock()
  const writing = third.getReadWriteLock('rw').writeLock().lock()
  await waits('rw')
  const inspection = openAt(server.url)
  const owners = async () =>
    ((await inspection.inspect('rw'))?.holders ?? []).map(({ owner }: HolderRow) => owner)
  const owner = (await owners()).find((one) => one !== reader.owner) as string
  expect(await inspection.forceRelease('rw', { owner, token: null })).toEqual({
    outcome: 'released',
    fence: null,
  })
  expect(await owners()).toEqual([reader.owner])
  expect(await server.admin.keys('*rwlock_timeout*')).toHaveLength(1)
  expect(await inspection.forceRelease('rw', { owner, token: null })).toMatchObject({
    outcome: 'changed',
  })
  const last = { owner: reader.owner, token: reader.token }
  const { fence } = await inspection.forceRelease('rw', last)
  const writer = await writing
  expect(fence).toBe(reader.token)
  expect(writer.token).toBeGreaterThan(reader.token)
  await lost(stuck)
  await lost(reader)
  await writer.release()
})

test('a release returns a permit once, and a waiter acquires the permit', async () => {
  clean()
  const [client, other] = [newClient(), newClient()]
  await client.getPermitExpirableSemaphore('api').trySetPermits(2)
  const stuck = await client.getPermitExpirableSemaphore('api').acquire({ permits: 2 })
  const next = other.getPermitExpirableSemaphore('api').acquire()
  await waits('api')
  const inspection = openAt(server.url)
  const [id] = stuck.ids as [string]
  const taken = { outcome: 'released', fence: null }
  expect(await inspection.forceRelease('api', { owner: id, token: null })).toEqual(taken)
  const permit = await next
  expect(await inspection.forceRelease('api', { owner: id, token: null })).toEqual({
    outcome: 'free',
    fence: null,
  })
  await lost(stuck)
  await permit.release()
  await stuck.release().catch(() => {})
  await eventually(async () => (await server.admin.get('api')) === '2')
})

test('a release of a semaphore without leases, or of a latch, is refused', async () => {
  clean()
  const client = newClient()
  await client.getSemaphore('plain').trySetPermits(1)
  await client.getCountDownLatch('latch').trySetCount(1)
  const inspection = openAt(server.url)
  const nobody = { owner: 'x', token: null }
  await expect(inspection.forceRelease('plain', nobody)).rejects.toThrow(/"plain" is a semaphore/)
  await expect(inspection.forceRelease('latch', nobody)).rejects.toThrow(/"latch" is a latch/)
  expect(await server.admin.get('plain')).toBe('1')
})

test('a release is recorded if there is a history, and creates no history', async () => {
  clean()
  const client = newClient()
  await client.getLock('a').lock()
  await openAt(server.url).forceRelease('a', await seen('a'), 'ada@ops')
  expect(await server.admin.exists('holdfast_history')).toBe(0)
  await server.admin.xadd('holdfast_history', '*', 'event', 'acquired')
  const lease = await client.getLock('a').lock()
  await openAt(server.url).forceRelease('a', await seen('a'), 'ada@ops')
  const [, entry] = (await server.admin.xrange('holdfast_history', '-', '+')).at(-1) ?? []
  expect(entry?.join(' ')).toContain(
    `event forced name a owner ${lease.owner} token ${lease.token} reason by ada@ops`,
  )
})
