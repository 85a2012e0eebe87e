import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Holdfast, HoldfastError, type HoldfastOptions } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { bulk, startFakeServer } from '../support/fake-server.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { freePort } from '../support/ports.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { refusal } from '../support/refusal.ts'

/** A client connects within this time, even if the machine stalls. */
const OUTAGE_MS = 1_000
/** The longest time of a call: the tolerated outage, and the extra time of a busy machine. */
const NO_HANG_MS = OUTAGE_MS + 2_500

function newClient(
  redis: NonNullable<HoldfastOptions['redis']>,
  options: Omit<HoldfastOptions, 'redis'> = {},
): Holdfast {
  const client = new Holdfast({ redis, outageMs: OUTAGE_MS, commandTimeoutMs: 300, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** A loaded machine answers within these times. */
const PATIENT = { outageMs: scaledMs(2_000), commandTimeoutMs: scaledMs(1_000) }

/** All calls that acquire or check the lock. */
const FORMS: [string, (client: Holdfast) => Promise<unknown>][] = [
  ['lock()', (client) => client.getLock('it').lock()],
  ['tryLock()', (client) => client.getLock('it').tryLock()],
  ['tryLock(waitMs)', (client) => client.getLock('it').tryLock(OUTAGE_MS - 50)],
  ['using(fn)', (client) => client.getLock('it').using(() => 'ran')],
  ['isLocked()', (client) => client.getLock('it').isLocked()],
  ['forceUnlock()', (client) => client.getLock('it').forceUnlock()],
]

/** Checks that all calls reject in time with this code and these words. The client can still be closed. */
async function allReject(make: () => Holdfast, code: string, words: RegExp): Promise<void> {
  const attempts = FORMS.map(async ([form, call]) => {
    const rejected = async (): Promise<never> => {
      const value = await within(NO_HANG_MS, call(make()))
      throw new Error(`${form} resolved to ${String(value)}`)
    }
    // For a server that is down or silent, the code is the same as for a missing answer.
    const isSilent = code === 'HOLDFAST_UNAVAILABLE'
    const error = await (isSilent ? rejected().catch((one) => one) : refusal(rejected))
    return { form, error }
  })
  for (const { form, error } of await Promise.all(attempts)) {
    expect(`${form}: ${error.message}`).toMatch(words)
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error).toMatchObject({ code, lockName: 'it' })
  }
}

test.each([
  ['WRONGPASS invalid username-password pair or user is disabled.', 'CONFIG REWRITE'],
  ["READONLY You can't write against a read only replica.", 'address of the master'],
  ['NOREPLICAS Not enough good replicas to write.', 'min-replicas-to-write'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'maxmemory'],
  ['MOVED 14374 10.0.0.3:6379', 'redis: { cluster: ['],
  ["ERR unknown command 'TIME', with args beginning with: ", 'Is it a Sentinel'],
])('an error says what to do: %s', async (reply, step) => {
  const fake = await startFakeServer(() => `-${reply}\r\n`)
  const error = await refusal(() => newClient({ port: fake.port }).getLock('it').tryLock())
  expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
  expect(error.message).toContain(step)
})

describe('a server that cannot be reached', () => {
  test('a port without a server is an outage, never contention', async () => {
    const port = await freePort()
    await allReject(() => newClient({ port }), 'HOLDFAST_UNAVAILABLE', /ECONNREFUSED/)
    await allReject(() => newClient(`redis://127.0.0.1:${port}`), 'HOLDFAST_UNAVAILABLE', /up/)
  })

  test('a server that accepts connections and never answers is an outage', async () => {
    const { host, port } = await startFakeServer(() => null)
    await allReject(() => newClient({ host, port }), 'HOLDFAST_UNAVAILABLE', /no answer/)
  })

  test('a server that is no Redis is an outage', async () => {
    const { host, port } = await startFakeServer(() => 'HTTP/1.1 400 Bad Request\r\n\r\n')
    await allReject(() => newClient({ host, port }), 'HOLDFAST_UNAVAILABLE', /no answer/)
  })

  test('each call tries the server again, and succeeds once the server is up', async () => {
    const port = await freePort()
    const client = newClient({ port })
    const lock = client.getLock('it')
    await expect(lock.lock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await startRedis({ port })
    const lease = await eventually(() => lock.tryLock(), { timeoutMs: 10_000 })
    expect(lease.valid).toBe(true)
    await lease.release()
  })

  test('`tryLock(waitMs)` reports the outage after its `waitMs`, not after a longer `outageMs`', async () => {
    const port = await freePort()
    const client = newClient({ port }, { outageMs: 60_000, commandTimeoutMs: 30_000 })
    await expect(within(2_500, client.getLock('it').tryLock(150))).rejects.toMatchObject({
      code: 'HOLDFAST_UNAVAILABLE',
    })
  })

  test('an abort ends the call', async () => {
    const port = await freePort()
    const client = newClient({ port }, { outageMs: 60_000, commandTimeoutMs: 1_000 })
    const abort = new AbortController()
    const wait = client.getLock('it').lock({ signal: abort.signal })
    const reason = new Error('given up')
    abort.abort(reason)
    await expect(wait).rejects.toBe(reason)
  })
})

describe('a server with a password', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis({ config: { requirepass: 'right' } })
  })

  test('the server accepts the right password', async () => {
    const { host, port } = server
    for (const redis of [server.url, { host, port, password: 'right' }]) {
      await newClient(redis)
        .getLock('it')
        .using(() => {})
    }
  })

  test('a wrong password is refused with the words of the server', async () => {
    const { host, port } = server
    const client = () => newClient({ host, port, password: 'wrong' })
    await allReject(client, 'HOLDFAST_REFUSED', /WRONGPASS/)
  })

  test('a client without a password is refused with the words of the server', async () => {
    const { host, port } = server
    await allReject(() => newClient({ host, port }), 'HOLDFAST_REFUSED', /NOAUTH/)
  })

  test('a client with a wrong login does nothing, although the server accepts clients without a login', async () => {
    const open = await startRedis()
    await open.admin.call('ACL', 'SETUSER', 'app', 'on', '>right', '~*', '&*', '+@all')
    const login = { host: open.host, port: open.port, username: 'app', password: 'wrong' }
    await allReject(() => newClient(login), 'HOLDFAST_REFUSED', /WRONGPASS/)
    expect(await open.admin.info('commandstats')).not.toMatch(/cmdstat_evalsha/)
  })

  test('the server is asked again, and a waiter acquires the lock once the login is right', async () => {
    const { host, port } = server
    await server.admin.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>old', '~*', '&*', '+@all')
    const login = { username: 'app', password: 'new' }
    const client = newClient({ host, port, ...login }, { outageMs: 15_000 })
    const refused = new Promise((resolve) => client.once('error', resolve))
    const wait = client.getLock('it').lock()
    await refused
    await server.admin.call('ACL', 'SETUSER', 'app', 'resetpass', '>new')
    await (await wait).release()
  })

  test('the refusal is also emitted as an `error` event, and the client can be closed', async () => {
    const client = newClient({ host: server.host, port: server.port, password: 'wrong' })
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    expect(await refusal(() => client.getLock('it').lock())).toMatchObject({
      code: 'HOLDFAST_REFUSED',
    })
    expect(String(errors)).toMatch(/WRONGPASS/)
    await client.close()
  })
})

