import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions, type Lease } from '../../src/index.ts'
import { ReleaseListener } from '../../src/waiting/release-listener.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { startRedis } from '../support/redis-server.ts'

/** The time between two checks of a sleeping waiter, in milliseconds. */
const LOOK_MS = { least: 5_000, most: 6_000 }

async function stage() {
  const server = await startRedis()
  const newClient = (options: Omit<HoldfastOptions, 'redis'> = {}) => {
    const client = new Holdfast({ redis: server.url, leaseMs: 600_000, ...options })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const calls = async () => {
    const stats = await server.admin.info('commandstats')
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    )
  }
  return { server, newClient, calls }
}

test('every kind of waiter finds within six seconds that a key was deleted', async () => {
  const [{ server, newClient }, cluster, busy] = await Promise.all([
    stage(),
    Cluster.start(3),
    stage(),
  ])
  const [holder, client] = [newClient(), newClient()]
  const [far, near] = [cluster.client({ leaseMs: 60_000 }), cluster.client({ leaseMs: 60_000 })]
  const latch = client.getCountDownLatch('latch')
  await latch.trySetCount(1)
  const held = await Promise.all([
    holder.getLock('plain').lock(),
    holder.getLock('fair').lock(),
    holder.getReadWriteLock('write').writeLock().lock(),
    holder.getReadWriteLock('read').writeLock().lock(),
    holder.getLock('multi').lock(),
    far.getLock('quorum').lock(),
  ])
  const waits: Promise<unknown>[] = [
    client.getLock('plain').lock(),
    client.getFairLock('fair').lock(),
    client.getReadWriteLock('write').writeLock().lock(),
    client.getReadWriteLock('read').readLock().lock(),
    client.getMultiLock(client.getLock('free'), client.getLock('multi')).lock(),
    near.getLock('quorum').lock(),
    latch.await(),
  ]
  // Many waiters of one client use a separate server. One of them checks the lock for all of them.
  const [others, many] = [busy.newClient(), busy.newClient({ presence: false })]
  const kept = await others.getLock('it').lock()
  const [abort, it] = [new AbortController(), many.getLock('it')]
  const inVain = Array.from({ length: 30 }, () =>
    it.lock({ signal: abort.signal }).catch(() => null),
  )
  await pause(500)
  // Waits until all waiters sleep, so that no client sends a request.
  let calls = -1
  for (let now = await busy.calls(); now !== calls; now = await busy.calls()) {
    calls = now
    await pause(500)
  }
  const names = ['plain', 'fair', 'write', 'read', 'multi', 'latch']
  await server.admin.del(...names)
  await Promise.all(cluster.masters.map(({ admin }) => admin.del('quorum')))
  const firstCheck = eventually(async () => (await busy.calls()) > calls, { everyMs: 50 })
  const [leases, callsThen] = await Promise.all([
    within(LOOK_MS.most + 1_500, Promise.all(waits)),
    firstCheck.then(() => busy.calls()),
  ])
  expect(callsThen).toBe(calls + 1)
  abort.abort()
  await Promise.all(inVain)
  await kept.release()
  for (const lease of leases) await (lease as Lease | undefined)?.release?.()
  for (const lease of held) expect(await lease.release()).toBe(false)
  await server.admin.del('holdfast_round:{latch}')
})

test('a sleeping waiter checks after 5 to 6 s at random, or at the end of a shorter lease', () => {
  const remote = { listen: () => ({ confirmed: true, stop: () => {} }) }
  const listener = new ReleaseListener({ mayBeFree: () => {} })
  for (const ttlMs of [600_000, 30_000, 6_000, Infinity]) {
    const all = Array.from({ length: 50 }, () => listener.listen(remote, ttlMs))
    expect(Math.min(...all)).toBeGreaterThanOrEqual(LOOK_MS.least)
    expect(Math.max(...all)).toBeLessThanOrEqual(LOOK_MS.most)
    expect(new Set(all).size).toBeGreaterThan(40)
  }
  expect(listener.listen(remote, 900)).toBe(901)
})
