import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions, type MultiLease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { channelOf, queueOf } from '../support/promised-keys.ts'
import { PATIENT, type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { sharedServer } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

/** Several locks in a cluster. Locks of one slot are acquired in one step. */
const server = sharedServer()
let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes, ...PATIENT, ...options })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  return client
}

function all(lease: MultiLease | null): MultiLease {
  if (lease === null) throw new Error('The locks were not granted')
  return lease
}

const exists = async (name: string) =>
  (await (await cluster.masterOf(name)).admin.exists(name)) === 1
const locked = async (names: readonly string[]) => {
  const found = await Promise.all(names.map(exists))
  return names.filter((_, i) => found[i])
}

/** Two names in one slot, and two names in other slots. */
const NAMES = ['{ada}:x', '{ada}:y', '{bob}:x', '{cid}:x']

const slotsOf = (keys: readonly string[]) => Promise.all(keys.map((key) => cluster.slotOf(key)))

/** Returns how often the cluster has run scripts. */
async function count(): Promise<number> {
  const stats = await Promise.all(
    cluster.masters.map(async ({ admin }) => {
      const info = await admin.info('commandstats')
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0)
    }),
  )
  return stats.reduce((sum, one) => sum + one, 0)
}

test('locks of one slot are acquired in one request, and all locks or none', async () => {
  const slots = new Set(await slotsOf(NAMES))
  expect(slots.size).toBe(3)
  // The client's report about itself is a script, too.
  const client = newClient({ presence: false })
  const lock = client.getMultiLock(...NAMES.map((name) => client.getLock(name)))
  await (await lock.lock()).release()
  const before = await count()
  const lease = await lock.lock()
  expect((await count()) - before).toBe(slots.size)
  expect(await locked(NAMES)).toEqual(NAMES)
  const [x, y] = lease.leases
  expect(x?.token).toBe(y?.token)
  const other = newClient()
  for (const name of NAMES) {
    const rest = NAMES.filter((one) => one !== name)
    expect(
      await other.getMultiLock(...[name, ...rest].map((one) => other.getLock(one))).tryLock(),
    ).toBeNull()
  }
  expect(await lease.release()).toBe(true)
  expect(await locked(NAMES)).toEqual([])
})

test('the locks of the other slots are released if one lock is busy', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  for (const busy of NAMES) {
    const held = await theirs.getLock(busy).lock()
    const lock = mine.getMultiLock(...NAMES.map((name) => mine.getLock(name)))
    expect(await lock.tryLock()).toBeNull()
    expect(await locked(NAMES)).toEqual([busy])
    await held.release()
    const lease = all(await lock.tryLock(2_000))
    await lease.release()
  }
})

test('clients that want the same locks in different orders do not deadlock', async () => {
  const inside = new Set<string>()
  const orders = [NAMES, [...NAMES].reverse(), ['{cid}:x', '{ada}:y', '{bob}:x', '{ada}:x']]
  const works = orders.map(async (order) => {
    const client = newClient()
    const lock = client.getMultiLock(...order.map((name) => client.getLock(name)))
    let last = 0
    for (let round = 0; round < 25; round++) {
      await lock.using(async ({ token }) => {
        expect(inside.size).toBe(0)
        for (const name of order) inside.add(name)
        await null
        inside.clear()
        expect(token).toBeGreaterThan(last)
        last = token
      })
    }
  })
  await Promise.all(works)
})

test('a multi-lock works before any connection, even together with another server', async () => {
  const [near, far] = [newClient(), new Holdfast({ redis: server.url })]
  atEnd(() => far.close(), { beforeCheck: true })
  const locks = [near.getLock('{ada}:x'), far.getLock('a'), near.getLock('{cid}:x')]
  const lease = all(await near.getMultiLock(...locks).tryLock())
  expect(await locked(NAMES)).toEqual(['{ada}:x', '{cid}:x'])
  expect(await server.admin.exists('a')).toBe(1)
  expect(await lease.release()).toBe(true)
})

test('a lock that is given through two clients of the cluster is acquired once', async () => {
  const [one, two] = [newClient(), newClient()]
  const lease = all(
    await one.getMultiLock(one.getLock('{ada}:x'), two.getLock('{ada}:x')).tryLock(),
  )
  expect(lease.leases).toHaveLength(1)
  await lease.release()
})

test('a multi-lock holds locks of other slots while it waits for one slot, and is woken', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const slots = await slotsOf(NAMES)
  const last = NAMES[slots.lastIndexOf(Math.max(...slots))] as string
  const others = NAMES.filter((name) => name !== last)
  const busy = await theirs.getLock(last).lock()
  const locking = mine.getMultiLock(...NAMES.map((name) => mine.getLock(name))).lock(20_000)
  await eventually(async () => (await locked(others)).length > 0)
  await busy.release()
  const lease = await locking
  expect(await locked(NAMES)).toEqual(NAMES)
  expect(lease.remaining()).toBeGreaterThan(15_000)
  await lease.release()
})

test('a multi-lock works after a node forgets its scripts', async () => {
  const client = newClient()
  const lock = client.getMultiLock(...NAMES.map((name) => client.getLock(name)))
  for (let round = 0; round < 2; round++) {
    for (const { admin } of cluster.masters) await admin.script('FLUSH')
    await (await lock.lock()).release()
  }
  expect(scripts.acquireAll.keys).toEqual(['both'])
})

test.each(['a{b}c', '{a}b}c', 'a}b{c}', '{a}{b}', '{a{b}', 'é☃{ñ}'])(
  'the keys of a name with braces are in one slot: %s',
  async (name) => {
    const [mine, theirs] = [newClient(), newClient()]
    const kinds = [
      ['getLock', channelOf(name)],
      ['getFairLock', queueOf(name)],
    ] as const
    for (const [kind, waits] of kinds) {
      const lease = await mine[kind](name).lock()
      const waiting = theirs[kind](name).lock()
      await eventually(async () => (await cluster.namesOf(name)).includes(waits))
      const slots = await slotsOf(await cluster.namesOf(name))
      expect(new Set(slots)).toEqual(new Set([await cluster.slotOf(name)]))
      await lease.release()
      expect(await (await waiting).release()).toBe(true)
    }
  },
)

test.each(['a}b', '}', '}a', 'a}', '{}', 'a{}b{c}', '}{', 'a{b'])(
  'a name whose keys would be in several slots is refused before anything is sent: %s',
  async (name) => {
    const client = newClient()
    for (const get of [() => client.getLock(name), () => client.getFairLock(name)]) {
      expect(get).toThrow(
        expect.objectContaining({ code: 'HOLDFAST_INVALID_ARGUMENT', lockName: name }),
      )
    }
    expect(() => client.getLock('a}b')).toThrow(/"a}b" has "}" without "{".*cluster.*\{tag}/)
    const prefixed = newClient({ keyPrefix: 'app}' })
    expect(() => prefixed.getLock('it')).toThrow(/"app}it" has "}" without "{"/)
  },
)

test('a name with a closing brace is accepted on one server', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  for (const name of ['a}b', '}']) {
    const lease = await client.getLock(name).lock()
    expect(await lease.release()).toBe(true)
  }
})