describe('a server that is too old', () => {
  test.each(['5.0.14', '6.0.20', '2.8.0'])(
    'a server of version %s is refused, and the error names the version',
    async (version) => {
      const { host, port } = await startFakeServer(([command]) => {
        if (command?.toUpperCase() === 'INFO')
          return bulk(`# Server\r\nredis_version:${version}\r\n`)
        if (command?.toUpperCase() === 'TIME') return `*2\r\n${bulk('1')}${bulk('1')}`
        return `-ERR unknown command \`${command}\`, with args beginning with: \r\n`
      })
      const words = new RegExp(`${version.replaceAll('.', '\\.')}.*6\\.2`)
      await allReject(() => newClient({ host, port }), 'HOLDFAST_UNSUPPORTED_SERVER', words)
    },
  )
})

describe('a server that loads its data', () => {
  const LOADING = '-LOADING Redis is loading the dataset in memory\r\n'

  test('the client waits as long as for an outage, and then reports the words of the server', async () => {
    const { host, port } = await startFakeServer(() => LOADING)
    await allReject(() => newClient({ host, port }), 'HOLDFAST_REFUSED', /LOADING/)
  })

  test('the client uses the server as soon as the data is loaded', async () => {
    let loading = true
    let asked = 0
    const { host, port } = await startFakeServer(([command]) => {
      if (loading) {
        asked += 1
        return LOADING
      }
      if (command?.toUpperCase() === 'INFO') return bulk('redis_version:7.0.0\r\nrun_id:x\r\n')
      if (command?.toUpperCase() === 'EVALSHA') return `*2\r\n${bulk('granted')}${bulk('17')}`
      return '+OK\r\n'
    })
    const client = newClient({ host, port }, { outageMs: 10_000 })
    const wait = client.getLock('it').lock()
    await eventually(() => asked > 3)
    loading = false
    expect((await wait).token).toBe(17)
    // This server gives an invalid answer to every release.
    await client.close()
  })
})

