import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { startProxy } from '../support/proxy.ts'
import { Cluster, LONG_CALLS } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

const { sha1: VOTE } = scripts.vote

/** With these options, a call to a silent master takes 5 s. */
const SLOW_CALLS = { leaseMs: 50_000, commandTimeoutMs: 5_000 }

/** Several clients acquire the lock `times` times each, each time for a short critical section. */
async function contend(cluster: Cluster, clients: number, times: number): Promise<number[]> {
  const tokens: number[] = []
  const turns = Array.from({ length: clients }, async () => {
    const lock = cluster.client().getLock('it')
    for (let i = 0; i < times; i++) {
      await lock.using(async ({ token }) => {
        tokens.push(token)
        await pause(1)
      })
    }
  })
  await Promise.all(turns)
  return tokens
}

describe('a waiter for a lock that another client holds', () => {
  /** Starts a waiter that uses five masters behind proxies. Returns functions that publish messages about releases. */
  async function waiting(options: { leaseMs?: number; commandTimeoutMs?: number } = {}) {
    const cluster = await Cluster.start(5)
    for (const { admin } of cluster.masters) {
      for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
    }
    const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
    const urls = proxies.map(({ url }) => url)
    const lease = await cluster.client({ leaseMs: 30_000 }).getLock('it').lock()
    await cluster.heldEverywhere('it', lease.owner)
    const next = cluster.client(options, urls).getLock('it').lock()
    const channel = lockKeys('it').channel
    await eventually(async () => {
      const listeners = cluster.masters.map(({ admin }) => admin.pubsub('NUMSUB', channel))
      return (await Promise.all(listeners)).every(([, count]) => Number(count) === 1)
    })
    await pause(150)
    const counts = () => proxies.map((proxy) => proxy.count(VOTE))
    let before = counts()
    /** Returns how often each master has been asked since the last messages. */
    const asked = () => counts().map((count, i) => count - (before[i] ?? 0))
    const tell = async (which: readonly RedisServer[] = cluster.masters) => {
      before = counts()
      await Promise.all(which.map(({ admin }) => admin.publish(channel, '0')))
    }
    const allAsked = () => asked().every((count) => count > 0)
    return {
      proxies,
      tell,
      asked,
      allAsked,
      masters: cluster.masters,
      /** Publishes a message about a release twice, although the lock is still held. */
      losesTwice: async () => {
        for (let i = 0; i < 2; i++) {
          await tell()
          await eventually(allAsked)
          await pause(80)
        }
      },
      end: async () => {
        await lease.release()
        await (await within(2_000, next)).release()
        await cluster.free('it')
      },
    }
  }

  test('a waiter asks each master once for one release, however many masters report it', async () => {
    const once = [1, 1, 1, 1, 1]
    let seen: number[] = []
    // If a master stands still for a moment, its message arrives after the answers. Then the test tries again.
    for (let i = 0; i < 20 && !isDeepStrictEqual(seen, once); i++) {
      const { tell, asked, allAsked, end } = await waiting(SLOW_CALLS)
      await tell()
      await eventually(allAsked)
      await pause(80)
      seen = asked()
      await end()
    }
    expect(seen).toEqual(once)
  })

  test('a waiter that has lost before asks one master first, and all masters later', async () => {
    const { tell, asked, allAsked, losesTwice, end } = await waiting()
    await losesTwice()
    const total = () => asked().reduce((sum, count) => sum + count, 0)
    const asOne = { first: 1, all: [1, 1, 1, 1, 2] }
    let seen = { first: 0, all: [] as number[] }
    // If the process stands still for a moment, the waiter asks all masters at once. Then the test tries again.
    for (let i = 0; i < 20 && !isDeepStrictEqual(seen, asOne); i++) {
      await tell()
      await eventually(() => total() > 0)
      await pause(30)
      const first = total()
      await eventually(allAsked)
      await pause(80)
      // The master that was asked first is asked again with all others.
      seen = { first, all: asked().sort() }
    }
    expect(seen).toEqual(asOne)
    await end()
  })

  test('a waiter does not wait long for the master that it asks first', async () => {
    const { proxies, masters, tell, allAsked, losesTwice, end } = await waiting(SLOW_CALLS)
    await losesTwice()
    proxies[2]?.onNextRequest(VOTE, 'mute')
    await tell(masters.slice(2, 3))
    await eventually(allAsked, { timeoutMs: 2_500 })
    await end()
  })
})

