import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { granted, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { type Action, type FaultProxy, type ProxyRequest, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import * as scripts from '../support/scripts.ts'

interface Proxied {
  readonly cluster: Cluster
  readonly proxies: FaultProxy[]
  readonly urls: string[]
}

/** Starts masters that know the scripts, each behind a proxy. Their counters differ by `apart`. */
async function proxied(count: number, apart = 100): Promise<Proxied> {
  const cluster = await Cluster.start(count)
  for (const [i, { admin }] of cluster.masters.entries()) {
    for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
    await admin.set(lockKeys('it').counter, 1_000 + apart * i, 'PX', 60_000)
  }
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  return { cluster, proxies, urls: proxies.map(({ url }) => url) }
}

/** Checks that a later client, which reaches all masters, receives a greater token. */
async function nextIsAbove(cluster: Cluster, token: number): Promise<void> {
  const next = await within(5_000, cluster.client().getLock('it').lock())
  expect(next.token).toBeGreaterThan(token)
  await next.release()
  await cluster.free('it')
}

const lost: Action[] = ['mute', 'cutAfter', 'cutBefore']

describe.each(lost)('lost replies (%s)', (action) => {
  test.each([
    ['a minority', 2],
    ['a majority', 3],
    ['all', 5],
  ])(
    'the lock is acquired after the votes of %s are lost, and the next token is greater',
    async (_, some) => {
      const { cluster, proxies, urls } = await proxied(5)
      const lock = cluster.client({ outageMs: 10_000 }, urls).getLock('it')
      await lock.isLocked()
      for (const proxy of proxies.slice(0, some)) proxy.onNextRequest(scripts.vote.sha1, action)
      const lease = granted(await within(8_000, lock.tryLock(7_000)))
      const counters = (await cluster.counters('it')).map(Number)
      expect(counters.filter((counter) => counter >= lease.token).length).toBeGreaterThanOrEqual(3)
      expect(await cluster.client().getLock('it').tryLock()).toBeNull()
      await lease.release()
      await nextIsAbove(cluster, lease.token)
      leaves({ keys: true, why: 'what a cut-off master was not told ends with its lease' })
    },
  )

  test.each([
    ['one', 1],
    ['all', 5],
  ])(
    'the lock is acquired after the agreement of %s is lost, and the next token is greater',
    async (_, some) => {
      const { cluster, proxies, urls } = await proxied(5)
      const lock = cluster.client({ outageMs: 10_000 }, urls).getLock('it')
      await lock.isLocked()
      for (const proxy of proxies.slice(0, some)) proxy.onNextRequest(scripts.agree.sha1, action)
      const lease = granted(await within(8_000, lock.tryLock(7_000)))
      const counters = (await cluster.counters('it')).map(Number)
      expect(counters.filter((counter) => counter >= lease.token).length).toBeGreaterThanOrEqual(3)
      await lease.release()
      await nextIsAbove(cluster, lease.token)
      leaves({ keys: true, why: 'what a cut-off master was not told ends with its lease' })
    },
  )

  test('a hand-over whose replies are lost is detected, and the next holder has a greater token', async () => {
    const { cluster, proxies, urls } = await proxied(3)
    const client = cluster.client({ outageMs: 10_000 }, urls)
    const first = await client.getLock('it').lock()
    await cluster.heldEverywhere('it', first.owner)
    const second = client.getLock('it').lock()
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (const proxy of proxies.slice(0, 2)) proxy.onNextRequest(scripts.handOver.sha1, action)
    await first.release().catch(() => {})
    const lease = await within(8_000, second)
    expect(lease.token).toBeGreaterThan(first.token)
    await lease.release()
    await nextIsAbove(cluster, lease.token)
    leaves({ keys: true, why: 'what a cut-off master was not told ends with its lease' })
  })
})

test('an agreement that no majority confirms grants no lock', async () => {
  const { cluster, proxies, urls } = await proxied(3, 1_000)
  const lock = cluster.client({ outageMs: 1_500 }, urls).getLock('it')
  await lock.isLocked()
  for (const proxy of proxies) {
    // A trap for each possible attempt.
    for (let i = 0; i < 100; i++) proxy.onNextRequest(scripts.agree.sha1, 'cutBefore')
  }
  expect(await lock.tryLock(1_500).catch(() => null)).toBeNull()
  const told = proxies.reduce((sum, proxy) => sum + proxy.count(scripts.agree.sha1), 0)
  expect(told).toBeGreaterThan(0)
  await Promise.all(proxies.map((proxy) => proxy.heal()))
  await nextIsAbove(cluster, 2_000)
})

test('a release that arrives late on another connection ends no later hold of the same owner', async () => {
  const { cluster, proxies, urls } = await proxied(3)
  const client = cluster.client({}, urls)
  const lock = client.getLock('it', { owner: client.owner() })
  await lock.using(() => {})
  await cluster.free('it')
  const late = proxies.map(({ requests }) =>
    requests.findLast(({ args }) => args[0] === scripts.release.sha1),
  )
  const lease = await lock.lock()
  await cluster.heldEverywhere('it', lease.owner)
  for (const [i, proxy] of proxies.entries()) await proxy.replay(late[i] as ProxyRequest)
  expect(await cluster.holders('it')).toEqual([lease.owner, lease.owner, lease.owner])
  expect(await lease.release()).toBe(true)
  await cluster.free('it')
})