describe('a full server', () => {
  test('a full server refuses new locks with its own words, and accepts last and nested releases', async () => {
    const server = await startRedis()
    const client = newClient({ port: server.port })
    const held = client.getLock('held', { owner: client.owner() })
    const leases = [await held.lock(), await held.lock()]
    await server.admin.config('SET', 'maxmemory', '1')
    const make = () => newClient({ port: server.port }, PATIENT).getLock('it')
    const calls = [() => make().lock(), () => make().tryLock(), () => make().tryLock(800)]
    for (const error of await Promise.all(calls.map(refusal))) {
      expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
      expect(error.message).toMatch(/OOM/)
    }
    expect(await leases[1]?.release()).toBe(true)
    expect(await leases[0]?.release()).toBe(true)
    expect(await server.admin.exists('held')).toBe(0)
    await server.admin.config('SET', 'maxmemory', '0')
    await client.getLock('it').using(() => {})
  })

  test('a full server still renews held locks', async () => {
    const server = await startRedis()
    const client = newClient({ port: server.port }, { leaseMs: 3_600 })
    const both = client.getReadWriteLock('both', { owner: client.owner() })
    const leases = [
      await client.getLock('held').lock(),
      await both.writeLock().lock(),
      await both.readLock().lock(),
    ]
    await server.admin.config('SET', 'maxmemory', '1')
    let renewals = 0
    client.on('renewed', ({ holds }) => {
      renewals += holds
    })
    await eventually(() => renewals >= 4 * leases.length)
    expect(leases.map(({ valid }) => valid)).toEqual([true, true, true])
    for (const lease of leases) expect(await lease.release()).toBe(true)
  })
})

describe('a server that accepts no writes', () => {
  test('a replica refuses calls with its own words', async () => {
    const server = await startRedis()
    await server.admin.replicaof('127.0.0.1', await freePort())
    const make = () => newClient({ port: server.port }, PATIENT).getLock('it')
    const calls = [
      () => make().lock(),
      () => make().tryLock(),
      () => make().tryLock(800),
      () => make().using(() => 'ran'),
    ]
    for (const error of await Promise.all(calls.map(refusal))) {
      expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
      expect(error.message).toMatch(/READONLY/)
    }
  })

  test('the client waits for a replica, and uses it once it is a master', async () => {
    const server = await startRedis()
    await server.admin.replicaof('127.0.0.1', await freePort())
    const lock = newClient({ port: server.port }, { outageMs: 10_000 }).getLock('it')
    const wait = lock.lock()
    await eventually(async () =>
      /errorstat_READONLY:count=[1-9]/.test(await server.admin.info('errorstats')),
    )
    await server.admin.replicaof('NO', 'ONE')
    await (await wait).release()
  })

  test('a server with too few replicas refuses calls with its own words', async () => {
    const server = await startRedis()
    await server.admin.config('SET', 'min-replicas-to-write', '1')
    const error = await refusal(() => newClient({ port: server.port }).getLock('it').lock())
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
    expect(error.message).toMatch(/NOREPLICAS/)
  })
})

