import { Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions, type MultiLease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { counterOf } from '../support/promised-keys.ts'
import { startProxy } from '../support/proxy.ts'
import { LONG_CALLS, Cluster as Masters } from '../support/quorum-rig.ts'
import { type RedisServer, sharedServer, startRedis } from '../support/redis-server.ts'

/** Tests with several servers: which locks are the same, and in which order they are acquired. */
const server = sharedServer()

function newClient(
  redis: HoldfastOptions['redis'],
  options: Omit<HoldfastOptions, 'redis'> = {},
): Holdfast {
  const client = new Holdfast({ redis, ...options } as HoldfastOptions)
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

function all(lease: MultiLease | null): MultiLease {
  if (lease === null) throw new Error('The locks were not granted')
  return lease
}

test('locks with one name in two databases of a server are two locks', async () => {
  const [one, two] = [newClient(server.url), newClient(`${server.url}/1`)]
  const lock = one.getMultiLock(one.getLock('a'), two.getLock('a'))
  const lease = all(await lock.tryLock())
  expect(lease.leases).toHaveLength(2)
  expect(await newClient(`${server.url}/1`).getLock('a').tryLock()).toBeNull()
  expect(await newClient(server.url).getLock('a').tryLock()).toBeNull()
  expect(await lease.release()).toBe(true)
  await server.admin.select(1)
  await server.admin.del(counterOf('a'))
  await server.admin.select(0)
})

describe('a user without the right to ask which server it is', () => {
  async function restricted(on: RedisServer): Promise<Holdfast> {
    await on.admin.call('ACL', 'SETUSER', 'locks', 'on', '>pw', '~*', '&*', '+@all', '-info')
    const { host, port } = on
    return newClient({ host, port, username: 'locks', password: 'pw' })
  }

  test('locks with one name on two servers are two locks', async () => {
    const other = await startRedis()
    const [one, two] = [await restricted(server), await restricted(other)]
    const lease = all(await one.getMultiLock(one.getLock('a'), two.getLock('a')).tryLock())
    expect(lease.leases).toHaveLength(2)
    expect([await server.admin.exists('a'), await other.admin.exists('a')]).toEqual([1, 1])
    expect(await lease.release()).toBe(true)
  })

  test('a lock that is given through two clients of one server is acquired once', async () => {
    const [one, two] = [await restricted(server), await restricted(server)]
    const locks = [one.getLock('b'), two.getLock('a'), one.getLock('a')]
    const lease = all(await one.getMultiLock(...locks).tryLock())
    expect(lease.leases.map(({ name }) => name).sort()).toEqual(['a', 'b'])
    expect(await server.admin.hvals('a')).toEqual(['1'])
    expect(await lease.release()).toBe(true)
    expect(await server.admin.exists('a', 'b')).toBe(0)
  })

  test('a read lock through one client never counts as the write lock through another client', async () => {
    const [one, two] = [await restricted(server), await restricted(server)]
    const read = one.getReadWriteLock('a').readLock()
    const write = two.getReadWriteLock('a').writeLock()
    expect(await one.getMultiLock(read, write).tryLock()).toBeNull()
    expect(await server.admin.exists('a')).toBe(0)
  })
})

test('a client does not wait for itself although a server could not be asked at first', async () => {
  const proxy = await startProxy(server.port)
  const one = newClient(server.url)
  const two = newClient(proxy.url, { commandTimeoutMs: 150 })
  proxy.refuse()
  const lock = one.getMultiLock(one.getLock('a'), two.getLock('a'))
  const locking = lock.lock()
  await eventually(async () => (await server.admin.exists('a')) === 1)
  await proxy.heal()
  const lease = await locking
  expect(lease.leases).toHaveLength(1)
  expect(await lease.release()).toBe(true)
})

test('a lock of the same name on another server is still waited for', async () => {
  const other = await startRedis()
  await other.admin.call('ACL', 'SETUSER', 'default', '-info')
  const [one, two] = [newClient(server.url), newClient(other.url)]
  const busy = await newClient(other.url).getLock('a').lock()
  const lock = one.getMultiLock(one.getLock('a'), two.getLock('a'))
  expect(await lock.tryLock()).toBeNull()
  expect(await lock.tryLock(1_000)).toBeNull()
  await busy.release()
  const lease = all(await lock.tryLock(2_000))
  expect(lease.leases).toHaveLength(2)
  await lease.release()
})

describe('masters', () => {
  test('locks of masters go together with a plain lock and a fair lock of one server', async () => {
    const masters = await Masters.start(3)
    const [many, one] = [masters.client(), newClient(server.url)]
    const lock = one.getMultiLock(many.getLock('q'), one.getLock('p'), one.getFairLock('f'))
    const lease = all(await lock.tryLock())
    expect(lease.leases.map(({ name }) => name)).toEqual(['q', 'p', 'f'])
    await masters.heldEverywhere('q', lease.leases[0]?.owner as string)
    expect(await server.admin.exists('p', 'f')).toBe(2)
    expect(lease.valid).toBe(true)
    expect(await lease.release()).toBe(true)
    await masters.free('q')
    expect(await server.admin.exists('p', 'f')).toBe(0)
  })

  test('several locks of masters are all acquired or none, in any order', async () => {
    const masters = await Masters.start(3)
    const clients = [masters.client(), masters.client()]
    const inside = new Set<string>()
    const works = clients.map(async (client, i) => {
      const names = i === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a']
      const lock = client.getMultiLock(...names.map((name) => client.getLock(name)))
      for (let round = 0; round < 10; round++) {
        await lock.using(() => {
          for (const name of names) {
            expect(inside.has(name)).toBe(false)
            inside.add(name)
          }
          inside.clear()
        })
      }
    })
    await Promise.all(works)
    const busy = await (clients[0] as Holdfast).getLock('b').lock()
    const other = clients[1] as Holdfast
    const lock = other.getMultiLock(other.getLock('a'), other.getLock('b'), other.getLock('c'))
    expect(await lock.tryLock()).toBeNull()
    await busy.release()
    for (const name of ['a', 'b', 'c']) await masters.free(name)
  })

  test('a lock that is given through two clients of the same masters is acquired once', async () => {
    const masters = await Masters.start(3)
    const [one, two] = [masters.client(), masters.client()]
    for (let round = 0; round < 2; round++) {
      const lease = all(await one.getMultiLock(one.getLock('a'), two.getLock('a')).tryLock(5_000))
      expect(lease.leases).toHaveLength(1)
      await lease.release()
      await masters.free('a')
      // The result is the same if one master cannot be identified.
      await masters.masters[0]?.kill()
    }
  })

  test('a master that is down does not delay a multi-lock', async () => {
    const masters = await Masters.start(3)
    await masters.masters[0]?.kill()
    const [many, one] = [masters.client(LONG_CALLS), newClient(server.url)]
    const lock = one.getMultiLock(many.getLock('q'), one.getLock('p'))
    await lock.using(() => {})
    // If a call waited for the master, it would take longer than the limit of all rounds.
    const rounds = async () => {
      for (let round = 0; round < 5; round++) await lock.using(() => {})
    }
    await within(10_000, rounds())
  })
})

test('a multi-lock accepts a `keyPrefix`, which is part of the name', async () => {
  const [one, two] = [newClient(server.url, { keyPrefix: 'app:' }), newClient(server.url)]
  const lock = one.getMultiLock(one.getLock('a'), one.getLock('b'), two.getLock('app:a'))
  const lease = all(await lock.tryLock())
  expect(lease.leases.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(await server.admin.exists('app:a', 'app:b')).toBe(2)
  await lease.release()
  const own = new Redis(server.url, { keyPrefix: 'own:' })
  atEnd(() => own.disconnect(), { beforeCheck: true })
  const third = newClient(own)
  await third.getMultiLock(third.getLock('a'), third.getLock('b')).using(async () => {
    expect(await server.admin.exists('own:a', 'own:b')).toBe(2)
  })
})
