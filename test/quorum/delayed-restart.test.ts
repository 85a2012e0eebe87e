import { BIRTH, lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { granted } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { letVote } from '../support/masters.ts'
import { startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { takes } from '../support/takes.ts'

const keyless = { keys: true, why: 'a lease of a killed or stopped holder is part of the test' }

/**
 * Returns a holder with a fixed lease, and a function that cuts it off from all masters. After the cut, the holder
 * cannot restore the lock at a master that lost it.
 */
async function holderOf(cluster: Cluster, options: { newDeployment?: boolean } = {}) {
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  const urls = proxies.map(({ url }) => url)
  const lease = await cluster.client(options, urls).getLock('it').lock(30_000)
  await cluster.heldEverywhere('it', lease.owner)
  const cutOff = () => {
    for (const proxy of proxies) {
      proxy.refuse()
      proxy.cut()
    }
  }
  return { lease, cutOff }
}

describe.each([3, 5])('a deployment of %i masters', (count) => {
  const minority = (count - 1) / 2

  test('masters that restarted empty grant the lock to no second holder', async () => {
    const cluster = await Cluster.start(count)
    const { lease, cutOff } = await holderOf(cluster)
    const others = cluster.client({ outageMs: 3_000 })
    const lock = others.getLock('it')
    expect(await lock.tryLock()).toBeNull()
    cutOff()
    for (const master of cluster.masters.slice(0, minority + 1)) await master.restart()
    expect(await lock.tryLock(1_000).catch(() => null)).toBeNull()
    for (const master of cluster.masters) await master.restart()
    expect(await lock.tryLock(1_000).catch(() => null)).toBeNull()
    expect(lease.valid).toBe(true)
    leaves(keyless)
  })

  test('masters that all restarted empty give their reason in the error', async () => {
    const cluster = await Cluster.start(count)
    const first = await cluster.client().getLock('it').lock(30_000)
    await Promise.all(cluster.masters.map((master) => master.restart()))
    const lock = cluster.client({ outageMs: 400 }).getLock('it')
    // If a master answers its first request late, the error has another reason for this master.
    await eventuallyPasses(async () => {
      const error = await lock.lock().then(String, (failure: Error) => failure)
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      for (const { port } of cluster.masters.slice(0, minority + 1)) {
        expect((error as Error).message).toContain(
          `${port}: it restarted, was emptied or was a replica recently`,
        )
      }
    })
    await first.release()
    leaves(keyless)
  })

  test('a new deployment votes at once', async () => {
    const cluster = await Cluster.start(count, false)
    const lock = cluster.client({ newDeployment: true }).getLock('it')
    const lease = granted(await lock.tryLock())
    await cluster.heldEverywhere('it', lease.owner)
    await lease.release()
    await cluster.free('it')
  })

  test('many clients found a new deployment together', async () => {
    const cluster = await Cluster.start(count, false)
    const locks = Array.from({ length: 4 }, () =>
      cluster.client({ newDeployment: true }).getLock('it'),
    )
    const tokens = await Promise.all(locks.map((lock) => lock.using(({ token }) => token)))
    expect(new Set(tokens).size).toBe(4)
    for (const { admin } of cluster.masters) {
      expect(Number((await admin.get(BIRTH))?.split(' ')[0])).toBeLessThan(Date.now() * 1_000)
    }
  })

  test('a master that forgets later is not new, even for a client with `newDeployment`', async () => {
    const cluster = await Cluster.start(count, false)
    const options = { newDeployment: true, outageMs: 400 }
    const { lease, cutOff } = await holderOf(cluster, { newDeployment: true })
    cutOff()
    const forgot = cluster.masters.slice(0, minority + 1)
    for (const master of forgot) await master.restart()
    const lock = cluster.client(options).getLock('it')
    expect(await lock.tryLock(1_500).catch(() => null)).toBeNull()
    expect(lease.valid).toBe(true)
    await eventually(async () => {
      await lock.tryLock().catch(() => null)
      const marks = await Promise.all(forgot.map(({ admin }) => admin.get(BIRTH)))
      return marks.every((mark) => Number(mark?.split(' ')[0]) > Date.now() * 1_000)
    })
    leaves(keyless)
  })
})

test('the first error of new masters names `newDeployment` and the time to wait, and suggests no server that is down', async () => {
  // If a master answers the last request too late, the error has another reason for this master.
  await eventuallyPasses(async () => {
    const cluster = await Cluster.start(3, false)
    const lock = cluster.client({ outageMs: 2_500 }).getLock('it')
    const { message } = (await lock.lock().catch((error) => error)) as Error
    for (const { port } of cluster.masters) {
      const [, ms] =
        new RegExp(`${port}: it restarted, .*?: it votes in about (\\d+) ms`).exec(message) ?? []
      expect(Number(ms)).toBeGreaterThan(30_000)
      expect(Number(ms)).toBeLessThanOrEqual(60_000)
    }
    expect(message).toContain('`newDeployment: true`')
    expect(message).not.toMatch(/Check that Redis|start it|slow/)
  })
})

test('each reason why a master does not vote comes with a remedy', async () => {
  const cluster = await Cluster.start(3)
  const lock = cluster.client({ outageMs: 2_500 }).getLock('it')
  await lock.using(() => {})
  const [gone, hung] = cluster.masters
  await gone?.kill()
  await hung?.pause()
  // The last request may have too little time to receive the connection error.
  await eventuallyPasses(async () => {
    const { message } = (await lock.lock().catch((error) => error)) as Error
    expect(message).toMatch(/ECONNREFUSED/)
    expect(message).toMatch(/If a master cannot be reached, start it/)
    expect(message).toMatch(/If a master gives no answer, it hangs or is slow/)
    expect(message).not.toMatch(/newDeployment|split|Check that Redis/)
  })
  leaves(keyless)
})

test('new masters vote without `newDeployment` when the longest lease has passed', async () => {
  const cluster = await Cluster.start(3, false)
  const client = cluster.client({ leaseMs: 500, longestLeaseMs: 800, outageMs: 10_000 })
  // Each master counts 800 ms on its wall clock, which may be adjusted during this time.
  const lease = await takes({ atLeast: 750 }, () => client.getLock('it').lock())
  await lease.release()
})

test('a master that stores every write before its answer votes at once after a restart', async () => {
  const cluster = await Cluster.start(3, false, {
    config: { appendonly: 'yes', appendfsync: 'always' },
  })
  const client = cluster.client({ newDeployment: true })
  const { token } = await client.getLock('it').using((lease) => lease)
  const lease = await client.getLock('held').lock(30_000)
  await cluster.heldEverywhere('held', lease.owner)
  await Promise.all(cluster.masters.map((master) => master.restart()))
  const other = cluster.client({ outageMs: 5_000 })
  expect(await other.getLock('held').tryLock()).toBeNull()
  const next = granted(await other.getLock('it').tryLock())
  expect(next.token).toBeGreaterThan(token)
  await next.release()
  // If the client is connecting again, the release is repeated and may reject.
  expect(await lease.release().catch(() => true)).toBe(true)
  await cluster.free('held')
})

test('a master that stores its writes once a second does not vote at once after a restart', async () => {
  const cluster = await Cluster.start(1, false, {
    config: { appendonly: 'yes', appendfsync: 'everysec' },
  })
  const master = cluster.masters[0] as RedisServer
  // If the master did not store its mark in time, it is empty after the restart and counts as new.
  await eventuallyPasses(async () => {
    await cluster
      .client({ newDeployment: true })
      .getLock('it')
      .using(() => {})
    await master.admin.call('WAITAOF', 1, 0, 0).catch(() => {})
    await master.restart()
    expect(await master.admin.exists(BIRTH)).toBe(1)
  })
  await expect(
    cluster.client({ newDeployment: true, outageMs: 400 }).getLock('it').lock(),
  ).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
})

test('masters that restart empty one after another never cost a held lock', async () => {
  const cluster = await Cluster.start(3)
  const client = cluster.client({ leaseMs: 3_000 })
  const lost: string[] = []
  client.on('lost', ({ error }) => lost.push(error.message))
  const leases = [
    await client.getLock('watched').lock(),
    await client.getLock('fixed').lock(60_000),
  ]
  const other = cluster.client({ outageMs: 3_000 })
  for (const master of [...cluster.masters, ...cluster.masters]) {
    await master.restart()
    for (const { name, owner } of leases) {
      await cluster.heldEverywhere(name, owner)
      expect(await other.getLock(name).tryLock()).toBeNull()
    }
  }
  expect(lost).toEqual([])
  for (const lease of leases) {
    expect(lease.valid).toBe(true)
    expect(await lease.release()).toBe(true)
    await cluster.free(lease.name)
  }
})

test('a master that returns with old data issues no token that was issued since', async () => {
  const cluster = await Cluster.start(3)
  const [old, gone, away] = cluster.masters as [RedisServer, RedisServer, RedisServer]
  const proxy = await startProxy(away.port)
  const options = { leaseMs: 1_500, longestLeaseMs: 1_500, outageMs: 10_000 }
  for (const master of cluster.masters) await letVote(master, options.longestLeaseMs)
  const client = cluster.client(options, [old.url, gone.url, proxy.url])
  const token = () => client.getLock('it').using((lease) => lease.token)
  const { counter } = lockKeys('it')
  for (const { admin } of cluster.masters) await admin.set(counter, 1_000, 'PX', 60_000)
  expect(await token()).toBe(1_001)
  await cluster.free('it')
  await old.admin.save()
  proxy.refuse()
  proxy.cut()
  for (let i = 0; i < 10; i++) await token()
  const last = await token()
  await old.restart()
  expect(Number(await old.admin.get(counter))).toBeLessThan(last)
  await proxy.heal()
  await gone.kill()
  expect(await token()).toBeGreaterThan(last)
})

test('a restarted master rests from the moment it is reached, not from the next request for a lock', async () => {
  const cluster = await Cluster.start(3)
  const client = cluster.client({ leaseMs: 3_000, longestLeaseMs: 30_000 })
  const lease = granted(await client.getLock('it').tryLock(5_000))
  const [first] = cluster.masters as [RedisServer]
  await first.restart()
  // The client requests no other lock. It only renews the held lock, and restores it at the restarted master.
  const mark = await eventually(() => first.admin.get(BIRTH), { timeoutMs: 10_000 })
  const [, runId] = /run_id:(\w+)/.exec(await first.admin.info('server')) ?? []
  const [sinceUs, bornAs] = String(mark).split(' ')
  expect(bornAs).toBe(runId)
  expect(Number(sinceUs) / 1_000).toBeGreaterThan(Date.now() + 15_000)
  expect(await lease.release()).toBe(true)
})