describe('a user with limited rights', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  beforeEach(() => server.flush())

  const as = async (...rights: string[]) => {
    await server.admin.acl('SETUSER', 'limited', 'reset', 'on', '>pw', ...rights)
    return newClient(`redis://limited:pw@${server.host}:${server.port}`)
  }

  test('a user without the right to run scripts is refused with the words of the server', async () => {
    const client = await as('~*', '&*', '+@all', '-evalsha', '-eval')
    await allReject(() => client, 'HOLDFAST_REFUSED', /NOPERM.*acl\.md/)
  })

  test('a user without the right to the key is refused, and nothing is written', async () => {
    const client = await as('~other:*', '&*', '+@all')
    await allReject(() => client, 'HOLDFAST_REFUSED', /NOPERM|No permissions/)
    expect(await server.admin.dbsize()).toBe(0)
  })

  test('a user without a right that only scripts need gets an error about rights', async () => {
    const client = await as('~*', '&*', '+@all', '-hset', '-hincrby')
    await expect(client.getLock('it').tryLock()).rejects.toThrow(/acl\.md/)
  })

  test('a user without the right to INFO can acquire locks', async () => {
    const client = await as('~*', '&*', '+@all', '-info')
    await client.getLock('it').using(async () => {
      expect(await server.admin.exists('it')).toBe(1)
    })
    expect(await server.admin.exists('it')).toBe(0)
  })

  test('a user without the right to any channel, the default of Redis 7, leaves no lock behind', async () => {
    const client = await as('~*', 'resetchannels', '+@all')
    const error = await client
      .getLock('it')
      .lock()
      .then((lease) => lease.release())
      .catch((error) => error)
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
    expect(error.message).toMatch(/NOPERM|channel/)
    await eventually(async () => (await server.admin.exists('it')) === 0)
  })
})

describe('a server with too many connections', () => {
  test('the limit of connections causes an error that says so, and no call hangs', async () => {
    const server = await startRedis()
    await server.admin.ping()
    await server.admin.config('SET', 'maxclients', '1')
    const locking = newClient({ port: server.port }).getLock('it').lock()
    const error = await within(NO_HANG_MS, locking).catch((error) => error)
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error.message).toMatch(/max number of clients|EPIPE|ECONNRESET|closed the connection/)
    await server.admin.config('SET', 'maxclients', '100')
  })

  test('`lock()` waits until the server accepts another connection', async () => {
    const server = await startRedis()
    await server.admin.ping()
    await server.admin.config('SET', 'maxclients', '1')
    const client = newClient({ port: server.port }, { outageMs: 15_000 })
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    const wait = client.getLock('it').lock()
    await eventually(() => errors.length >= 2)
    await server.admin.config('SET', 'maxclients', '100')
    await (await wait).release()
  })

  test('a release is repeated until the server accepts another connection', async () => {
    const server = await startRedis()
    const client = newClient({ port: server.port })
    const lock = client.getLock('it')
    await lock.lock()
    await server.admin.config('SET', 'maxclients', '1')
    await server.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await expect(lock.unlock()).rejects.toBeInstanceOf(HoldfastError)
    expect(await server.admin.exists('it')).toBe(1)
    await server.admin.config('SET', 'maxclients', '100')
    await eventually(async () => (await server.admin.exists('it')) === 0)
  })
})

describe('the address of Redis', () => {
  test('the address may be a URL, a host and port, or the path of a socket', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
    atEnd(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'redis.sock')
    const { host, port } = await startRedis({ config: { unixsocket: path } })
    for (const redis of [
      `redis://${host}:${port}/0`,
      `${host}:${port}`,
      `//${host}:${port}`,
      path,
    ]) {
      expect(
        await newClient(redis)
          .getLock('it')
          .using(() => redis),
      ).toBe(redis)
    }
  })

  test('the URL may have a database and a key prefix', async () => {
    const server = await startRedis()
    const client = newClient(`${server.url}/3?keyPrefix=app:`)
    await client.getLock('it').using(async () => {
      await server.admin.select(3)
      expect(await server.admin.exists('app:it')).toBe(1)
      await server.admin.select(0)
      expect(await server.admin.dbsize()).toBe(0)
    })
  })

  test.each(['not a url', 'http://127.0.0.1:6379', 'redis://127.0.0.1:99999'])(
    'the invalid address %p is refused at once',
    (redis) => {
      expect(() => newClient(redis)).toThrow(HoldfastError)
      expect(() => newClient(redis)).toThrow(redis)
    },
  )

  test.each([undefined, null, 5, '', true, [], () => {}])(
    'the value %p is refused at once',
    (redis) => {
      expect(() => newClient(redis as never)).toThrow(/`redis` must be/)
    },
  )
})
