import { setTimeout as pause } from 'node:timers/promises'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { letVote } from '../support/masters.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import * as scripts from '../support/scripts.ts'

const options = { leaseMs: 20_000, longestLeaseMs: 40_000 }

/** Starts three masters. The first master is behind a proxy and knows all scripts except `unknown`. */
async function firstProxied(
  unknown?: string,
): Promise<{ cluster: Cluster; proxy: FaultProxy; urls: string[] }> {
  const cluster = await Cluster.start(3)
  const [first, ...others] = cluster.masters.map(({ port, url }) => ({ port, url }))
  for (const { name, source } of Object.values(scripts)) {
    if (name !== unknown) await cluster.masters[0]?.admin.script('LOAD', source)
  }
  const proxy = await startProxy(first?.port as number)
  return { cluster, proxy, urls: [proxy.url, ...others.map(({ url }) => url)] }
}

describe('a release that a minority did not receive', () => {
  test.each(['cut off', 'silent'])(
    'the release reaches a master that was %s when the master is back',
    async (how) => {
      const { cluster, proxy, urls } = await firstProxied()
      const lease = await cluster.client(options, urls).getLock('it').lock()
      await cluster.heldEverywhere('it', lease.owner)
      if (how === 'silent') proxy.blackHole({ onHeal: 'drop' })
      else {
        proxy.refuse()
        proxy.cut()
        await pause(50)
      }
      expect(await lease.release()).toBe(true)
      await pause(700)
      expect(await cluster.holders('it')).toEqual([lease.owner, '', ''])
      await proxy.heal()
      await cluster.free('it')
    },
  )

  test('the releases of many locks reach a master that is back', async () => {
    const { cluster, proxy, urls } = await firstProxied()
    const client = cluster.client({ ...options, commandTimeoutMs: 3_000 }, urls)
    const names = Array.from({ length: 120 }, (_, i) => `it:${i}`)
    const leases = await Promise.all(names.map((name) => client.getLock(name).lock()))
    await eventually(async () => (await cluster.masters[0]?.admin.exists(...names)) === 120)
    proxy.refuse()
    proxy.cut()
    await pause(50)
    await Promise.all(leases.map((lease) => lease.release()))
    expect(await cluster.masters[0]?.admin.exists(...names)).toBe(120)
    await proxy.heal()
    await eventually(async () => (await cluster.masters[0]?.admin.exists(...names)) === 0, {
      message: 'all locks to be free',
      timeoutMs: 3_000,
    })
  })

  test('the release of the first owner reaches a master that is back after a hand-over', async () => {
    const { cluster, proxy, urls } = await firstProxied()
    const lock = cluster.client(options, urls).getLock('it')
    const lease = await lock.lock()
    await cluster.heldEverywhere('it', lease.owner)
    const waiting = lock.lock()
    await pause(50)
    proxy.refuse()
    proxy.cut()
    await pause(50)
    await lease.release()
    const next = await within(2_000, waiting)
    await pause(400)
    expect((await cluster.holders('it'))[0]).toBe(lease.owner)
    await proxy.heal()
    await eventually(async () => (await cluster.holders('it'))[0] !== lease.owner)
    await next.release()
    await cluster.free('it')
  })

  test('the release follows a late vote at a master that was not connected during a hand-over', async () => {
    const { cluster, proxy, urls } = await firstProxied('quorum/vote')
    const hole = proxy.blackHole()
    const lock = cluster.client({ ...options, commandTimeoutMs: 2_000 }, urls).getLock('it')
    const lease = await lock.lock()
    const waiting = lock.lock()
    await lease.release()
    await (await waiting).release()
    hole.heal()
    // The vote is sent again with its source, after all later requests.
    await eventually(() => proxy.count((it) => it.command === 'EVAL') > 0)
    await cluster.free('it')
    await never(async () => (await cluster.holders('it')).some(Boolean), 300)
  })

  test('a release is sent for a lease that expired and was not released', async () => {
    const cluster = await Cluster.start(3)
    const lease = await cluster.client(options).getLock('it').lock(1_000)
    await cluster.heldEverywhere('it', lease.owner)
    // A server whose clock was set back keeps the lock for longer.
    await cluster.masters[0]?.admin.pexpire('it', 60_000)
    await eventually(() => lease.signal.aborted)
    await cluster.free('it')
  })

  test('no release is sent to a master that never had the lock', async () => {
    const { cluster, proxy, urls } = await firstProxied()
    const lock = cluster.client(options, urls).getLock('it')
    await lock.using(() => {})
    await cluster.free('it')
    // Waits for all answers, so that none is lost with the connection.
    await pause(200)
    proxy.refuse()
    proxy.cut()
    await pause(50)
    for (let i = 0; i < 5; i++) await lock.using(() => {})
    const before = proxy.count(scripts.release.sha1)
    await proxy.heal()
    await pause(600)
    expect(proxy.count(scripts.release.sha1)).toBe(before)
  })

  test('each lock has one release request if every master answers', async () => {
    const { cluster, proxy, urls } = await firstProxied()
    const lock = cluster.client({ ...options, commandTimeoutMs: 2_000 }, urls).getLock('it')
    await lock.using(() => {})
    await pause(400)
    const before = proxy.count(scripts.release.sha1)
    for (let i = 0; i < 30; i++) await lock.using(() => {})
    await pause(400)
    expect(proxy.count(scripts.release.sha1) - before).toBe(30)
  })

  test('`close()` does not wait for a master that is silent, and the release is not repeated later', async () => {
    const { cluster, proxy, urls } = await firstProxied()
    const client = cluster.client({ leaseMs: 1_500, longestLeaseMs: 1_500 }, urls)
    const lease = await client.getLock('it').lock()
    await cluster.heldEverywhere('it', lease.owner)
    proxy.blackHole({ onHeal: 'drop' })
    await lease.release()
    await within(1_500, client.close())
    const before = proxy.count(scripts.release.sha1)
    await proxy.heal()
    await cluster.free('it')
    expect(proxy.count(scripts.release.sha1)).toBe(before)
  })

  test('the release is not repeated after the lease would have ended', async () => {
    const { cluster, proxy, urls } = await firstProxied()
    const client = cluster.client({ leaseMs: 400, longestLeaseMs: 400 }, urls)
    const lease = await client.getLock('it').lock()
    await cluster.heldEverywhere('it', lease.owner)
    proxy.blackHole({ onHeal: 'drop' })
    await lease.release()
    await pause(1_800)
    const before = proxy.count(scripts.release.sha1)
    await proxy.heal()
    await pause(1_200)
    expect(proxy.count(scripts.release.sha1)).toBe(before)
  })
})

