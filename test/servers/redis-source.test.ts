import { EventEmitter } from 'node:events'
import { Cluster, Redis } from 'ioredis'
import { Holdfast, InvalidArgumentError } from '../../src/index.ts'

/** As much of a client of node-redis, or of ioredis-mock, as could be taken for one of ioredis. */
class OtherClient extends EventEmitter {
  readonly options = { socket: { host: 'redis.internal' } }
  duplicate(): this {
    return this
  }
  sendCommand(): void {}
}

const make = (redis: unknown) => () => new Holdfast({ redis } as never)

describe('what is given as `redis`', () => {
  test.each<[string, unknown, string]>([
    ['a client of another library', new OtherClient(), 'OtherClient'],
    ['an object with duplicate()', { duplicate: () => null, host: 'here' }, 'an object (Object)'],
    ['a Map', new Map([['host', 'redis.internal']]), 'an object (Map)'],
    ['a URL object', new URL('redis://redis.internal'), 'an object (URL)'],
    ['a list', ['redis://redis.internal'], 'an object (Array)'],
    ['a misspelt option', { hosst: 'redis.internal' }, '`hosst`'],
    ['an option of node-redis', { url: 'redis://redis.internal' }, '`url`'],
    ['a number', 6379, 'got 6379'],
    ['null', null, 'got null'],
  ])('is refused, for it would be another server: %s', (_, redis, words) => {
    expect(make(redis)).toThrow(InvalidArgumentError)
    expect(make(redis)).toThrow(words)
    const masters = () => new Holdfast({ masters: ['redis://127.0.0.1:1', redis] } as never)
    expect(masters).toThrow(InvalidArgumentError)
    expect(masters).toThrow(words)
  })

  test('is taken as a URL, as options with or without a prototype, and as a client of ioredis', async () => {
    const own = new Redis({ lazyConnect: true })
    const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
    const bare = Object.assign(Object.create(null) as object, { host: '127.0.0.1', port: 1 })
    for (const redis of ['redis://127.0.0.1:1', '/tmp/redis.sock', {}, bare, own, cluster]) {
      await (make(redis)() as Holdfast).close()
    }
  })
})

test('a client of a cluster is no master of several', () => {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  expect(() => new Holdfast({ masters: [cluster] } as never)).toThrow('a client of a cluster')
})
