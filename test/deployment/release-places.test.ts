import { Holdfast } from '../../src/index.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startMasters } from '../support/masters.ts'
import { startCluster } from '../support/redis-cluster.ts'

const ending = { beforeCheck: true }

function open(given: Parameters<typeof readWhere>[0], urls: readonly string[]) {
  const inspection = openInspection(readWhere(given, urls, {}), { timeoutMs: 2_000 })
  atEnd(() => inspection.close(), ending)
  return inspection
}

async function ofMasters() {
  const masters = await startMasters(3)
  const urls = masters.map(({ port }) => `127.0.0.1:${port}`)
  const newClient = () => {
    const client = new Holdfast({
      masters: urls.map((url) => `redis://${url}`),
      newDeployment: true,
      leaseMs: 3_000,
    })
    atEnd(() => client.close(), ending)
    return client
  }
  const holderAt = (i: number) => masters[i]?.admin.hkeys('a')
  const seen = async () => {
    const row = await open({}, urls).inspect('a')
    return { owner: row?.holders[0]?.owner ?? '', token: row?.token ?? null }
  }
  return { masters, urls, newClient, holderAt, seen }
}

const counter = 'redisson_lock_token:{a}'

test('a release at several masters marks all masters, and the next holder has a token above the fence', async () => {
  const { masters, urls, newClient, holderAt, seen } = await ofMasters()
  const stuck = await newClient().getLock('a').lock()
  await eventually(async () => (await holderAt(2))?.length === 1)
  const next = newClient().getLock('a').lock()
  const { outcome, fence } = await open({}, urls).forceRelease('a', await seen())
  expect(outcome).toBe('released')
  expect(fence).toBeGreaterThanOrEqual(stuck.token)
  const lease = await next
  expect(lease.token).toBeGreaterThan(fence ?? Infinity)
  for (const { admin } of masters) {
    expect(await admin.hkeys('holdfast_forced:{a}')).toContain(stuck.owner)
    expect(await admin.pttl('holdfast_forced:{a}')).toBeGreaterThan(50_000)
  }
  await eventually(() => stuck.signal.aborted)
  await stuck.release().catch(() => {})
  expect(await seen()).toMatchObject({ owner: lease.owner })
})

test('a release raises the counter of each master, even of a master without the lock', async () => {
  const { masters, urls, newClient, holderAt, seen } = await ofMasters()
  const stuck = await newClient().getLock('a').lock()
  await eventually(async () => (await holderAt(2))?.length === 1)
  const before = await seen()
  await masters[1]?.admin.set(counter, 5, 'PX', 60_000)
  await masters[2]?.admin.multi().set(counter, 5, 'PX', 60_000).del('a').exec()
  const { fence } = await open({}, urls).forceRelease('a', before)
  expect(fence).toBeGreaterThanOrEqual(stuck.token)
  for (const { admin } of masters) {
    expect(Number(await admin.get(counter))).toBeGreaterThanOrEqual(fence ?? Infinity)
  }
  await eventually(() => stuck.signal.aborted)
})

test('a release needs two of three masters, and the old holder does not regain the lock', async () => {
  const { masters, urls, newClient, holderAt, seen } = await ofMasters()
  const stuck = await newClient().getLock('a').lock()
  await eventually(async () => (await holderAt(2))?.length === 1)
  const before = await seen()
  await masters[2]?.kill()
  const { outcome, fence } = await open({}, urls).forceRelease('a', before)
  expect(outcome).toBe('released')
  expect(fence).toBeGreaterThanOrEqual(stuck.token)
  await eventually(() => stuck.signal.aborted)
  expect([await holderAt(0), await holderAt(1)]).toEqual([[], []])
  const inspection = open({}, urls)
  await inspection.read(['a'])
  await masters[1]?.kill()
  await expect(inspection.forceRelease('a', before)).rejects.toThrow(
    /^"a" may not have been released\. A majority of 3 masters must confirm the release; 1 did\. Check the lock again\. 127/,
  )
})

test('a holder that acquired a majority before the release keeps the lock', async () => {
  const { masters, urls, newClient, seen } = await ofMasters()
  const stuck = await newClient().getLock('a').lock()
  const before = await seen()
  await stuck.release()
  await eventually(async () => {
    const left = await Promise.all(masters.map(({ admin }) => admin.exists('a')))
    return left.every((one) => one === 0)
  })
  const inspection = open({}, urls)
  expect(await inspection.forceRelease('a', before)).toMatchObject({ outcome: 'free' })
  const next = await newClient().getLock('a').lock()
  await eventually(async () => (await masters[2]?.admin.exists('a')) === 1)
  expect(await inspection.forceRelease('a', before)).toEqual({ outcome: 'changed', fence: null })
  expect(await seen()).toMatchObject({ owner: next.owner })
  await next.release()
})

test('in a cluster, the release goes to the node of the lock and wakes its waiter', async () => {
  const cluster = await startCluster({ masters: 3, replicas: 0 })
  const nodes = cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
  const newClient = () => {
    const client = new Holdfast({ redis: { cluster: nodes }, leaseMs: 3_000 })
    atEnd(() => client.close(), ending)
    return client
  }
  const inspection = open({ cluster: true }, [`127.0.0.1:${nodes[0]?.port}`])
  for (const name of ['a', 'b', 'c', 'd']) {
    const stuck = await newClient().getLock(name).lock()
    const next = newClient().getLock(name).lock()
    await eventually(async () => (await inspection.read([name]))[0]?.waiting === 1)
    const { owner, token } = stuck
    expect(await inspection.forceRelease(name, { owner, token })).toEqual({
      outcome: 'released',
      fence: token,
    })
    expect((await within(4_000, next)).token).toBeGreaterThan(token)
    await eventually(() => stuck.signal.aborted)
  }
})