describe.each(['a release', 'a hand-over'])('%s that no majority received', (what) => {
  test.each([
    ['can be reached', 'refuse'],
    ['can be written to', 'read only'],
  ])('the call succeeds once the masters %s again', async (_, how) => {
    const cluster = await Cluster.start(3)
    const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
    const urls = proxies.map(({ url }) => url)
    const client = cluster.client({ ...options, outageMs: 20_000 }, urls)
    const lost: unknown[] = []
    client.on('lost', (event) => lost.push(event))
    const lock = client.getLock('it')
    const lease = await lock.lock()
    await cluster.heldEverywhere('it', lease.owner)
    const next = what === 'a hand-over' ? lock.lock() : undefined
    await pause(100)
    if (how === 'refuse') {
      for (const proxy of proxies) {
        proxy.refuse()
        proxy.cut()
      }
      await pause(50)
    } else {
      for (const { admin } of cluster.masters) await admin.replicaof('127.0.0.1', '1')
    }
    const releasing = lease.release()
    // After this time, the pauses between the tries of the release are longer than the time to connect.
    await pause(800)
    if (how === 'refuse') for (const proxy of proxies) await proxy.heal()
    else {
      for (const master of cluster.masters) {
        await master.admin.replicaof('NO', 'ONE')
        await letVote(master)
      }
    }
    expect(await within(10_000, releasing)).toBe(true)
    expect(lost).toEqual([])
    await (await next)?.release()
    await cluster.free('it')
  })
})

test('a vote whose reply was lost is released although a majority refuses all requests', async () => {
  const { cluster, proxy, urls } = await firstProxied()
  const lock = cluster.client(options, urls).getLock('it')
  await lock.isLocked()
  for (const { admin } of cluster.masters.slice(1)) {
    await admin.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha')
  }
  proxy.onNextRequest(scripts.vote.sha1, 'cutAfter')
  // The client learns that the reply was lost before the other masters answer.
  for (const { admin } of cluster.masters.slice(1)) await admin.client('PAUSE', 150)
  await expect(lock.tryLock()).rejects.toMatchObject({ code: 'HOLDFAST_REFUSED' })
  await cluster.free('it')
})
