import { Redis } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { allow, openSocket } from '../support/allowances.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { forward } from '../support/forward.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()
const admin = forward(() => server.admin)

function newClient(options: Omit<HoldfastOptions, 'redis'> & { port?: number } = {}): Holdfast {
  const { port = server.port, ...rest } = options
  const client = new Holdfast({ redis: { host: server.host, port }, ...rest })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Subscribes to channels, like a service in another language. Returns the received messages, in order. */
async function listenTo(...channels: string[]): Promise<[channel: string, payload: string][]> {
  const heard: [string, string][] = []
  const redis = new Redis(server.port, server.host)
  const withdraw = allow('TCPSocketWrap', () =>
    openSocket((redis as { stream?: { destroyed: boolean } }).stream),
  )
  redis.on('message', (channel, payload) => heard.push([channel, payload]))
  atEnd(
    async () => {
      redis.disconnect()
      await eventually(async () => ((await admin.pubsub('CHANNELS')) as string[]).length === 0)
      withdraw()
    },
    { beforeCheck: true },
  )
  await redis.subscribe(...channels)
  return heard
}

describe('keys in Redis', () => {
  test('a lock is a hash at the raw name, from owner to hold count, and nothing else', async () => {
    const client = newClient()
    const lock = client.getLock('order:1')
    await lock.using(async (lease) => {
      await lock.lock()
      expect(await admin.type('order:1')).toBe('hash')
      expect(await admin.hgetall('order:1')).toEqual({ [lease.owner]: '2' })
      expect(lease.owner).toMatch(new RegExp(`^${client.id}:[^:]+$`))
      await lock.unlock()
    })
    expect(await admin.exists('order:1')).toBe(0)
  })

  test.each([
    ['order:1', '{order:1}'],
    ['order:{7}:x', 'order:{7}:x'],
    ['{order}:1', '{order}:1'],
    ['größe 🔒', '{größe 🔒}'],
  ])('the keys that are derived from %p contain %p, as in Redisson', async (name, tagged) => {
    const heard = await listenTo(`redisson_lock__channel:${tagged}`)
    const lease = await newClient().getLock(name).lock()
    expect((await lastingKeys(admin)).sort()).toEqual(
      [name, `redisson_lock_token:${tagged}`].sort(),
    )
    expect(await admin.get(`redisson_lock_token:${tagged}`)).toBe(String(lease.token))
    await lease.release()
    await eventually(() => heard.length > 0)
    expect(heard).toEqual([[`redisson_lock__channel:${tagged}`, '0']])
  })

  test('a key prefix is part of the raw name, and of each key that is derived from it', async () => {
    const heard = await listenTo('redisson_lock__channel:{app:it}')
    const lease = await newClient({ keyPrefix: 'app:' }).getLock('it').lock()
    expect((await lastingKeys(admin)).sort()).toEqual(['app:it', 'redisson_lock_token:{app:it}'])
    await lease.release()
    await eventually(() => heard.length === 1)
  })

  test('the last release and `forceUnlock()` publish one message each; nested releases and renewals publish none', async () => {
    const heard = await listenTo('redisson_lock__channel:{it}')
    const client = newClient({ leaseMs: 1_500 })
    const lock = client.getLock('it')
    let renewed = false
    client.on('renewed', () => {
      renewed = true
    })
    await lock.using(async () => {
      await lock.using(() => {})
      await eventually(() => renewed)
      expect(heard).toEqual([])
    })
    await eventually(() => heard.length === 1)
    const lease = await lock.lock({ leaseMs: 60_000 })
    await lock.forceUnlock()
    await eventually(() => heard.length === 2)
    await lease.release()
    await admin.publish('redisson_lock__channel:{it}', 'end')
    await eventually(() => heard.length === 3)
    expect(heard.map(([, payload]) => payload)).toEqual(['0', '0', 'end'])
  })

  test('each key has an expiry, and only the counters stay after the releases', async () => {
    const locks = ['a', 'b', '{c}:d'].map((name) => newClient().getLock(name))
    const ttls = async () =>
      Promise.all(
        (await lastingKeys(admin)).map(async (key) => [key, await admin.pttl(key)] as const),
      )
    const leases = await Promise.all(locks.map((lock) => lock.lock()))
    for (const [, ttl] of await ttls()) expect(ttl).toBeGreaterThan(0)
    for (const lease of leases) await lease.release()
    const left = await ttls()
    expect(left.map(([key]) => key).sort()).toEqual([
      'redisson_lock_token:{a}',
      'redisson_lock_token:{b}',
      'redisson_lock_token:{c}:d',
    ])
    for (const [, ttl] of left) expect(ttl).toBeGreaterThan(0)
  })

  test('a lock of another library is respected, and its release wakes a waiter', async () => {
    const lock = newClient().getLock('it')
    await admin.hset('it', '8743c9c0-0795-4907-87fd-6c719a6b4586:42', 1)
    await admin.pexpire('it', 60_000)
    expect(await lock.tryLock()).toBeNull()
    const waiting = lock.lock()
    await eventually(async () => (await lock.inspect()).waiters === 1)
    await admin.multi().del('it').publish('redisson_lock__channel:{it}', '0').exec()
    await (await waiting).release()
  })
})

describe('round trips', () => {
  let proxy: FaultProxy
  /** Returns a client that is connected, and whose scripts are already loaded on the server. */
  const warmClient = async () => {
    proxy = await startProxy(server.port)
    const client = newClient({ port: proxy.port })
    await Promise.all([1, 2].map(() => client.getLock('warm').using(() => {})))
    await client.getLock('warm').using(() => client.getLock('warm').using(() => {}))
    return client
  }
  /** Returns the commands that the work sends. */
  const commandsOf = async (work: () => Promise<unknown>) => {
    const before = proxy.requests.length
    await work()
    return proxy.requests.slice(before).map(({ command }) => command)
  }

  test('a lock, an unlock, a nested lock and a nested unlock need one round trip each', async () => {
    const client = await warmClient()
    const lock = client.getLock('it', { owner: client.owner() })
    const counts = [
      await commandsOf(() => lock.lock()),
      await commandsOf(() => lock.lock()),
      await commandsOf(() => lock.lock(60_000)),
      await commandsOf(() => lock.unlock()),
      await commandsOf(() => lock.unlock()),
      await commandsOf(() => lock.unlock()),
      await commandsOf(async () => (await lock.tryLock())?.release()),
    ]
    expect(counts).toEqual([...Array(6).fill(['EVALSHA']), ['EVALSHA', 'EVALSHA']])
  })

  test('`tryLock()` on a lock that another client holds needs one round trip', async () => {
    const client = await warmClient()
    const lease = await newClient().getLock('it').lock()
    const commands = await commandsOf(async () => {
      expect(await client.getLock('it').tryLock()).toBeNull()
    })
    expect(commands).toEqual(['EVALSHA'])
    await lease.release()
  })

  test('the unlock of one caller and the lock of the next caller in a client need at most one round trip', async () => {
    const client = await warmClient()
    const lock = client.getLock('it')
    const works = 10
    const commands = await commandsOf(() =>
      Promise.all(Array.from({ length: works }, () => lock.using(() => {}))),
    )
    expect(new Set(commands)).toEqual(new Set(['EVALSHA']))
    expect(commands.length).toBeLessThanOrEqual(works + 1)
  })

  test('a call that is refused, aborted before or too late needs no round trip', async () => {
    const client = await warmClient()
    const lock = client.getLock('it')
    const commands = await commandsOf(async () => {
      await lock.lock(-1).catch(() => {})
      await lock.lock({ signal: AbortSignal.abort() }).catch(() => {})
      await lock.unlock().catch(() => {})
    })
    expect(commands).toEqual([])
    const lease = await lock.lock()
    await lease.release()
    expect(await commandsOf(() => lease.release())).toEqual([])
  })

  test('a waiter checks the lock, subscribes, checks once more, and is then silent', async () => {
    const client = await warmClient()
    const holder = newClient().getLock('it')
    const lease = await holder.lock()
    const lock = client.getLock('it')
    const before = proxy.requests.length
    const waiting = lock.lock()
    const sent = () => proxy.requests.slice(before).map(({ command }) => command)
    await eventually(() => sent().includes('SUBSCRIBE') && sent().at(-1) === 'EVALSHA')
    const quiet = proxy.requests.length
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(proxy.requests.length).toBeLessThanOrEqual(quiet + 1)
    await lease.release()
    await (await waiting).release()
  })

  test('scripts are sent by their hash, and in full only to a server that does not know them', async () => {
    const client = await warmClient()
    expect(proxy.count('EVAL')).toBeLessThanOrEqual(4)
    await admin.script('FLUSH')
    const lock = client.getLock('it')
    const commands = await commandsOf(() => lock.using(() => {}))
    expect(commands).toEqual(['EVALSHA', 'EVAL', 'EVALSHA', 'EVAL'])
    expect(await commandsOf(() => lock.using(() => {}))).toEqual(['EVALSHA', 'EVALSHA'])
  })
})

describe('connections', () => {
  const subscribers = async () => {
    const list = (await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string
    return list.trim() === '' ? 0 : list.trim().split('\n').length
  }

  test('one connection receives the messages for 2,000 waiters at 1,000 locks', async () => {
    // So long that a busy machine does not matter.
    const longLimits = { commandTimeoutMs: 10_000, outageMs: 30_000 }
    const [holder, client] = [newClient(longLimits), newClient(longLimits)]
    const names = Array.from({ length: 1_000 }, (_, i) => `it ${i}`)
    const leases = await Promise.all(names.map((name) => holder.getLock(name).lock()))
    const works = names.flatMap((name) => [
      client.getLock(name).using(() => name),
      client.getLock(name).using(() => name),
    ])
    await eventually(
      async () => ((await admin.pubsub('CHANNELS')) as string[]).length === names.length,
      { timeoutMs: 15_000, everyMs: 50 },
    )
    expect(await subscribers()).toBe(1)
    await Promise.all(leases.map((lease) => lease.release()))
    expect(await Promise.all(works)).toEqual(names.flatMap((name) => [name, name]))
    await eventually(async () => ((await admin.pubsub('CHANNELS')) as string[]).length === 0)
  })

  test('2,000 held locks are renewed by at most 20 scripts', async () => {
    const client = newClient({ leaseMs: 15_000, outageMs: 30_000 })
    const names = Array.from({ length: 2_000 }, (_, i) => `it ${i}`)
    const leases = await Promise.all(names.map((name) => client.getLock(name).lock()))
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1])
    let renewed = 0
    let requests = 0
    client.on('renewed', ({ holds }) => {
      renewed += holds
      requests += 1
    })
    const before = await calls()
    await eventually(() => renewed >= 2_000, { timeoutMs: 25_000 })
    // This includes requests that the watchdog sent before all locks were held.
    expect((await calls()) - before).toBeLessThanOrEqual(20)
    expect(requests).toBeLessThanOrEqual(20)
    expect(leases.every((lease) => lease.valid)).toBe(true)
    await client.close()
    expect((await admin.keys('it *')).length).toBe(0)
  })

  test('no connection is opened before the first use', async () => {
    await admin.ping()
    const count = async () => ((await admin.client('LIST')) as string).trim().split('\n').length
    const before = await count()
    const client = newClient()
    client.getLock('it')
    client.owner()
    client.run(() => {})
    expect(await count()).toBe(before)
  })
})

describe('a release', () => {
  test('a release between the last check and the subscription wakes the waiter', async () => {
    const proxy = await startProxy(server.port)
    const client = newClient({ port: proxy.port, commandTimeoutMs: 20_000, outageMs: 20_000 })
    await client.getLock('it').using(() => {})
    const lease = await newClient().getLock('it').lock(60_000)

    const subscribe = proxy.onNextRequest('SUBSCRIBE', 'hold')
    const waiting = client.getLock('it').lock()
    await subscribe.seen
    // The next check finds the lock held, but its answer arrives only after all other events.
    const look = proxy.onNextRequest('EVALSHA', 'holdReply')
    await look.seen
    for (let i = 0; i < 3; i++) await admin.ping()
    await lease.release()
    subscribe.release()
    await subscribe.done
    await eventually(async () => ((await admin.pubsub('CHANNELS')) as string[]).length === 1)
    look.release()
    await (await within(4_500, waiting)).release()
  })
})
