import { EventEmitter } from 'node:events'
import { Cluster, Redis } from 'ioredis'
import { Holdfast, InvalidArgumentError } from '../../src/index.ts'
import { readSource } from '../../src/options/redis-source.ts'

/** A client with those members of node-redis and ioredis-mock that could be confused with ioredis. */
class OtherClient extends EventEmitter {
  readonly options = { socket: { host: 'redis.internal' } }
  duplicate(): this {
    return this
  }
  sendCommand(): void {}
}

const make = (redis: unknown) => () => new Holdfast({ redis } as never)

describe('the option `redis`', () => {
  test.each<[string, unknown, string]>([
    ['a client of another library', new OtherClient(), 'OtherClient'],
    ['an object with duplicate()', { duplicate: () => null, host: 'here' }, 'an object (Object)'],
    ['a Map', new Map([['host', 'redis.internal']]), 'an object (Map)'],
    ['a URL object', new URL('redis://redis.internal'), 'an object (URL)'],
    ['a list', ['redis://redis.internal'], 'an object (Array)'],
    ['a misspelt option', { hosst: 'redis.internal' }, '`hosst`'],
    ['an option of node-redis', { url: 'redis://redis.internal' }, '`url`'],
    ['a cluster without nodes', { cluster: [] }, '`redis`.cluster'],
    ['a cluster of one URL', { cluster: 'redis://a:1' }, 'got "redis://a:1"'],
    ['a node with a database', { cluster: ['redis://a:1/2'] }, 'redis://host:port'],
    ['a node with an option', { cluster: [{ host: 'a', password: 'p' }] }, '`password`'],
    ['a URL with a `%` that escapes nothing', 'redis://:100%@a:1', 'got "redis://***@a:1"'],
    ['a node with such a URL', { cluster: ['redis://:100%@a:1'] }, 'got "redis://***@a:1"'],
    ['a node that is null', { cluster: [null] }, 'got null'],
    ['two logins', { cluster: ['redis://a:1', 'redis://:p@b:1'] }, 'b:1 differs from a:1'],
    [
      'TLS for only some nodes',
      { cluster: ['redis://a:1', 'rediss://b:1'] },
      'b:1 differs from a:1',
    ],
    ['a database of a cluster', { cluster: ['a:1'], db: 1 }, '`db`'],
    ['a misspelt option of a cluster', { cluster: ['a:1'], pasword: 'p' }, '`pasword`'],
    ['invalid Sentinels', { sentinels: 'a:1', name: 'main' }, 'got "a:1"'],
    ['a number', 6379, 'got 6379'],
    ['null', null, 'got null'],
  ])('a value that could mean another server is refused: %s', (_, redis, words) => {
    expect(make(redis)).toThrow(InvalidArgumentError)
    expect(make(redis)).toThrow(words)
    const masters = () => new Holdfast({ masters: ['redis://127.0.0.1:1', redis] } as never)
    expect(masters).toThrow(InvalidArgumentError)
    expect(masters).toThrow(words.replace('`redis`', 'Each of `masters`'))
  })

  test('a URL, options with or without a prototype, and a client of ioredis are accepted', async () => {
    const own = new Redis({ lazyConnect: true })
    const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
    const bare = Object.assign(Object.create(null) as object, { host: '127.0.0.1', port: 1 })
    for (const redis of ['redis://127.0.0.1:1', '/tmp/redis.sock', {}, bare, own, cluster]) {
      await (make(redis)() as Holdfast).close()
    }
  })
})

test('the error for a value without the key `redis` says where the value belongs', () => {
  const given = [new Redis({ lazyConnect: true }), { host: 'redis.internal' }, { url: 'redis://a' }]
  for (const options of given) {
    expect(() => new Holdfast(options as never)).toThrow('client as `redis`: new Holdfast({')
  }
  expect(() => new Holdfast({ redis: 'redis://a', wait: 1 } as never)).toThrow(/heldWarningMs\.$/)
})

test('no error shows a password', () => {
  const url = 'redis://me:secret@a:1/7'
  const isQuiet = /^((?!secret).)*$/s
  expect(make({ cluster: [url] })).toThrow(isQuiet)
  expect(make({ cluster: url })).toThrow(isQuiet)
  expect(make(`h${url}`)).toThrow(isQuiet)
  expect(() => new Holdfast({ masters: url } as never)).toThrow(isQuiet)
  expect(() => new Holdfast(url as never)).toThrow(isQuiet)
})

test('a cluster is refused as one of several masters', () => {
  const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  for (const cluster of [client, { cluster: ['a:1'] }]) {
    expect(() => new Holdfast({ masters: [cluster] } as never)).toThrow('a cluster.')
  }
})

describe('the URLs in a list of servers', () => {
  const nodes = [
    { host: 'a', port: 6379 },
    { host: '::1', port: 7 },
  ]

  test('the URLs of a cluster apply to all nodes, unless an option says otherwise', () => {
    const cluster = ['rediss://app:p%40ss@a', 'rediss://app:p%40ss@[::1]:7']
    expect(readSource({ cluster }, '')).toEqual({
      cluster: nodes,
      username: 'app',
      password: 'p@ss',
      tls: {},
    })
    const tls = { servername: 'locks' }
    expect(readSource({ cluster, tls, password: 'other' }, '')).toMatchObject({
      password: 'other',
      tls,
    })
    expect(readSource({ cluster: ['a', { host: '::1', port: 7 }] }, '')).toEqual({ cluster: nodes })
  })

  test('the URLs of Sentinels apply to the Sentinels, and not to the master', () => {
    const sentinels = ['rediss://:secret@a', 'rediss://:secret@b:7']
    expect(readSource({ sentinels, name: 'main', password: 'p', tls: {} }, '')).toEqual({
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 7 },
      ],
      name: 'main',
      password: 'p',
      sentinelPassword: 'secret',
      sentinelTLS: {},
      tls: {},
      enableTLSForSentinelMode: true,
    })
  })
})
