import { setTimeout as pause } from 'node:timers/promises'
import type { Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { granted, within } from '../support/fault-rig.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

// With these options, a test ends before the next renewal, and no connection is closed because of a late answer.
const STILL = { leaseMs: 60_000, longestLeaseMs: 60_000, commandTimeoutMs: 5_000 }

const somebodyElse = async ({ admin }: RedisServer, name: string, ms: number) => {
  await admin.hset(name, 'somebody:else', 1)
  await admin.pexpire(name, ms)
}

/** Starts masters that know the scripts, each behind a proxy. */
async function proxied(count: number) {
  const cluster = await Cluster.start(count)
  for (const { admin } of cluster.masters) {
    for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
  }
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  return { cluster, proxies, urls: proxies.map(({ url }) => url) }
}

/** Checks that the loss of the lock at one of five masters lets no other client acquire the lock. */
async function oneKeyLess(cluster: Cluster, { name, owner }: Lease): Promise<void> {
  const [first] = cluster.masters as [RedisServer]
  await first.admin.del(name)
  expect(await cluster.client(STILL).getLock(name).tryLock()).toBeNull()
  expect((await cluster.holders(name)).filter((one) => one === owner)).toHaveLength(4)
}

describe.each([
  ['fixed', 50_000],
  ['watched', undefined],
] as const)('a lease (%s) that a bare majority granted', (_, leaseMs) => {
  test('the lease is given to the other masters when the split that held them is over', async () => {
    const cluster = await Cluster.start(5)
    const lock = cluster.client(STILL).getLock('it')
    for (const master of cluster.masters.slice(3)) await somebodyElse(master, 'it', 300)
    const lease = granted(await lock.tryLock(4_000, leaseMs))
    await cluster.heldEverywhere('it', lease.owner)
    await oneKeyLess(cluster, lease)
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
  })

  test('the lease is given to the other masters when they accept writes again', async () => {
    const cluster = await Cluster.start(5)
    const full = cluster.masters.slice(3)
    for (const { admin } of full) await admin.config('SET', 'maxmemory', '1')
    const lease = granted(await cluster.client(STILL).getLock('it').tryLock(4_000, leaseMs))
    await pause(100)
    expect((await cluster.holders('it')).slice(3)).toEqual(['', ''])
    for (const { admin } of full) await admin.config('SET', 'maxmemory', '0')
    await cluster.heldEverywhere('it', lease.owner)
    await oneKeyLess(cluster, lease)
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
  })

  test('the lease is given to masters that did not answer the vote, although their connections stand', async () => {
    const { cluster, proxies, urls } = await proxied(5)
    // A master has a tenth of the lease to answer. The client closes a silent connection only much later.
    const options = { ...STILL, leaseMs: 6_000, commandTimeoutMs: 30_000 }
    const lock = cluster.client(options, urls).getLock('it')
    await lock.using(() => {})
    await cluster.free('it')
    const traps = proxies.slice(3).map((proxy) => proxy.onNextRequest(scripts.vote.sha1, 'hold'))
    const lease = granted(await lock.tryLock(4_000, leaseMs))
    const asked = () => proxies.slice(3).every((proxy) => proxy.count(scripts.renew.sha1) > 0)
    await eventually(asked, { message: 'a look at what those have that did not answer' })
    for (const trap of traps) trap.release()
    await cluster.heldEverywhere('it', lease.owner)
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
  })

  test('the lease is given to the other masters even after a hand-over', async () => {
    const cluster = await Cluster.start(5)
    const lock = cluster.client(STILL).getLock('it')
    const first = granted(await lock.tryLock(4_000, leaseMs))
    await cluster.heldEverywhere('it', first.owner)
    const next = lock.tryLock(4_000, leaseMs)
    const last = cluster.masters.slice(3)
    for (const { admin } of last) await admin.del('it')
    for (const master of last) await somebodyElse(master, 'it', 300)
    await pause(20)
    await first.release()
    const lease = granted(await within(4_000, next))
    await cluster.heldEverywhere('it', lease.owner)
    await oneKeyLess(cluster, lease)
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
  })
})

test('an extended lease is given to a master that had lost it', async () => {
  const cluster = await Cluster.start(3)
  const lease = await cluster.client(STILL).getLock('it').lock(40_000)
  await cluster.heldEverywhere('it', lease.owner)
  await cluster.masters[0]?.admin.del('it')
  await lease.extend(50_000)
  await cluster.heldEverywhere('it', lease.owner)
  await lease.release()
  await cluster.free('it')
})

describe('a lock that is not restored', () => {
  test('a lock is not restored after its release, however late the request arrives', async () => {
    const { cluster, proxies, urls } = await proxied(3)
    const [, , last] = proxies as [FaultProxy, FaultProxy, FaultProxy]
    const client = cluster.client(STILL, urls)
    await client.getLock('warm').using(() => {})
    await cluster.free('warm')
    const trap = last.onNextRequest(scripts.restore.sha1, 'hold')
    await somebodyElse(cluster.masters[2] as RedisServer, 'it', 100)
    const lease = await client.getLock('it').lock(50_000)
    await trap.seen
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
    trap.release()
    await trap.done
    await eventually(() => last.count(scripts.release.sha1) >= 2)
    await client.close()
    expect(await cluster.holders('it')).toEqual(['', '', ''])
  })

  test('a lock whose restoration got no answer is free at all masters after its release', async () => {
    const { cluster, proxies, urls } = await proxied(3)
    const [, , last] = proxies as [FaultProxy, FaultProxy, FaultProxy]
    const client = cluster.client({ ...STILL, leaseMs: 2_000, commandTimeoutMs: 400 }, urls)
    await client.getLock('warm').using(() => {})
    await cluster.free('warm')
    const trap = last.onNextRequest(scripts.restore.sha1, 'mute')
    await somebodyElse(cluster.masters[2] as RedisServer, 'it', 100)
    const lease = await client.getLock('it').lock(50_000)
    await trap.done
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
  })

  test('a lock is not restored after a majority reported that it was taken away', async () => {
    const cluster = await Cluster.start(5)
    const [full] = cluster.masters.slice(4) as [RedisServer]
    await full.admin.config('SET', 'maxmemory', '1')
    const client = cluster.client(STILL)
    await client.getLock('it').lock(50_000)
    await cluster.client(STILL).getLock('it').forceUnlock()
    await cluster.free('it')
    await full.admin.config('SET', 'maxmemory', '0')
    // The client checks for repairs after 20, 40, 80 ms and so on.
    await pause(700)
    expect(await cluster.holders('it')).toEqual(['', '', '', '', ''])
  })
})

test('many locks that one master refuses cost few requests, and at most two while it is known to be down', async () => {
  const { cluster, proxies, urls } = await proxied(3)
  const [first, , last] = proxies as [FaultProxy, FaultProxy, FaultProxy]
  const client = cluster.client({ ...STILL, commandTimeoutMs: 3_000 }, urls)
  await client.getLock('warm').using(() => {})
  await cluster.free('warm')
  const { admin } = cluster.masters[2] as RedisServer
  await admin.config('SET', 'maxmemory', '1')
  const names = Array.from({ length: 300 }, (_, i) => `it:${i}`)
  const leases = await Promise.all(names.map((name) => client.getLock(name).lock(50_000)))
  await pause(1_500)
  // The checks come after 20, 40, 80 ms and so on. Each check is for all locks together.
  expect(first.count(scripts.renew.sha1)).toBeLessThan(60)
  last.refuse()
  last.cut()
  await pause(300)
  const before = first.count(scripts.renew.sha1)
  await pause(1_500)
  expect(first.count(scripts.renew.sha1) - before).toBeLessThanOrEqual(2)
  await admin.config('SET', 'maxmemory', '0')
  await last.heal()
  await eventually(async () => (await admin.exists(...names)) === 300, { timeoutMs: 10_000 })
  await Promise.all(leases.map((lease) => lease.release()))
  await eventually(async () => (await admin.exists(...names)) === 0)
})

test('a hold on too few masters is released nowhere while its lease counts', async () => {
  const cluster = await Cluster.start(3)
  const [first, second, third] = cluster.masters.map(({ admin }) => admin)
  // Another owner has one of the votes, although its attempt failed.
  await third?.hset('it', 'somebody:else/1', 1)
  await third?.pexpire('it', 30_000)
  const lock = cluster.client().getLock('it')
  const lease = await lock.lock(10_000)
  await cluster.masters[1]?.flush()
  // The client checks the hold more than once during this time.
  await pause(500)
  await third?.del('it')
  expect(await cluster.client().getLock('it').tryLock(1_000)).toBeNull()
  expect(lease.valid).toBe(true)
  expect(await first?.hexists('it', lease.owner)).toBe(1)
  expect(await second?.exists('it')).toBe(0)
  await lease.release()
  await cluster.free('it')
})

test('a holder whose lock is on too few masters learns of the loss before another client acquires it', async () => {
  const { cluster, proxies, urls } = await proxied(3)
  const [, second, third] = cluster.masters as [RedisServer, RedisServer, RedisServer]
  await somebodyElse(third, 'it', 30_000)
  const lease = await cluster.client({ leaseMs: 1_500 }, urls).getLock('it').lock()
  const heard: string[] = []
  lease.signal.addEventListener('abort', () => heard.push('told'))
  const other = cluster.client()
  const waits = new Promise((resolve) => other.once('wait', resolve))
  const waiting = other
    .getLock('it')
    .lock()
    .finally(() => heard.push('let in'))
  await waits
  // Otherwise the client could restore the lock at the third master, and would have a majority again.
  proxies[2]?.refuse()
  proxies[2]?.cut()
  await Promise.all([second.flush(), third.admin.del('it')])
  const next = await within(20_000, waiting)
  expect(heard).toEqual(['told', 'let in'])
  expect(next.token).toBeGreaterThan(lease.token)
  await next.release()
  await cluster.free('it')
})
