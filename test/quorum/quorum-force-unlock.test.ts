import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually, never } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import * as scripts from '../support/scripts.ts'

/** Starts three masters that know the scripts, each behind a proxy. */
async function start(): Promise<{ cluster: Cluster; proxies: FaultProxy[]; urls: string[] }> {
  const cluster = await Cluster.start(3)
  for (const { admin } of cluster.masters) {
    for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
  }
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  return { cluster, proxies, urls: proxies.map(({ url }) => url) }
}

const QUICK = { leaseMs: 1_200, outageMs: 10_000 }

test('`forceUnlock()` on a bare majority is not undone by a holder that restores the lock at a master', async () => {
  const { cluster, proxies, urls } = await start()
  const holder = cluster.client({ ...QUICK, leaseMs: 6_000 }, urls)
  const lease = await holder.getLock('it').lock()
  await cluster.heldEverywhere('it', lease.owner)
  // The first master has lost the lock. The next renewal of the holder restores the lock there.
  const [first, , third] = cluster.masters
  const [way] = proxies
  const trap = (way as FaultProxy).onNextRequest(scripts.restore.sha1, 'hold')
  await first?.admin.del('it')
  await within(5_000, trap.seen)
  // The client that calls `forceUnlock()` cannot reach the third master.
  const dead = await startProxy(third?.port as number)
  dead.refuse()
  const others = cluster.masters.slice(0, 2).map(({ url }) => url)
  const forcer = cluster.client(QUICK, [...others, dead.url])
  expect(await within(10_000, forcer.getLock('it').forceUnlock())).toBe(true)
  trap.release()
  await never(async () => {
    const [one, two] = await cluster.holders('it')
    expect([one, two]).toEqual(['', ''])
  }, 300)
  await eventually(() => lease.signal.aborted, { timeoutMs: 10_000 })
  await cluster.free('it')
})

test('`forceUnlock()` without a majority rejects, and the holder keeps the lock', async () => {
  const { cluster, urls } = await start()
  const lease = await cluster
    .client({ ...QUICK, leaseMs: 3_000 }, urls)
    .getLock('it')
    .lock()
  await cluster.heldEverywhere('it', lease.owner)
  const ways = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  const forcer = cluster.client(
    { ...QUICK, outageMs: 800 },
    ways.map(({ url }) => url),
  )
  // On a busy machine, the first connections may take longer than this short `outageMs`.
  await eventually(() => forcer.getLock('it').isLocked())
  for (const way of ways.slice(1)) {
    for (let i = 0; i < 50; i++) way.onNextRequest(scripts.forceRelease.sha1, 'cutBefore')
  }
  const { error } = await outcome(within(10_000, forcer.getLock('it').forceUnlock()))
  expect(error).toMatchObject({
    code: 'HOLDFAST_UNAVAILABLE',
    message: expect.stringContaining('not confirmed to be unlocked by force'),
  })
  for (const way of ways) await way.heal()
  // The lock is still held at two of three masters. The holder does not restore it at the first master.
  const [first] = cluster.masters
  await never(async () => {
    expect(lease.valid).toBe(true)
    expect(await first?.admin.exists('it')).toBe(0)
  }, 2_000)
  expect(await within(10_000, forcer.getLock('it').forceUnlock())).toBe(true)
  await eventually(() => lease.signal.aborted, { timeoutMs: 5_000 })
  await cluster.free('it')
})

test('`forceUnlock()` whose answers are lost does not end the lock of the next holder', async () => {
  const { cluster, proxies, urls } = await start()
  const lease = await cluster.client(QUICK).getLock('it').lock()
  await cluster.heldEverywhere('it', lease.owner)
  const forcer = cluster.client(QUICK, urls)
  await forcer.getLock('it').isLocked()
  const again = proxies.map((proxy) => {
    proxy.onNextRequest(scripts.forceRelease.sha1, 'cutAfter')
    return proxy.onNextRequest(scripts.forceRelease.sha1, 'hold')
  })
  const forcing = forcer.getLock('it').forceUnlock()
  await within(8_000, Promise.all(again.map(({ seen }) => seen)))
  const next = await within(8_000, cluster.client().getLock('it').lock())
  for (const trap of again) trap.release()
  expect(await within(8_000, forcing)).toBe(true)
  expect(next.valid).toBe(true)
  const holders = await cluster.holders('it')
  expect(holders.filter((one) => one === next.owner).length).toBeGreaterThanOrEqual(2)
  expect(await next.release()).toBe(true)
  await eventually(() => lease.signal.aborted, { timeoutMs: 5_000 })
  await cluster.free('it')
})

test('`forceUnlock()` finds the holder although one master is down and one has lost the lock', async () => {
  const { cluster } = await start()
  const lease = await cluster.client({ leaseMs: 20_000 }).getLock('it').lock()
  await cluster.heldEverywhere('it', lease.owner)
  const [first, second] = cluster.masters
  await first?.admin.del(lockKeys('it').lock)
  await second?.kill()
  // One master has the lock, one master has lost it, and one is down. The lock counts as held.
  const forcer = cluster.client()
  expect(await within(10_000, forcer.getLock('it').forceUnlock())).toBe(true)
  const [one, , three] = await cluster.holders('it')
  expect([one, three]).toEqual(['', ''])
})
