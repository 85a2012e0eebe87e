import { Holdfast } from '../../src/index.ts'
import { startAddress } from '../support/address.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome, SHA } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import { startWatched } from '../support/redis-sentinel.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { isWait, keepUp, replicatedRig } from './durability-rig.ts'

describe('a replica that takes over', () => {
  const rig = replicatedRig()
  const HISTORY = { keys: true, why: 'a server that took over has what was granted before' }

  /**
   * Returns true if the replica has the lock when it takes over. The replica received nothing before the acquisition.
   */
  async function hasIt(acquire: () => Promise<unknown>, isUnderWay: () => unknown) {
    leaves(HISTORY)
    const [first] = rig.replicas
    first.pause()
    const acquired = acquire()
    await eventually(isUnderWay)
    first.resume()
    await acquired
    await first.admin.replicaof('NO', 'ONE')
    return (await first.admin.exists('it')) === 1
  }

  test('a replica that takes over has each confirmed lock, in 25 rounds', async () => {
    const client = rig.client({ replicas: 'all', timeoutMs: 5_000 })
    const { master, replicas } = rig
    for (let round = 1; round <= 25; round += 1) {
      const acquired = client.getLock('it').lock()
      const has = await hasIt(
        () => acquired,
        () => rig.proxy.count(isWait) === round,
      )
      expect(has).toBe(true)
      await (await acquired).release()
      await replicas[0].admin.replicaof(master.host, master.port)
      await keepUp(master, 2)
    }
  })

  test('without a confirmation, a replica that takes over can lack the lock: the control', async () => {
    leaves(HISTORY)
    const [first] = rig.replicas
    const cut = await startProxy(rig.master.port)
    await first.admin.replicaof(cut.host, cut.port)
    await keepUp(rig.master, 2)
    cut.refuse()
    cut.cut()
    const lease = granted(await rig.witness().getLock('it').tryLock())
    await first.admin.replicaof('NO', 'ONE')
    expect(lease.valid).toBe(true)
    expect(await first.admin.exists('it')).toBe(0)
    await lease.release()
  })

  test('an acquisition is refused if its master becomes a replica during the confirmation', async () => {
    leaves(HISTORY)
    const { master, replicas } = rig
    const [first] = replicas
    const client = rig.client({ replicas: 2, timeoutMs: 5_000 }, { outageMs: 1_500 })
    first.pause()
    const waiting = outcome(client.getLock('it').lock())
    await eventually(() => rig.proxy.count(isWait) === 1)
    await master.admin.replicaof(replicas[1]?.host ?? '', replicas[1]?.port ?? 0)
    expect((await waiting).error).toMatchObject({ code: 'HOLDFAST_REFUSED', lockName: 'it' })
  })
})

test('with Sentinel, a confirmed lock survives the immediate death of its master', async () => {
  leaves({ keys: true, why: 'a master that died has what it granted' })
  const watched = await startWatched()
  const newClient = () => {
    const client = new Holdfast({
      redis: watched.options,
      durability: { replicas: 'all', timeoutMs: scaledMs(5_000) },
      commandTimeoutMs: 1_000,
      outageMs: 20_000,
      leaseMs: 30_000,
    })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const [client, other] = [newClient(), newClient()]
  const diary = new Diary(client)
  const master = await watched.master()
  const lease = await client.getLock('it').lock()
  await master.kill()
  const next = await eventually(
    async () => {
      const named = await watched.master()
      return named !== master && named
    },
    { timeoutMs: 30_000 },
  )
  expect(await next.admin.hgetall('it')).toEqual({ [lease.owner]: '1' })
  expect(await other.getLock('it').tryLock()).toBeNull()
  expect(lease.valid).toBe(true)
  expect(await lease.release()).toBe(true)
  expect(diary.lost).toEqual([])
  // One replica is left, so "all" means this replica.
  const after = granted(await other.getLock('it').tryLock(20_000))
  expect(after.token).toBeGreaterThan(lease.token)
  await after.release()
})

describe('commands that go to the new master', () => {
  const rig = replicatedRig(2)

  test.each([
    { knows: true, isLate: false },
    { knows: true, isLate: true },
    { knows: false, isLate: false },
  ])('the client no longer waits for replicas of the old master: %p', async ({ knows, isLate }) => {
    leaves({ keys: true, why: 'the one that was left has what was granted before' })
    const { master, replicas } = rig
    const [next, other] = replicas as [RedisServer, RedisServer]
    const user = ['reset', 'on', 'nopass', '~*', '&*', '+@all', ...(knows ? [] : ['-info'])]
    for (const { admin } of [master, next]) await admin.call('ACL', 'SETUSER', 'app', ...user)
    const address = await startAddress(master)
    const proxy = await startProxy(address.port)
    const redis = { host: proxy.host, port: proxy.port, username: 'app', password: 'any' }
    const client = new Holdfast({
      redis,
      durability: { replicas: 1, timeoutMs: 2_000 },
      commandTimeoutMs: 1_000,
      outageMs: 3_000,
    })
    atEnd(() => client.close(), { beforeCheck: true })
    await granted(await client.getLock('warm').tryLock()).release()
    // Both servers stay masters, each with a replica, as on the two sides of a network split.
    await next.admin.replicaof('NO', 'ONE')
    const spare = await startRedis()
    await spare.admin.replicaof(next.host, next.port)
    await eventually(async () => (await next.admin.wait(1, 100)) === 1)
    const commands = proxy.requests.find(({ args }) => args[0] === SHA.acquire)?.connection
    const ofWait = proxy.requests.find(isWait)?.connection
    const greeting = isLate ? proxy.onNextRequest('INFO', 'hold') : undefined
    if (isLate) proxy.cut(({ index }) => index === ofWait)
    await greeting?.seen
    address.switchTo(next)
    proxy.cut(({ index }) => index === commands)
    const acquiring = client.getLock('it').tryLock(10_000)
    await eventually(async () => (await next.admin.exists('it')) === 1)
    greeting?.release()
    const lease = granted(await acquiring)
    expect(await other.admin.exists('it')).toBe(0)
    await lease.release()
  })
})