test.each([0, 1, 2])(
  'master %i delays no client although another owner holds the lock there all the time',
  async (i) => {
    const cluster = await Cluster.start(3)
    const { admin } = cluster.masters[i] as Cluster['masters'][0]
    await admin.hset('it', 'somebody:else', 1)
    await admin.pexpire('it', 60_000)
    const tokens = await within(10_000, contend(cluster, 4, 6))
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
    expect(await admin.hkeys('it')).toEqual(['somebody:else'])
    leaves({ keys: true, why: 'somebody else has it' })
  },
)

test('a master that hangs delays no client', async () => {
  const cluster = await Cluster.start(3)
  const contending = contend(cluster, 6, 8)
  await pause(60)
  cluster.masters[0]?.pause()
  const tokens = await within(15_000, contending)
  expect(tokens).toHaveLength(48)
  cluster.masters[0]?.resume()
  await cluster.free('it')
})

describe('a minority that does not answer, and is not yet known to be down', () => {
  // A client that waited for the minority would wait for 5 s each time.
  test('the votes of a failed attempt are released although a minority does not answer', async () => {
    const cluster = await Cluster.start(3)
    const [free, held, hangs] = cluster.masters as [RedisServer, RedisServer, RedisServer]
    await held.admin.hset('it', 'somebody:else', 1)
    await held.admin.pexpire('it', 60_000)
    hangs.pause()
    const client = cluster.client(LONG_CALLS)
    expect(await within(20_000, client.getLock('it').tryLock())).toBeNull()
    await eventually(async () => (await free.admin.exists('it')) === 0)
    hangs.resume()
    leaves({ keys: true, why: 'somebody else has it' })
  })

  test.each(['stopped', 'slow'])('a minority delays no client that contends: %s', async (how) => {
    const cluster = await Cluster.start(3)
    const [, , hangs] = cluster.masters as [RedisServer, RedisServer, RedisServer]
    const proxy = await startProxy(hangs.port)
    const urls = cluster.masters.map(({ url }) => url)
    if (how === 'stopped') hangs.pause()
    else urls[2] = proxy.url
    proxy.delay(500)
    const tokens: number[] = []
    const contending = Array.from({ length: 4 }, async () => {
      const lock = cluster.client(SLOW_CALLS, urls).getLock('it')
      for (let i = 0; i < 10; i++) {
        await lock.using(async ({ token }) => {
          tokens.push(token)
          await pause(1)
        })
      }
    })
    await within(10_000, Promise.all(contending))
    expect(tokens).toHaveLength(40)
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
    await hangs.revive()
    await proxy.heal()
    await cluster.free('it')
  })

  test('the answer of a slow minority counts if there is no majority without it', async () => {
    const cluster = await Cluster.start(3)
    const [, held, far] = cluster.masters as [RedisServer, RedisServer, RedisServer]
    await held.admin.hset('it', 'somebody:else', 1)
    await held.admin.pexpire('it', 60_000)
    const proxy = await startProxy(far.port)
    proxy.delay(50)
    const urls = cluster.masters.map(({ url }) => url)
    urls[2] = proxy.url
    const lease = await within(10_000, cluster.client(SLOW_CALLS, urls).getLock('it').lock())
    await lease.release()
    await eventually(async () => (await far.admin.exists('it')) === 0)
    leaves({ keys: true, why: 'somebody else has it' })
  })
})

test('waiters acquire the lock even without any message', async () => {
  const cluster = await Cluster.start(3)
  const [holder, ...waiters] = Array.from({ length: 4 }, () => cluster.client().getLock('it'))
  const lease = await holder?.lock()
  const waiting = waiters.map((lock) => lock.lock())
  await pause(100)
  const deaf = async () => {
    await Promise.all(
      cluster.masters.map(({ admin }) =>
        admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {}),
      ),
    )
  }
  await deaf()
  await lease?.release()
  for (let left = waiting.length; left > 0; left--) {
    const [next, i] = await within(
      3_000,
      Promise.race(waiting.map(async (one, at) => [await one, at] as const)),
    )
    waiting.splice(i, 1)
    await deaf()
    await next.release()
  }
  await cluster.free('it')
})
