import { BIRTH } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from '../support/eventually.ts'
import { granted } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { letVote } from '../support/masters.ts'
import { type FaultProxy, type ProxyRequest, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { claim, found } from '../support/scripts.ts'

type Three<T> = [T, T, T]

const keyless = { keys: true, why: 'a lease of a master that forgot is part of the test' }

async function start() {
  const cluster = await Cluster.start(3, false)
  const masters = cluster.masters as Three<RedisServer>
  const proxies = (await Promise.all(
    masters.map(({ port }) => startProxy(port)),
  )) as Three<FaultProxy>
  return { cluster, masters, proxies, urls: proxies.map(({ url }) => url) }
}

/** True for a script that writes the mark of a master and is not a vote: the mark is its only key. */
const marks = ({ command, args }: ProxyRequest) =>
  /^eval/i.test(command) && String(args[2]) === BIRTH

const isOf =
  (script: { sha1: string; source: string }) =>
  ({ args }: ProxyRequest) =>
    args[0] === script.sha1 || args[0] === script.source
const [claims, founds] = [isOf(claim), isOf(found)]

/** The mark of a master that a client has claimed for a new deployment, and that does not vote yet. */
const CLAIM = /^\d+ [0-9a-f]+\/[\w-]+\.\d+ /

const sinceMs = async ({ admin }: RedisServer) =>
  Number((await admin.get(BIRTH))?.split(' ')[0] ?? Infinity) / 1_000

/** True if the master votes now: its mark has a time that has passed. */
const votes = async (master: RedisServer) => (await sinceMs(master)) <= Date.now()

/** Returns a lease on the masters of these proxies. Its client can no longer reach these masters. */
async function cutOffHolder(cluster: Cluster, masters: readonly RedisServer[]) {
  const proxies = await Promise.all(masters.map(({ port }) => startProxy(port)))
  const urls = proxies.map(({ url }) => url)
  const lease = await cluster.client({ leaseMs: 30_000 }, urls).getLock('it').lock(30_000)
  await cluster.heldEverywhere('it', lease.owner)
  for (const proxy of proxies) {
    proxy.refuse()
    proxy.cut()
  }
  return lease
}

/** Times so long that the test can act between two steps of a client. */
const PATIENT = {
  newDeployment: true,
  leaseMs: 30_000,
  commandTimeoutMs: 3_000,
  outageMs: 5_000,
}

test('a client that knows a deployment founds no other deployment after all masters were emptied', async () => {
  const { cluster, masters } = await start()
  const client = cluster.client({ newDeployment: true, outageMs: 1_500 })
  await client.getLock('first').using(() => {})
  const lease = await cutOffHolder(cluster, masters)
  await Promise.all(masters.map((master) => master.flush()))
  await expect(client.getLock('it').lock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  expect(lease.valid).toBe(true)
  // From now on each master rests, and a new client finds this.
  const fresh = cluster.client({ newDeployment: true, outageMs: 400 })
  expect(
    await fresh
      .getLock('it')
      .tryLock(1_000)
      .catch(() => null),
  ).toBeNull()
  leaves(keyless)
})

test('a client that pauses during the founding lets no master vote that was emptied meanwhile', async () => {
  const { cluster, masters, proxies, urls } = await start()
  const traps = proxies.map((proxy) => proxy.onNextRequest(marks, 'hold'))
  const late = cluster.client({ ...PATIENT, outageMs: 1_500 }, urls).getLock('it')
  const asked = late.tryLock().catch(() => null)
  await Promise.race(traps.map(({ seen }) => seen))
  const other = cluster.client({ newDeployment: true })
  await other.getLock('first').using(() => {})
  const lease = await cutOffHolder(cluster, masters)
  const [first, second] = masters
  await first.admin.del('it')
  await second.flush()
  for (const trap of traps) trap.release()
  expect(await asked).toBeNull()
  expect(await votes(second)).toBe(false)
  expect(lease.valid).toBe(true)
  leaves(keyless)
})

test('a founding request that arrives again lets no emptied master vote', async () => {
  const { cluster, masters, proxies, urls } = await start()
  const client = cluster.client({ newDeployment: true }, urls)
  await client.getLock('it').using(() => {})
  await cluster.free('it')
  for (const master of masters) expect(await votes(master)).toBe(true)
  for (const [i, master] of masters.entries()) {
    const proxy = proxies[i] as FaultProxy
    const sent = proxy.requests.filter(marks)
    expect(sent.length).toBeGreaterThan(1)
    for (const request of sent) {
      await master.flush()
      await proxy.replay(request)
      expect(await votes(master)).toBe(false)
    }
    await master.flush()
    for (const request of sent) await proxy.replay(request)
    expect(await votes(master)).toBe(false)
    await letVote(master)
  }
})

test('a master that is emptied after its claim rests, and the other masters vote', async () => {
  const { cluster, masters, proxies, urls } = await start()
  const traps = proxies.map((proxy) => proxy.onNextRequest(founds, 'hold'))
  const asked = cluster
    .client(PATIENT, urls)
    .getLock('it')
    .tryLock()
    .catch(() => null)
  await Promise.race(traps.map(({ seen }) => seen))
  // A master is asked to vote only after all masters were claimed.
  for (const { admin } of masters) expect(await admin.get(BIRTH)).toMatch(CLAIM)
  const first = proxies.findIndex((proxy) => proxy.count(founds) > 0)
  const emptied = masters[(first + 1) % 3] as RedisServer
  await emptied.flush()
  for (const trap of traps) trap.release()
  const lease = await asked
  expect(await votes(emptied)).toBe(false)
  // The two masters that kept their claims vote, because they have lost no data.
  await granted(lease).release()
  await cluster.free('it')
})

test('no deployment is founded when a master is made to rest before its claim', async () => {
  const { cluster, masters, proxies, urls } = await start()
  const traps = proxies.map((proxy) => proxy.onNextRequest(claims, 'hold'))
  const client = cluster.client({ ...PATIENT, outageMs: 1_500 }, urls)
  const asked = client
    .getLock('it')
    .tryLock()
    .catch(() => null)
  const first = await Promise.race(traps.map(({ seen }, i) => seen.then(() => i)))
  traps[first]?.release()
  const last = (first + 1) % 3
  await traps[last]?.seen
  const rested = masters[last] as RedisServer
  const enough = new AbortController()
  const resting = cluster
    .client({}, [rested.url])
    .getLock('other')
    .lock({ signal: enough.signal })
    .catch(() => null)
  await eventually(() => rested.admin.get(BIRTH))
  enough.abort()
  await resting
  expect(await rested.admin.get(BIRTH)).not.toMatch(CLAIM)
  for (const trap of traps) trap.release()
  expect(await asked).toBeNull()
  for (const master of masters) expect(await votes(master)).toBe(false)
})

test('a deployment that a client claimed and did not found is founded by another client at once', async () => {
  const { cluster, masters, proxies, urls } = await start()
  const traps = proxies.map((proxy) => proxy.onNextRequest(founds, 'cutBefore'))
  const first = cluster.client({ ...PATIENT, commandTimeoutMs: 1_000, outageMs: 1_500 }, urls)
  const gone = first
    .getLock('it')
    .tryLock()
    .catch(() => null)
  await Promise.race(traps.map(({ seen }) => seen))
  for (const proxy of proxies) proxy.refuse()
  for (const proxy of proxies) proxy.cut()
  await gone
  for (const { admin } of masters) expect(await admin.get(BIRTH)).toMatch(CLAIM)
  const lease = granted(await cluster.client(PATIENT).getLock('it').tryLock())
  await cluster.heldEverywhere('it', lease.owner)
  for (const master of masters) expect(await votes(master)).toBe(true)
  await lease.release()
  await cluster.free('it')
})

test.each(['cutAfter', 'duplicate'] as const)(
  'a deployment is founded although one request of each script meets the fault %s',
  async (fault) => {
    const { cluster, masters, proxies, urls } = await start()
    for (const proxy of proxies) {
      for (const script of [claims, founds]) proxy.onNextRequest(script, fault)
    }
    const lease = await cluster.client({ newDeployment: true }, urls).getLock('it').lock()
    for (const master of masters) {
      await eventually(() => votes(master), { message: 'each master to vote' })
    }
    await lease.release()
    await cluster.free('it')
  },
)

test.each([
  ['cannot be reached', (_: RedisServer, proxy: FaultProxy) => proxy.refuse()],
  ['has a mark', (master: RedisServer) => letVote(master)],
  [
    'has a mark of a newer version',
    (master: RedisServer) => master.admin.set(BIRTH, 'v2 anything').then(() => {}),
  ],
  ['is full', (master: RedisServer) => master.admin.config('SET', 'maxmemory', 1).then(() => {})],
])('no deployment is founded while one of the masters %s', async (_, befall) => {
  const { cluster, masters, proxies, urls } = await start()
  const [odd, ...others] = masters
  await befall(odd, proxies[0])
  const client = cluster.client({ newDeployment: true, outageMs: 400 }, urls)
  await expect(client.getLock('it').lock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  for (const master of others) expect(await votes(master)).toBe(false)
  await odd.admin.config('SET', 'maxmemory', 0)
  leaves(keyless)
})

test('clients that found at once, in any order of the masters, agree on one deployment', async () => {
  const { cluster, masters } = await start()
  const [a, b, c] = masters.map(({ url }) => url) as Three<string>
  const orders = [
    [a, b, c],
    [b, c, a],
    [c, a, b],
    [c, b, a],
  ]
  const tokens = await Promise.all(
    orders.map((urls) =>
      cluster
        .client({ newDeployment: true }, urls)
        .getLock('it')
        .using(({ token }) => token),
    ),
  )
  expect(new Set(tokens).size).toBe(4)
  const origins = await Promise.all(
    masters.map(async ({ admin }) => (await admin.get(BIRTH))?.split(' ')[1]?.split('/').slice(1)),
  )
  expect(origins[0]).toEqual([expect.stringMatching(/\.\d+$/), expect.any(String)])
  expect(origins[1]).toEqual(origins[0])
  expect(origins[2]).toEqual(origins[0])
  await cluster.free('it')
})
