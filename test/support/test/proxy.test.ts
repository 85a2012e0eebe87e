import { Redis, type RedisOptions } from 'ioredis'
import { eventually, never } from '../eventually.ts'
import { atEnd } from '../lifetime.ts'
import { type FaultProxy, startProxy } from '../proxy.ts'
import { sharedServer } from '../redis-server.ts'
import { takes } from '../takes.ts'

type Options = Omit<RedisOptions, 'replyMapping'>

const INCREMENT = 'INCR'

describe.each([{ protocol: 2 }, { protocol: 3 }] as const)(
  'the proxy, RESP$protocol',
  (options) => {
    const server = sharedServer()
    let proxy: FaultProxy

    beforeEach(async () => {
      proxy = await startProxy(server.port)
    })

    const open = (more: Options = {}) => {
      const all: Options = { port: proxy.port, ...options, retryStrategy: () => 5, ...more }
      const client = new Redis({ disconnectTimeout: 20, ...all })
      client.on('error', () => undefined)
      atEnd(() => client.disconnect(), { beforeCheck: true })
      return client
    }
    /** A client whose commands fail if the connection breaks. It does not send them again. */
    const openOneShot = () =>
      open({ autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, commandTimeout: 5_000 })
    const counter = async () => {
      const value = Number(await server.admin.get('n'))
      await server.admin.del('n')
      return value
    }
    const staysPending = async (promise: Promise<unknown>) => {
      let isSettled = false
      const mark = () => {
        isSettled = true
      }
      promise.then(mark, mark)
      await never(() => isSettled, 60)
    }

    test('the proxy passes commands, replies, pipelines, transactions and messages through', async () => {
      const client = open()
      const subscriber = open()
      const messages: string[] = []
      subscriber.on('message', (_, message) => messages.push(message))
      subscriber.on('pmessage', (_, __, message) => messages.push(message))
      await subscriber.subscribe('a', 'b')
      await subscriber.psubscribe('c*')
      const big = 'x'.repeat(300_000)
      expect(await client.echo(big)).toBe(big)
      expect(await client.pipeline().ping().echo('1').exec()).toEqual([
        [null, 'PONG'],
        [null, '1'],
      ])
      expect(await client.multi().echo('2').exec()).toEqual([[null, '2']])
      await client.publish('b', 'to b')
      await client.publish('cc', 'to c')
      await eventually(() => messages.length === 2)
      await subscriber.punsubscribe('c*')
      await subscriber.unsubscribe()
      expect(await subscriber.ping()).toBe('PONG')
      expect(messages).toEqual(['to b', 'to c'])
    })

    test('the proxy counts requests, connections and bytes', async () => {
      const client = open()
      await client.ping()
      await client.ping()
      await client.echo('needle in a stack')
      expect(proxy.count('ping')).toBe(2)
      expect(proxy.count('needle')).toBe(1)
      expect(proxy.count(/^ECHO .*stack$/)).toBe(1)
      expect(proxy.count(({ command }) => command === 'PING', 7)).toBe(0)
      expect(proxy.openConnections).toHaveLength(1)
      expect(proxy.connections[0]?.bytes.toServer).toBeGreaterThan(60)
      client.disconnect()
      await eventually(() => proxy.openConnections.length === 0)
      expect(proxy.connections).toHaveLength(1)
    })

    test('the proxy delays both ways and keeps the order', async () => {
      const client = open()
      await client.ping()
      proxy.delay(30)
      const echoes = () => Promise.all([client.echo('a'), client.echo('b'), client.echo('c')])
      expect(await takes({ atLeast: 60 }, echoes)).toEqual(['a', 'b', 'c'])
    })

    test('the proxy delays one way only, until it is healed', async () => {
      const client = open()
      await client.ping()
      const fault = proxy.delay(60_000, { direction: 'toClient' })
      const increment = client.incr('n')
      await eventually(() => server.admin.exists('n'))
      await staysPending(increment)
      fault.heal()
      expect(await increment).toBe(1)
      await counter()
    })

    test('a black hole accepts and holds everything, and delivers all of it when it is healed', async () => {
      const fault = proxy.blackHole()
      const client = open()
      const increment = client.incr('n')
      await eventually(() => proxy.openConnections.length === 1)
      await staysPending(increment)
      fault.heal()
      expect(await increment).toBe(1)
      expect(await counter()).toBe(1)
    })

    test('a black hole hides that a client has gone', async () => {
      const client = open({ connectionName: 'gone' })
      await client.ping()
      const clients = async () => String(await server.admin.client('LIST')).includes('name=gone')
      const fault = proxy.blackHole()
      client.disconnect()
      await eventually(() => proxy.openConnections.length === 0)
      await never(async () => !(await clients()), 30)
      fault.heal()
      await eventually(async () => !(await clients()))
    })

    test('a black hole that drops loses what it held, and then the connection', async () => {
      const client = openOneShot()
      await client.ping()
      const fault = proxy.blackHole({ direction: 'toServer', onHeal: 'drop' })
      const increment = client.incr('n')
      await eventually(() => proxy.count(INCREMENT) === 1)
      fault.heal()
      await expect(increment).rejects.toThrow()
      expect(await counter()).toBe(0)
      expect(await client.ping().catch(() => eventually(() => client.ping()))).toBe('PONG')
    })

    test('the proxy cuts connections at once, and lets clients connect again', async () => {
      const client = open()
      await client.ping()
      proxy.cut()
      expect(await client.ping()).toBe('PONG')
      expect(proxy.connections).toHaveLength(2)
    })

    test('the proxy refuses new connections and keeps old connections', async () => {
      const old = open()
      await old.ping()
      proxy.refuse()
      const errors: string[] = []
      const late = open().on('error', ({ code }: NodeJS.ErrnoException) =>
        errors.push(String(code)),
      )
      await eventually(() => errors.includes('ECONNREFUSED'))
      expect(await old.ping()).toBe('PONG')
      await proxy.heal()
      expect(await late.ping()).toBe('PONG')
    })

    test('the proxy drops only replies: the server runs the request, messages pass, and healing cuts', async () => {
      const client = openOneShot()
      const subscriber = open()
      const messages: string[] = []
      subscriber.on('message', (_, message) => messages.push(message))
      await subscriber.subscribe('channel')
      await client.ping()
      const fault = proxy.dropReplies()
      const increment = client.incr('n')
      await staysPending(increment)
      await server.admin.publish('channel', 'hello')
      await eventually(() => messages.includes('hello'))
      fault.heal()
      await expect(increment).rejects.toThrow()
      expect(await counter()).toBe(1)
      expect(subscriber.status).toBe('ready')
    })

    test('the proxy cuts before the request reaches the server', async () => {
      const client = openOneShot()
      await client.ping()
      const trap = proxy.onNextRequest(INCREMENT, 'cutBefore')
      await expect(client.incr('n')).rejects.toThrow()
      await trap.done
      expect(await counter()).toBe(0)
    })

    test('the proxy cuts after the server has run the request, and earlier replies pass', async () => {
      const client = openOneShot()
      await client.ping()
      const trap = proxy.onNextRequest(INCREMENT, 'cutAfter')
      const [before, increment, after] = [client.echo('before'), client.incr('n'), client.ping()]
      expect((await trap.seen).args).toEqual(['n'])
      expect(await before).toBe('before')
      await Promise.all([
        expect(increment).rejects.toThrow(),
        expect(after).rejects.toThrow(),
        trap.done,
      ])
      expect(await counter()).toBe(1)
    })

    test('ioredis sends a request again that was cut after the server had run it', async () => {
      const client = open()
      await client.ping()
      proxy.onNextRequest(INCREMENT, 'cutAfter')
      expect(await client.incr('n')).toBe(2)
      expect(proxy.count(INCREMENT)).toBe(2)
      expect(await counter()).toBe(2)
    })

    test('a trap catches the nth request of the given connections', async () => {
      const [first, second] = [open(), open()]
      await first.ping()
      await second.ping()
      const index = proxy.requests.find(({ command }) => command === 'PING')?.connection ?? -1
      const trap = proxy.onNextRequest('ECHO', 'pass', { nth: 2, only: index })
      for (const text of ['1', '2', '3']) {
        await second.echo(text)
        await first.echo(`own ${text}`)
      }
      expect((await trap.seen).args).toEqual(['own 2'])
    })

    test('the proxy mutes a connection from one reply on', async () => {
      const client = openOneShot()
      await client.ping()
      const trap = proxy.onNextRequest(INCREMENT, 'mute')
      const both = [client.incr('n'), client.incr('n')]
      await trap.done
      await eventually(async () => (await server.admin.get('n')) === '2')
      await staysPending(Promise.race(both))
      await Promise.all([...both.map((each) => expect(each).rejects.toThrow()), proxy.heal()])
      expect(await counter()).toBe(2)
    })

    test('the proxy duplicates a request and keeps the stream in step', async () => {
      const client = open()
      await client.ping()
      const trap = proxy.onNextRequest(INCREMENT, 'duplicate')
      const [increment, echo, again] = [client.incr('n'), client.echo('next'), client.incr('n')]
      expect([await increment, await echo, await again]).toEqual([1, 'next', 3])
      await trap.done
      await counter()
    })

    test('the proxy duplicates a subscription and keeps the stream in step', async () => {
      const client = open()
      proxy.onNextRequest('SUBSCRIBE', 'duplicate')
      expect(await client.subscribe('a', 'b')).toBe(2)
      expect(await client.unsubscribe()).toBe(0)
      expect(await client.ping()).toBe('PONG')
    })

    test('the proxy holds a request, and all later requests, before the server', async () => {
      const client = open()
      await client.ping()
      const trap = proxy.onNextRequest(INCREMENT, 'hold')
      const both = [client.incr('n'), client.incr('n')]
      await trap.seen
      await staysPending(Promise.race(both))
      expect(await server.admin.exists('n')).toBe(0)
      trap.release()
      expect(await Promise.all(both)).toEqual([1, 2])
      await counter()
    })

    test('the proxy holds a reply: the server has run the request, and the client does not know', async () => {
      const client = open()
      await client.ping()
      const trap = proxy.onNextRequest(INCREMENT, 'holdReply')
      const increment = client.incr('n')
      await eventually(() => server.admin.exists('n'))
      await staysPending(increment)
      trap.release()
      expect(await increment).toBe(1)
      await trap.done
      await counter()
    })

    test('the proxy replays an earlier request', async () => {
      const client = open()
      await client.incr('n')
      const [request] = proxy.requests.filter(({ command }) => command === INCREMENT)
      if (!request) throw new Error('not seen')
      client.disconnect()
      expect(await proxy.replay(request)).toBe(':2\r\n')
      await counter()
    })

    test('the proxy breaks only the subscriber, or only the other connections', async () => {
      const [client, subscriber] = [open(), open()]
      const messages: string[] = []
      subscriber.on('message', (_, message) => messages.push(message))
      await subscriber.subscribe('channel')
      await client.ping()
      const fault = proxy.blackHole({ only: 'subscriber' })
      expect(await client.publish('channel', 'held')).toBe(1)
      await never(() => messages.length > 0, 30)
      fault.heal()
      await eventually(() => messages.length === 1)
      const others = proxy.blackHole({ only: 'commands' })
      await server.admin.publish('channel', 'through')
      await eventually(() => messages.length === 2)
      await staysPending(client.ping())
      others.heal()
      proxy.cut('subscriber')
      await eventually(() => proxy.connections.length === 3)
      await eventually(async () => {
        await server.admin.publish('channel', 'back')
        return messages.includes('back')
      })
    })

    test('the proxy passes on the end of the server', async () => {
      const client = open()
      await client.ping()
      await server.kill()
      await eventually(() => client.status !== 'ready')
      await server.restart()
      expect(await eventually(() => client.ping())).toBe('PONG')
    })
  },
)
