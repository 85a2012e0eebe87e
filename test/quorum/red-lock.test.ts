import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { ClosedError, Holdfast, type HoldfastLock, type HoldfastOptions } from '../../src/index.ts'
import { BIRTH, lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, granted, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import { letVote } from '../support/masters.ts'
import { startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

const MANY = new Set<string>([scripts.batch.sha1, scripts.batch.source])

type Options = Omit<HoldfastOptions, 'redis' | 'masters'>

const QUICK = { leaseMs: 10_000, longestLeaseMs: 60_000, commandTimeoutMs: 300, outageMs: 1_500 }

function clientOf(master: { url: string }, options: Options = {}): Holdfast {
  const client = new Holdfast({ redis: master.url, ...QUICK, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Returns a client of each master. */
function clientsOf(cluster: Cluster, options: Options = {}): [Holdfast, ...Holdfast[]] {
  const clients = cluster.masters.map((master) => clientOf(master, options))
  atEnd(() => Promise.all(cluster.masters.map((master) => master.revive())).then(() => {}), {
    beforeCheck: true,
  })
  return clients as [Holdfast, ...Holdfast[]]
}

function redLockOf(clients: readonly Holdfast[], name = 'it'): HoldfastLock {
  const [first] = clients as [Holdfast]
  return first.getRedLock(...clients.map((client) => client.getLock(name)))
}

const errorOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => {
      throw new Error('It did not reject')
    },
    (error: Error) => error,
  )

describe('a RedLock', () => {
  test('a RedLock is held on all servers under one owner id, and released on all', async () => {
    const cluster = await Cluster.start(3)
    const lock = redLockOf(clientsOf(cluster))
    const lease = await lock.lock()
    await cluster.heldEverywhere('it', lease.owner)
    expect(await lock.inspect()).toMatchObject({ holder: lease.owner, holdCount: 1 })
    expect(await lease.release()).toBe(true)
    await cluster.free('it')
  })

  test("a RedLock reports its client's longest lease to the servers, whichever client votes in the same request", async () => {
    const cluster = await Cluster.start(3)
    const [a, b, c] = cluster.masters as [RedisServer, RedisServer, RedisServer]
    const clients = [clientOf(a, { longestLeaseMs: 120_000 }), clientOf(b), clientOf(c)]
    const [long, short] = clients as [Holdfast, Holdfast]
    const lockOf = (client: Holdfast, name: string) =>
      client.getRedLock(...clients.map((one) => one.getLock(name)))
    await (await lockOf(short, 'warm').lock()).release()
    for (const order of [
      [long, short, short],
      [short, long, short],
    ]) {
      const leases = await Promise.all(order.map((client, n) => lockOf(client, `it ${n}`).lock()))
      for (const lease of leases) await lease.release()
      for (const { admin } of cluster.masters) {
        expect((await admin.get(BIRTH))?.split(' ').at(-1)).toBe('120000')
      }
      await Promise.all(cluster.masters.map((master) => letVote(master)))
    }
  })

  test('a RedLock of a closed client is not requested by clients that connect later', async () => {
    const cluster = await Cluster.start(3)
    const proxies = await Promise.all(cluster.masters.slice(1).map(({ port }) => startProxy(port)))
    const holes = proxies.map((proxy) => proxy.blackHole())
    const [first] = cluster.masters as [RedisServer]
    const client = clientOf(first)
    const others = proxies.map((proxy) => clientOf(proxy, { commandTimeoutMs: 2_000 }))
    const waiting = errorOf(redLockOf([client, ...others]).lock())
    await client.close()
    expect(await waiting).toBeInstanceOf(ClosedError)
    for (const hole of holes) hole.heal()
    await Promise.all(others.map((other) => other.getLock('another').isLocked()))
    await never(async () => (await cluster.holders('it')).some(Boolean), 300)
  })

  test('a RedLock is requested together with plain locks of its clients, which need no vote', async () => {
    const cluster = await Cluster.start(3)
    const [behind, ...others] = cluster.masters as [RedisServer, ...RedisServer[]]
    const proxy = await startProxy(behind.port)
    // With these options, no request is repeated because an answer is late.
    const patient = { leaseMs: 50_000, commandTimeoutMs: 5_000, outageMs: 10_000 }
    const clients = [proxy, ...others].map((one) => clientOf(one, patient))
    const [first] = clients as [Holdfast]
    await redLockOf(clients, 'before').using(() => {})
    await cluster.free('before')
    // The first server has lost its mark, so it must not vote.
    await behind.admin.del(BIRTH)
    const names = Array.from({ length: 12 }, (_, i) => `plain ${i}`)
    const [, lease, ...plain] = await Promise.all([
      first.getLock('busy').inspect(),
      redLockOf(clients).lock(),
      ...names.map((name) => first.getLock(name).lock()),
    ])
    expect(await cluster.holders('it')).toEqual(['', lease.owner, lease.owner])
    for (const [i, { owner }] of plain.entries()) {
      expect(await cluster.holders(names[i] as string)).toEqual([owner, '', ''])
    }
    // The client sent one request for all locks, or two if the server did not know the script.
    expect(proxy.count(({ args }) => MANY.has(args[0] as string))).toBeLessThanOrEqual(2)
    expect(proxy.count(scripts.acquire.sha1)).toBe(0)
    await Promise.all([lease, ...plain].map((one) => one.release()))
  })

  test('each client of a RedLock decides how long its counters are kept', async () => {
    const cluster = await Cluster.start(3)
    const [first, second, third] = cluster.masters as [RedisServer, RedisServer, RedisServer]
    const clients = [
      clientOf(first),
      clientOf(second, { keepCounters: true }),
      clientOf(third, { keepCounters: true }),
    ]
    const lock = redLockOf(clients)
    const plain = (clients[1] as Holdfast).getLock('plain')
    await lock.using(() => {})
    const [, lease, other] = await Promise.all([
      (clients[1] as Holdfast).getLock('busy').inspect(),
      plain.lock(),
      lock.lock(),
    ])
    await Promise.all([lease.release(), other.release()])
    await cluster.free('it')
    const expiries = async (name: string) =>
      Promise.all(cluster.masters.map(({ admin }) => admin.pttl(lockKeys(name).counter)))
    expect(await expiries('it')).toEqual([expect.any(Number), -1, -1])
    expect((await expiries('it'))[0]).toBeGreaterThan(0)
    expect(await expiries('plain')).toEqual([-2, -1, -2])
    const counters = ['it', 'plain'].map((name) => lockKeys(name).counter)
    await Promise.all([second, third].map(({ admin }) => admin.del(...counters)))
  })

  test('a RedLock is acquired while a minority is down', async () => {
    const cluster = await Cluster.start(5)
    const clients = clientsOf(cluster)
    await cluster.masters[0]?.kill()
    cluster.masters[3]?.pause()
    const lock = redLockOf(clients)
    const tokens: number[] = []
    for (let i = 0; i < 3; i++)
      tokens.push(
        await within(
          3_000,
          lock.using(({ token }) => token),
        ),
      )
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
    const others = clientsOf(cluster)
    await lock.using(async () => expect(await redLockOf(others).tryLock()).toBeNull())
    // The server now runs the requests that it received while it was stopped. The client releases what they acquired.
    cluster.masters[3]?.resume()
    await cluster.free('it')
  })

  test('a RedLock is refused without a majority, and the error has the reason of each server', async () => {
    const cluster = await Cluster.start(3)
    const clients = clientsOf(cluster)
    const lock = redLockOf(clients)
    await lock.using(() => {})
    await cluster.free('it')
    const [gone, hangs] = cluster.masters
    await gone?.kill()
    hangs?.pause()
    const error = await errorOf(lock.lock())
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' })
    expect(error.message).toContain('no majority of 3 masters')
    expect(error.message).toMatch(new RegExp(`${gone?.port}: [^;]*(ECONNREFUSED|closed)`))
    expect(error.message).toMatch(
      new RegExp(`${hangs?.port}: (no answer within|Socket timeout|the connection broke)`),
    )
    for (const master of cluster.masters) await master.revive()
    await cluster.free('it')
  })

  test('a RedLock is re-entered in a frame through any object with the same locks', async () => {
    const cluster = await Cluster.start(3)
    const clients = clientsOf(cluster)
    const [first, second, third] = clients
    const lock = redLockOf(clients)
    await lock.using(async (outer) => {
      const [a, b, c] = [first, third, second].map((client) => client?.getLock('it'))
      const same = first.getRedLock(b as HoldfastLock, c as HoldfastLock, a as HoldfastLock)
      const inner = granted(await same.tryLock())
      expect(inner.token).toBe(outer.token)
      expect(await same.holdCount()).toBe(2)
      await same.unlock()
      expect(await lock.holdCount()).toBe(1)
    })
    await first.run(async () => {
      await lock.lock()
      await lock.lock()
      expect(await redLockOf(clientsOf(cluster)).tryLock()).toBeNull()
      await lock.unlock()
      await lock.unlock()
    })
    await cluster.free('it')
  })

  test('a RedLock acts for the owner with which a lock of its client was made', async () => {
    const cluster = await Cluster.start(3)
    const [first, ...others] = clientsOf(cluster)
    const owner = first.owner()
    const make = () =>
      first.getRedLock(first.getLock('it', { owner }), ...others.map((one) => one.getLock('it')))
    await make().lock()
    const again = granted(await make().tryLock())
    expect(await make().holdCount()).toBe(2)
    await again.release()
    await make().unlock()
    await cluster.free('it')
    const foreign = others.map((one) => one.getLock('it', { owner: one.owner() }))
    expect(() => first.getRedLock(...foreign)).toThrow(/`owner` must belong to the client/)
  })

  test('the watchdog of its client renews a RedLock at a majority', async () => {
    const cluster = await Cluster.start(3)
    const [first, ...others] = clientsOf(cluster, { leaseMs: 2_000, longestLeaseMs: 4_000 })
    const diary = new Diary(first)
    const lease = await redLockOf([first, ...others]).lock()
    await cluster.masters[2]?.kill()
    await eventually(() => diary.renewed > 3)
    expect(lease.valid).toBe(true)
    expect(diary.lost).toEqual([])
    expect((await cluster.holders('it')).slice(0, 2)).toEqual([lease.owner, lease.owner])
    expect(await lease.release()).toBe(true)
  })

  test('a renewal restores a RedLock at a server that forgot it, and the server does not vote meanwhile', async () => {
    const cluster = await Cluster.start(3)
    const lease = await redLockOf(clientsOf(cluster, { leaseMs: 4_500 })).lock()
    const others = redLockOf(clientsOf(cluster))
    for (const master of cluster.masters) {
      await master.restart()
      await cluster.heldEverywhere('it', lease.owner)
      expect(await others.tryLock()).toBeNull()
    }
    expect(lease.valid).toBe(true)
    await lease.release()
    await cluster.free('it')
  })

  test('a RedLock waits until servers that never voted have rested, unless the deployment is new', async () => {
    const cluster = await Cluster.start(3, false)
    const old = redLockOf(
      clientsOf(cluster, { leaseMs: 1_500, longestLeaseMs: 2_500, outageMs: 1_500 }),
    )
    const error = await errorOf(old.lock())
    expect(error.message).toContain('may have lost leases')
    await pause(1_500)
    await old.using(() => {})
    await cluster.free('it')
    const fresh = await Cluster.start(3, false)
    await redLockOf(clientsOf(fresh, { newDeployment: true })).using(() => {})
    await fresh.free('it')
  })

  test('a RedLock is refused if plain locks are held on a majority, and granted if on fewer', async () => {
    const cluster = await Cluster.start(3)
    const clients = clientsOf(cluster)
    const lock = redLockOf(clients)
    const plain = clientsOf(cluster).map((client) => client.getLock('it'))
    const leases = [granted((await plain[0]?.tryLock()) ?? null)]
    const first = granted(await lock.tryLock())
    expect(await plain[1]?.tryLock()).toBeNull()
    expect(await plain[2]?.tryLock()).toBeNull()
    await first.release()
    await eventually(async () => (await cluster.holders('it')).slice(1).every((one) => one === ''))
    leases.push(granted((await plain[1]?.tryLock()) ?? null))
    expect(await lock.tryLock()).toBeNull()
    const waiting = lock.lock()
    await leases[1]?.release()
    const second = await within(2_000, waiting)
    expect(second.token).toBeGreaterThan(first.token)
    await second.release()
    await leases[0]?.release()
    await cluster.free('it')
  })

  test('a RedLock and a plain lock of the same client exclude each other, even in one frame', async () => {
    const cluster = await Cluster.start(1)
    const clients = clientsOf(cluster)
    const [first] = clients
    const lock = redLockOf(clients)
    const plain = first.getLock('it')
    await first.run(async () => {
      const lease = await plain.lock()
      expect(await lock.tryLock()).toBeNull()
      expect((await cluster.holders('it'))[0]).toBe(lease.owner)
      await plain.unlock()
      await lock.lock()
      expect(await plain.tryLock()).toBeNull()
      await lock.unlock()
    })
    await cluster.free('it')
  })

  test('a RedLock has one holder at a time, with rising tokens', async () => {
    const cluster = await Cluster.start(3)
    const locks = [1, 2, 3, 4].map(() => redLockOf(clientsOf(cluster)))
    let inside = 0
    const tokens: number[] = []
    const turns = locks.map(async (lock) => {
      for (let i = 0; i < 6; i++) {
        await lock.using(async ({ token }) => {
          inside += 1
          expect(inside).toBe(1)
          tokens.push(token)
          await pause(1)
          inside -= 1
        })
      }
    })
    await within(30_000, Promise.all(turns))
    expect(tokens).toHaveLength(24)
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
    await cluster.free('it')
  })

  test('a RedLock may have another name at each client', async () => {
    const cluster = await Cluster.start(3)
    const names = ['a', 'b:{tag}', 'c']
    const make = () => {
      const clients = cluster.masters.map((master, i) => clientOf(master, { keyPrefix: `${i}:` }))
      const locks = clients.map((client, i) => client.getLock(names[i] as string))
      return (clients[0] as Holdfast).getRedLock(...locks)
    }
    const [lock, other] = [make(), make()]
    const lease = await lock.lock()
    expect(lease.name).toBe('a, b:{tag}, c')
    await eventually(async () => {
      const keys = await Promise.all(
        cluster.masters.map(({ admin }, i) => admin.hget(`${i}:${names[i]}`, lease.owner)),
      )
      return keys.every((one) => one === '1')
    })
    expect(await other.tryLock()).toBeNull()
    const waiting = other.lock()
    await pause(50)
    await lease.extend(20_000)
    await lease.release()
    const next = await within(2_000, waiting)
    expect(next.token).toBeGreaterThan(lease.token)
    expect(await lock.forceUnlock()).toBe(true)
    await next.release().catch(() => false)
  })
})

describe('a RedLock when a client closes', () => {
  test('its own client releases the RedLock, and leaves the other clients open', async () => {
    const cluster = await Cluster.start(3)
    const [first, ...others] = clientsOf(cluster)
    const lock = redLockOf([first, ...others])
    const lease = await lock.lock()
    const waiting = errorOf(redLockOf([first, ...others], 'it').lock())
    await first.close()
    expect(await waiting).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    expect(lease.signal.aborted).toBe(true)
    await cluster.free('it')
    await others[0]?.getLock('it').using(() => {})
    await expect(lock.lock()).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await expect(redLockOf([first, ...others], 'new').tryLock()).rejects.toMatchObject({
      code: 'HOLDFAST_CLOSED',
    })
  })

  test('its own client leaves nothing on the servers of the other clients if none has connected', async () => {
    const cluster = await Cluster.start(3)
    const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
    const greetings = proxies.map((proxy) => proxy.onNextRequest('INFO', 'holdReply'))
    const [first, ...others] = proxies.map(({ url }) => clientOf({ url })) as [
      Holdfast,
      ...Holdfast[],
    ]
    const acquiring = errorOf(redLockOf([first, ...others]).lock())
    await Promise.all(greetings.map(({ seen }) => seen))
    await first.close()
    for (const greeting of greetings) greeting.release()
    expect(await acquiring).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await pause(600)
    expect(await cluster.holders('it')).toEqual(['', '', ''])
  })

  test('another client that closes costs a vote, like a server that is down', async () => {
    const cluster = await Cluster.start(3)
    const [first, second, third] = clientsOf(cluster, { leaseMs: 2_000 }) as [
      Holdfast,
      Holdfast,
      Holdfast,
    ]
    const lock = redLockOf([first, second, third])
    const lease = await lock.lock()
    await cluster.heldEverywhere('it', lease.owner)
    await second.close()
    await pause(2_300)
    expect(lease.valid).toBe(true)
    await lease.release()
    await cluster.free('it')
    await lock.using(() => {})
    const other = redLockOf(clientsOf(cluster))
    const held = await other.lock()
    const waiting = lock.lock()
    await pause(30)
    await held.release()
    await (await within(2_000, waiting)).release()
    await third.close()
    const error = await errorOf(lock.lock())
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    expect(error.message).toContain(`${cluster.masters[2]?.port}: the client was closed`)
    await cluster.free('it')
  })
})

describe('an invalid RedLock', () => {
  test('`getRedLock()` refuses locks that are no vote of their own', async () => {
    const cluster = await Cluster.start(3)
    const clients = clientsOf(cluster)
    const [first, second, third] = clients as [Holdfast, Holdfast, Holdfast]
    const [a, b, c] = [first, second, third].map((client) => client.getLock('it')) as [
      HoldfastLock,
      HoldfastLock,
      HoldfastLock,
    ]
    const refused = (locks: unknown[], why: RegExp) => {
      const make = () => first.getRedLock(...(locks as HoldfastLock[]))
      expect(make).toThrow(why)
      expect(make).toThrow(expect.objectContaining({ code: 'HOLDFAST_INVALID_ARGUMENT' }))
    }
    refused([], /got none/)
    refused(
      [a, b, first.getLock('other')],
      /two of the locks belong to one client; pass one lock of each client/,
    )
    refused([a, a], /two of the locks belong to one client; pass one lock of each client/)
    refused([a, second.getFairLock('it'), c], /is a fair lock/)
    refused([a, b, first.getRedLock(a, b, c)], /"it" is already a majority lock, /)
    refused([a, b, cluster.client().getLock('it')], /"it" is already a majority lock, /)
    for (const none of ['it', null, undefined, {}, [a, b, c]])
      refused([a, none], /it takes locks from getLock/)
    const redis = new Redis.Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
    const ofCluster = new Holdfast({ redis })
    refused([a, b, ofCluster.getLock('it')], /lock of a cluster/)
    await ofCluster.close()
    redis.disconnect()
    const [master] = cluster.masters as [RedisServer]
    const threaded = clientOf(master, { watchdogThread: true })
    expect(() => threaded.getRedLock(a)).toThrow(/watchdogThread/)
    await expect(redLockOf(clients).lock(60_001)).rejects.toThrow(/longestLeaseMs/)
  })

  test('two clients of one server are refused, and their vote is not counted twice', async () => {
    const cluster = await Cluster.start(3)
    const [one, two] = cluster.masters as [RedisServer, RedisServer]
    const clients = [
      clientOf(one),
      clientOf({ url: `redis://localhost:${one.port}` }),
      clientOf(two),
    ]
    for (const client of clients) await client.getLock('warm').using(() => {})
    const error = await errorOf(redLockOf(clients).lock())
    expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    expect(error.message).toContain(`it is the same server as localhost:${one.port}`)
    await cluster.free('it')
    // The clients also detect this during their first use, and if each lock has another name.
    for (let i = 0; i < 5; i++) {
      const cold = [clientOf(one), clientOf(one), clientOf(two)] as [Holdfast, Holdfast, Holdfast]
      await two.kill()
      const names = cold.map((client, at) => client.getLock(`it:${at}`))
      const failure = await errorOf(cold[0].getRedLock(...names).lock())
      expect(failure).toMatchObject({ code: expect.stringMatching(/INVALID|UNAVAILABLE/) })
      await two.revive()
    }
    leaves({ keys: true, why: 'the names of a lock that was never had end with their leases' })
  })
})
