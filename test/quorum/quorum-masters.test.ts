import { Holdfast } from '../../src/index.ts'
import { BIRTH } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { Cluster } from '../support/quorum-rig.ts'

/** With these options, a master that answers late still answers in time. */
const PATIENT = { leaseMs: 50_000, commandTimeoutMs: 5_000 }

/** Returns the state of each master. */
const states = async (client: Holdfast) => (await client.masters()).map(({ state }) => state)

test('`masters()` reports the masters that vote, even before any other request', async () => {
  const cluster = await Cluster.start(3)
  const addresses = cluster.masters.map(({ port }) => `127.0.0.1:${port}`)
  const votes = { state: 'votes', restsForMs: 0, missingLeases: 0, reason: null }
  expect(await cluster.client(PATIENT).masters()).toEqual(
    addresses.map((address) => ({ address, ...votes })),
  )
})

test('`masters()` reports a master that rests, and for how long', async () => {
  const cluster = await Cluster.start(3)
  const client = cluster.client({ ...PATIENT, longestLeaseMs: 60_000 })
  await client.masters()
  const [first] = cluster.masters
  await first?.restart()
  // A client that was connected makes the master rest as soon as it is connected again.
  await eventually(async () => (await states(client))[0] === 'rests')
  const [rests, ...others] = await client.masters()
  expect(rests?.restsForMs).toBeGreaterThan(30_000)
  expect(rests?.restsForMs).toBeLessThanOrEqual(60_000)
  expect(others.map(({ state }) => state)).toEqual(['votes', 'votes'])
})

test('`masters()` reports masters that were never asked for a lock as unmarked', async () => {
  const cluster = await Cluster.start(3, false)
  const client = cluster.client({ ...PATIENT, outageMs: 400 })
  const all = await client.masters()
  expect(all).toMatchObject(Array(3).fill({ state: 'unmarked', restsForMs: 60_000 }))
  await eventually(async () => {
    await client
      .getLock('it')
      .tryLock(300)
      .catch(() => null)
    return (await states(client)).every((state) => state === 'rests')
  })
})

test('`masters()` reports a master that lacks a lease of this client, until the lease is restored', async () => {
  const cluster = await Cluster.start(3)
  const client = cluster.client(PATIENT)
  const lease = await client.getLock('it').lock()
  await cluster.heldEverywhere('it', lease.owner)
  await cluster.masters[1]?.admin.del('it')
  expect(await client.masters()).toMatchObject([
    { state: 'votes', missingLeases: 0 },
    { state: 'behind', missingLeases: 1 },
    { state: 'votes', missingLeases: 0 },
  ])
  await lease.extend(55_000)
  await eventually(async () => (await states(client))[1] === 'votes')
  await lease.release()
})

test('`masters()` reports masters that are unreachable, hang or refuse, and does not reject', async () => {
  const cluster = await Cluster.start(3)
  const client = cluster.client()
  await client.masters()
  const [gone, hung, refusing] = cluster.masters
  await gone?.kill()
  await hung?.pause()
  await refusing?.admin.config('SET', 'requirepass', 'secret')
  await refusing?.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await eventually(async () => (await states(client)).join() === 'unreachable,unreachable,refuses')
  const all = await client.masters()
  expect(all.map(({ restsForMs }) => restsForMs)).toEqual([Infinity, Infinity, Infinity])
  expect(all[2]?.reason).toMatch(/^NOAUTH|^WRONGPASS/)
  expect(JSON.stringify(all)).not.toContain('secret')
  await refusing?.admin.config('SET', 'requirepass', '')
  leaves({ keys: true, why: 'masters that were stopped' })
})

test('`masters()` reports the address of a master without its password', async () => {
  const cluster = await Cluster.start(1)
  const { port } = cluster.masters[0] as { port: number }
  const client = cluster.client({}, [`redis://user:secret@127.0.0.1:${port}`])
  const text = JSON.stringify(await client.masters())
  expect(text).toContain(`127.0.0.1:${port}`)
  expect(text).not.toContain('secret')
})

test('`masters()` is refused for one server, and after the client is closed', async () => {
  const cluster = await Cluster.start(1)
  const one = new Holdfast({ redis: cluster.masters[0]?.url as string })
  atEnd(() => one.close(), { beforeCheck: true })
  await expect(one.masters()).rejects.toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
  const client = cluster.client()
  await client.close()
  await expect(client.masters()).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
})

test('`masters()` does not accept the mark of another process', async () => {
  const cluster = await Cluster.start(1)
  const client = cluster.client(PATIENT)
  const { admin } = cluster.masters[0] as (typeof cluster.masters)[0]
  await admin.set(BIRTH, `0 ${'1'.repeat(40)} 0 ${'2'.repeat(40)} 90000`)
  expect(await client.masters()).toMatchObject([{ state: 'unmarked', restsForMs: 90_000 }])
})
