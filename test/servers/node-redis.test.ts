import { join } from 'node:path'
import * as v5 from 'redis'
import * as v4 from 'redis-4'
import { Holdfast, InvalidArgumentError, type NodeRedisClient } from '../../src/index.ts'
import { startTlsPlace } from '../support/places/tls.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

type Make = (options: object) => NodeRedisClient

let server: RedisServer

beforeAll(async () => {
  server = await startRedis({ config: { unixsocket: 'redis.sock', unixsocketperm: 700 } })
  await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>p@ss', '~*', '&*', '+@all')
  // A connection without this login may run no scripts.
  await server.admin.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval')
})

/** Acquires a lock with a client of node-redis. Returns what the server knows about the connection of Holdfast. */
async function lockWith(redis: NodeRedisClient) {
  const client = new Holdfast({ redis, outageMs: 10_000 })
  client.on('error', () => undefined)
  try {
    const lease = await client.getLock('it').lock()
    const [mine] = String(await server.admin.client('LIST'))
      .split('\n')
      .filter((line) => / cmd=(eval|evalsha|time) /.test(line))
    await lease.release()
    return Object.fromEntries((mine ?? '').split(' ').map((pair) => pair.split('=')))
  } finally {
    await client.close()
  }
}

describe.each<[string, Make, typeof v5]>([
  ['5', v5.createClient as never, v5],
  ['4', v4.createClient as never, v4 as never],
])('a client of node-redis %s', (_, createClient, library) => {
  const login = { username: 'app', password: 'p@ss' }

  test('Holdfast uses the URL of the client, with login and database', async () => {
    const url = `redis://app:p%40ss@${server.host}:${server.port}/3`
    expect(await lockWith(createClient({ url }))).toMatchObject({ user: 'app', db: '3' })
  })

  test('Holdfast uses the socket, the login, the database and the name of the client', async () => {
    const socket = {
      host: server.host,
      port: server.port,
      reconnectStrategy: () => 50,
      connectTimeout: 1_000,
    }
    const redis = createClient({ socket, ...login, database: 2, name: 'mine', pingInterval: 1_000 })
    expect(await lockWith(redis)).toMatchObject({ user: 'app', db: '2', name: 'mine' })
  })

  test("Holdfast uses the path of the client's socket", async () => {
    const redis = createClient({ socket: { path: join(server.folder, 'redis.sock') }, ...login })
    expect(await lockWith(redis)).toMatchObject({ user: 'app', db: '0' })
  })

  test('Holdfast prefers the URL to the other options, as node-redis does', async () => {
    const url = `redis://app:p%40ss@${server.host}:${server.port}`
    const socket = { host: 'no.such.host', port: 1 }
    const redis = createClient({ url, socket, username: 'nobody', password: 'no' })
    expect(await lockWith(redis)).toMatchObject({ user: 'app' })
  })

  test('a client that is connected stays connected', async () => {
    const redis = createClient({ url: server.url, ...login }) as never as v5.RedisClientType
    redis.on('error', () => undefined)
    await redis.connect()
    expect(await lockWith(redis)).toMatchObject({ user: 'app' })
    expect(await redis.ping()).toBe('PONG')
    await redis.disconnect()
  })

  test('Holdfast uses the TLS options of the client', async () => {
    const place = await startTlsPlace()
    const { redis } = place.way() as { redis: { host: string; port: number; tls: object } }
    const { host, port, tls } = redis
    const given = createClient({ socket: { host, port, tls: true, ...tls } })
    const client = new Holdfast({ redis: given })
    expect((await client.getLock('it').lock()).valid).toBe(true)
    await client.close()
  })

  test.each<[string, object, string]>([
    [
      'a provider of credentials',
      {
        credentialsProvider: { type: 'async-credentials-provider', credentials: async () => ({}) },
      },
      '`credentialsProvider`',
    ],
    [
      'credentials that change',
      {
        username: 'app',
        password: 'p',
        credentialsProvider: { type: 'streaming-credentials-provider' },
      },
      '`credentialsProvider`',
    ],
    ['a lookup', { socket: { host: 'a', lookup: () => undefined } }, '`socket.lookup`'],
    [
      'a local address',
      { socket: { host: 'a', localAddress: '10.0.0.1' } },
      '`socket.localAddress`',
    ],
    ['an unknown option', { url: 'redis://a', route: 'elsewhere' }, '`route`'],
    ['a username without a password', { username: 'app' }, 'no `password`'],
  ])('a client with %s is refused, and the error names the option', (_, options, words) => {
    const make = () => new Holdfast({ redis: createClient(options) })
    expect(make).toThrow(InvalidArgumentError)
    expect(make).toThrow(words)
  })

  test('a cluster client is refused, and the error says what to give instead', () => {
    const redis = library.createCluster({ rootNodes: [{ url: server.url }] }) as never
    expect(() => new Holdfast({ redis })).toThrow(/\{ cluster: \[/)
  })

  test('a client may be one of several masters', async () => {
    const masters = [createClient({ url: server.url, ...login })]
    const client = new Holdfast({ masters, newDeployment: true })
    expect((await client.getLock('vote').lock()).valid).toBe(true)
    await client.close()
  })
})

test('clients for Sentinels and pools are refused, and the error says what to give instead', () => {
  const sentinel = v5.createSentinel({
    name: 'main',
    sentinelRootNodes: [{ host: 'a', port: 1 }],
  })
  for (const redis of [sentinel, v5.createClientPool({ url: server.url })]) {
    expect(() => new Holdfast({ redis: redis as never })).toThrow(/\{ sentinels: \[/)
  }
})

test('a client of node-redis without an address is accepted', async () => {
  const redis = v5.createClient()
  expect(() => new Holdfast({ redis })).not.toThrow()
})
