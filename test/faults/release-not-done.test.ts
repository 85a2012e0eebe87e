import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'

/** If the requests of a client released nothing, a later answer "gone" does not count as a release by this client. */
const rig = faultRig()

// A late answer would make the outcome of the release unknown.
const newClient = () => rig.client({ commandTimeoutMs: 1_000, outageMs: 20_000, leaseMs: 60_000 })

const LOST = { code: 'HOLDFAST_LEASE_LOST', reason: 'gone' }

/** Cuts all connections and refuses new connections. Waits until the client has reported each cut. */
async function cutOff(client: Holdfast) {
  const reported = jest.fn()
  client.on('error', reported)
  const { length } = rig.proxy.openConnections
  rig.proxy.refuse()
  rig.proxy.cut()
  await eventually(() => reported.mock.calls.length >= length)
  client.off('error', reported)
}

/** Deletes the lock, like an operator or an eviction. Then another client acquires the lock. */
async function takeAway(name: string) {
  await rig.server.admin.del(name)
  return granted(await rig.witness().getLock(name).tryLock())
}

describe.each([
  ['a plain lock', 'getLock'],
  ['a fair lock', 'getFairLock'],
] as const)('a release of %s', (_, kind) => {
  test('reports the loss of the lock when the first request was never sent', async () => {
    const client = newClient()
    const working = outcome(
      client[kind]('it').using(async () => {
        const theirs = await takeAway('it')
        await cutOff(client)
        setTimeout(() => rig.proxy.heal(), 1_500)
        return theirs
      }),
    )
    expect((await within(10_000, working)).error).toMatchObject(LOST)
  })

  test('reports the loss of the lock when the first request was refused', async () => {
    const client = newClient()
    const lease = granted(await client[kind]('it').tryLock())
    await rig.server.admin.replicaof('127.0.0.1', '1')
    const sha = kind === 'getLock' ? SHA.release : SHA.releaseFair
    const releasing = lease.release()
    await eventually(() => rig.proxy.count(sha) >= 2)
    // From now on, all requests wait until another client holds the lock.
    const hole = rig.proxy.blackHole({ direction: 'toServer' })
    // The server still refuses requests that passed before. It reads all connections in each turn of its loop.
    await pause(50)
    for (let turn = 0; turn < 3; turn += 1) await rig.server.admin.ping()
    await rig.server.admin.replicaof('NO', 'ONE')
    await takeAway('it')
    hole.heal()
    expect(await within(10_000, releasing)).toBe(false)
    expect(lease.signal.reason).toMatchObject(LOST)
  })

  test('returns true when the answer to the first request was lost', async () => {
    const client = newClient()
    const lease = granted(await client[kind]('it').tryLock())
    rig.proxy.onNextRequest(kind === 'getLock' ? SHA.release : SHA.releaseFair, 'cutAfter')
    expect(await within(10_000, lease.release())).toBe(true)
  })
})

test('a hand-off that was never sent returns false after another client acquired the lock', async () => {
  const client = newClient()
  const lock = client.getLock('it')
  const lease = await lock.lock()
  const aborting = new AbortController()
  const waiting = outcome(lock.lock({ signal: aborting.signal, leaseMs: 5_000 }))
  await pause(50)
  await takeAway('it')
  await cutOff(client)
  const releasing = lease.release()
  await pause(1_500)
  aborting.abort()
  await rig.proxy.heal()
  expect(await within(10_000, releasing)).toBe(false)
  await waiting
})

describe('a majority of masters that cannot be reached', () => {
  test.each([
    ['a release', 'refuse'],
    ['a hand-off', 'refuse'],
    ['a release', 'do not answer'],
    ['a hand-off', 'do not answer'],
  ])(
    '%s returns false when it released nothing: the masters %s new connections',
    async (what, how) => {
      const cluster = await Cluster.start(3)
      const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
      const client = cluster.client(
        // This master must answer in time. Without an answer, the master may have released the lock, and the result
        // would be true.
        { commandTimeoutMs: 1_000, outageMs: 10_000 },
        proxies.map(({ url }) => url),
      )
      const lock = client.getLock('it')
      const lease = await lock.lock()
      await cluster.heldEverywhere('it', lease.owner)
      const aborting = new AbortController()
      const waiting = what === 'a release' ? null : outcome(lock.lock({ signal: aborting.signal }))
      await pause(100)
      // One master answers that it no longer has the lock, and two masters cannot be reached. All three have lost the
      // lock.
      await Promise.all(cluster.masters.map(({ admin }) => admin.del('it')))
      const reported = jest.fn()
      client.on('error', reported)
      for (const proxy of proxies.slice(1)) {
        if (how === 'refuse') proxy.refuse()
        else proxy.blackHole({ onHeal: 'drop' })
        proxy.cut()
      }
      // Each of the two connections has ended, and its next attempt has failed.
      await eventually(() => reported.mock.calls.length >= 2)
      const releasing = lease.release()
      await pause(1_500)
      aborting.abort()
      for (const proxy of proxies) await proxy.heal()
      expect(await within(10_000, releasing)).toBe(false)
      await waiting
    },
  )
})
