import {
  admin,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  fields,
  JAVA_QUEUE,
  JAVA_TIMEOUTS,
  LOCK,
  QUEUE,
  server,
  WAITING,
} from '../../lua/run-script.ts'
import { eventually } from '../../support/eventually.ts'
import { atEnd } from '../../support/lifetime.ts'
import {
  ALIVE_MS,
  acquire,
  beat,
  CLAIM_MS,
  contents,
  EXPIRED,
  expectTtl,
  GONE,
  given,
  INBOX,
  LEASE_MS,
  listen,
  mark,
  NOW,
  pass,
  queued,
  release,
  TOKEN,
  ticketOf,
  UNHEARD,
  waiting,
} from './run-fair.ts'

afterEach(() => server.flush())

describe('a release', () => {
  test('frees the lock when no waiter queues, publishes this, and returns the number of listeners', async () => {
    await given({ holder: 'h:1', waiting: { h: mark(1) } })
    const channel = await listen(CHANNEL)
    expect(await release()).toEqual(['freed', 1])
    expect(await channel.heard()).toEqual([[CHANNEL, '0']])
    expect(await contents()).toEqual({ [COUNTER]: String(TOKEN) })
    expect(await release()).toEqual(['gone'])
    expect(await channel.heard()).toEqual([])
  })

  test('returns zero listeners when no client listens', async () => {
    await given({ holder: 'h:1' })
    expect(await release()).toEqual(['freed', 0])
  })

  test('ends the hold whatever the hold count is', async () => {
    await given({ holder: 'h:1' })
    await admin.hset(LOCK, 'h:1', 5)
    expect(await release()).toEqual(['freed', 0])
  })

  test('hands the lock off to the next in the queue for the claim window, and sends one message to that waiter', async () => {
    await given({
      holder: 'h:1',
      queue: ['b:1', 'a:1', 'b:2'],
      waiting: { a: mark(1), b: mark(1) },
    })
    const inboxes = await listen(`${INBOX}a`, `${INBOX}b`, `${INBOX}h`, CHANNEL)
    expect(await release()).toEqual(['granted', 'b:1', String(NOW)])
    expect(await inboxes.heard()).toEqual([[`${INBOX}b`, `${NOW} b:1 ${LOCK}`]])
    expect(await contents()).toEqual({
      [LOCK]: { 'b:1': '1' },
      [COUNTER]: String(NOW),
      [QUEUE]: ['a:1', String(ticketOf(1)), 'b:2', String(ticketOf(2))],
      [WAITING]: { a: mark(1), b: mark(1) },
    })
    await expectTtl(LOCK, CLAIM_MS)
    await expectTtl(COUNTER, COUNTER_MS)
  })

  test('hands the lock off in order until the queue is empty, and leaves no key but the counter', async () => {
    const owners = ['c:1', 'a:1', 'a:2', 'b:1', 'c:2']
    await given({ holder: 'h:1' })
    for (const owner of owners) {
      await acquire({ owner })
      pass(1)
    }
    let [holder, token]: [string, string | number] = ['h:1', TOKEN]
    const order: string[] = []
    for (;;) {
      const [kind, next, nextToken] = await release({ owner: holder, token })
      if (kind === 'freed') break
      expect(Number(nextToken)).toBeGreaterThan(Number(token))
      order.push(String(next))
      ;[holder, token] = [String(next), nextToken as string]
    }
    expect(order).toEqual(owners)
    expect(Object.keys(await contents())).toEqual([COUNTER])
  })

  test('the sign of life of the last waiter is deleted when that waiter releases the lock', async () => {
    await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(0) } })
    await release()
    expect(Object.keys(await contents())).toEqual([WAITING, LOCK, COUNTER])
    expect(await release({ owner: 'a:1', token: NOW })).toEqual(['freed', 0])
    expect(Object.keys(await contents())).toEqual([COUNTER])
  })

  test('publishes a free lock on a sharded channel with `SPUBLISH`, but a grant on the inbox', async () => {
    if ((await admin.info('server')).includes('redis_version:6.')) return
    const heard: [string, string][] = []
    const client = admin.duplicate()
    atEnd(() => client.disconnect(), { beforeCheck: true })
    client.on('smessage', (channel, message) => heard.push([channel, message]))
    await client.ssubscribe(CHANNEL)
    const inbox = await listen(`${INBOX}a`, CHANNEL)
    await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(1) } })
    await release({ publish: 'SPUBLISH' })
    expect(await inbox.heard()).toEqual([[`${INBOX}a`, `${NOW} a:1 ${LOCK}`]])
    expect(await release({ owner: 'a:1', token: NOW, publish: 'SPUBLISH' })).toEqual(['freed', 1])
    await eventually(() => heard.length > 0)
    expect(heard).toEqual([[CHANNEL, '0']])
    expect(await inbox.heard()).toEqual([])
  })

  test('needs the token of the hold: an older or newer token releases nothing', async () => {
    await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(1) } })
    const then = await contents()
    for (const token of [TOKEN - 1, TOKEN + 1]) expect(await release({ token })).toEqual(['gone'])
    expect(await contents()).toEqual(then)
  })

  test('needs the owner of the hold: another owner releases nothing', async () => {
    await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(1), 'a:1': 7 } })
    const then = await contents()
    for (const owner of ['a:1', 'h:2', 'h']) expect(await release({ owner })).toEqual(['gone'])
    expect(await release({ owner: 'h:2', token: '' })).toEqual(['gone'])
    expect(await contents()).toEqual(then)
  })

  test('a release that runs twice does not end the next hold, even of the same owner', async () => {
    await given({ holder: 'h:1', queue: ['a:1', 'h:1'], waiting: { a: mark(0), h: mark(0) } })
    await release()
    const then = await contents()
    expect(await release()).toEqual(['gone'])
    expect(await contents()).toEqual(then)
    // It also does not end a later hold of the same owner.
    await release({ owner: 'a:1', token: NOW })
    expect(await fields()).toEqual({ 'h:1': '1' })
    expect(await release()).toEqual(['gone'])
    expect(await fields()).toEqual({ 'h:1': '1' })
  })

  test('works although the counter was lost, and the next token is greater than the token of the release', async () => {
    await given({ holder: 'h:1', token: null, queue: ['a:1'], waiting: { a: mark(0) } })
    expect(await release({ token: NOW + 7 })).toEqual(['granted', 'a:1', String(NOW + 8)])
    expect(await admin.get(COUNTER)).toBe(String(NOW + 8))
  })

  test('gives rising tokens when the clock is behind', async () => {
    await given({
      holder: 'h:1',
      token: NOW + 7,
      queue: ['a:1', 'b:1'],
      waiting: { a: mark(0), b: mark(0) },
    })
    expect(await release({ token: NOW + 7 })).toEqual(['granted', 'a:1', String(NOW + 8)])
    pass(-60_000)
    expect(await release({ owner: 'a:1', token: NOW + 8 })).toEqual([
      'granted',
      'b:1',
      String(NOW + 9),
    ])
  })

  test('sends no message to its own client, because that client reads the reply', async () => {
    await given({ holder: 'h:1', queue: ['h:2', 'a:1'], waiting: { h: mark(1), a: mark(1) } })
    const inboxes = await listen(`${INBOX}h`, `${INBOX}a`, CHANNEL)
    expect(await release()).toEqual(['granted', 'h:2', String(NOW)])
    expect(await fields()).toEqual({ 'h:2': '1' })
    await expectTtl(LOCK, CLAIM_MS)
    expect(await inboxes.heard()).toEqual([])
  })

  test.each([
    ['whose subscription is cut', { h: GONE }],
    ['whose heartbeat had stopped', { h: EXPIRED }],
    ['of which nothing is known', {}],
  ] as [string, { h?: () => string }][])(
    'does not pass over its own client, %s, because a client that releases a lock is alive',
    async (_, { h }) => {
      await given({
        holder: 'h:1',
        queue: ['h:2', 'a:1'],
        waiting: { a: mark(1), ...(h ? { h: h() } : {}) },
      })
      expect(await release()).toEqual(['granted', 'h:2', String(NOW)])
    },
  )
})

describe('a shorter claim window', () => {
  test('counts once, for its owner alone', async () => {
    const aShort = 20_000
    await given({ holder: 'h:1' })
    await acquire({ owner: 'a:1', leaseMs: aShort })
    await acquire({ owner: 'a:2', leaseMs: LEASE_MS })
    await release()
    expect(await fields()).toEqual({ 'a:1': '1' })
    await expectTtl(LOCK, aShort)
    expect(await waiting()).toEqual({ a: mark(0) })
    await release({ owner: 'a:1', token: '' })
    expect(await fields()).toEqual({ 'a:2': '1' })
    await expectTtl(LOCK, CLAIM_MS)
  })

  test('does not outlive the place of its owner', async () => {
    await given({ holder: 'h:1' })
    await acquire({ owner: 'b:1' })
    await acquire({ owner: 'a:1', leaseMs: 20_000 })
    await release({ owner: 'a:1', token: '' })
    expect(await waiting()).not.toHaveProperty('a:1')

    // The same holds if the owner requested the lock itself and no other client granted it.
    await acquire({ owner: 'a:1', leaseMs: 20_000 })
    await release({ owner: 'b:1', token: '' })
    await admin.del(LOCK)
    const [, token] = await acquire({ owner: 'a:1', leaseMs: 20_000, ticket: NOW + 1 })
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect(await waiting()).not.toHaveProperty('a:1')
    await acquire({ owner: 'b:1' })
    await release({ owner: 'a:1', token: token as string })
    await acquire({ owner: 'a:1' })
    await release({ owner: 'b:1', token: '' })
    expect(await fields()).toEqual({ 'a:1': '1' })
    await expectTtl(LOCK, CLAIM_MS)
  })
})

describe('the next in the queue', () => {
  test.each([
    ['of which nothing is known', undefined],
    ['whose heartbeat has stopped', EXPIRED],
    ['that no longer listens', GONE],
  ] as const)(
    'a client %s is passed over, with its places up to the next living waiter',
    async (_, known) => {
      await given({
        holder: 'h:1',
        queue: ['d:1', 'd:2', 'a:1', 'd:3', 'b:1'],
        waiting: {
          a: mark(0),
          b: mark(0),
          'd:1': 9,
          'd:3': 9,
          ...(known ? { d: known() } : {}),
        },
      })
      expect(await release()).toEqual(['granted', 'a:1', String(NOW)])
      expect(await fields()).toEqual({ 'a:1': '1' })
      await expectTtl(LOCK, CLAIM_MS)
      expect(await waiting()).toEqual({ a: mark(0), b: mark(0), 'd:3': '9' })
      expect(await queued()).toEqual(['d:3', 'b:1'])
      expect(await release({ owner: 'a:1', token: NOW })).toEqual([
        'granted',
        'b:1',
        String(NOW + 1),
      ])
      expect(await waiting()).toEqual({ a: mark(0), b: mark(0) })
      expect(await queued()).toEqual([])
    },
  )

  test('a client that is passed over receives no message, even if it could', async () => {
    await given({ holder: 'h:1', queue: ['d:1', 'a:1'], waiting: { d: GONE(), a: mark(0) } })
    // The server does not count a subscription by pattern, or a listener at another node.
    const heard: string[] = []
    const client = admin.duplicate()
    atEnd(() => client.disconnect(), { beforeCheck: true })
    client.on('pmessage', (_, __, message) => heard.push(message))
    await client.psubscribe(`${INBOX}*`)
    expect((await release()).slice(0, 2)).toEqual(['granted', 'a:1'])
    await eventually(() => heard.length > 0)
    expect(heard).toEqual([`${NOW} a:1 ${LOCK}`])
  })

  test('a client that has never listened yet is not passed over', async () => {
    await given({ holder: 'h:1', queue: ['d:1', 'a:1'], waiting: { d: UNHEARD(), a: mark(0) } })
    expect(await release()).toEqual(['granted', 'd:1', String(NOW)])
  })

  test('a client that has never listened yet is passed over after its heartbeat stops', async () => {
    await given({ holder: 'h:1', queue: ['d:1', 'a:1'], waiting: { d: mark(0), a: mark(0) } })
    pass(ALIVE_MS)
    await admin.hset(WAITING, 'a', mark(0))
    expect(await release()).toEqual(['granted', 'd:1', String(NOW + ALIVE_MS * 1_000)])
    await server.flush()

    await given({ holder: 'h:1', queue: ['d:1', 'a:1'], waiting: { d: mark(0), a: mark(0) } })
    pass(ALIVE_MS + 1)
    await admin.hset(WAITING, 'a', mark(0))
    expect((await release()).slice(0, 2)).toEqual(['granted', 'a:1'])
  })

  test('if all waiters are dead, the lock is free, listeners receive a message, and no key of the queue stays', async () => {
    await given({
      holder: 'h:1',
      queue: ['d:1', 'e:1', 'e:2', 'f:1'],
      waiting: { d: EXPIRED(), e: GONE(), h: mark(1), 'e:1': 7, 'e:2': 7 },
    })
    const channel = await listen(CHANNEL)
    expect(await release()).toEqual(['freed', 1])
    expect(await channel.heard()).toEqual([[CHANNEL, '0']])
    expect(Object.keys(await contents())).toEqual([COUNTER])
  })

  test('a heartbeat puts a waiter that was passed over by mistake back at the head', async () => {
    await given({ holder: 'h:1', queue: ['d:1', 'd:2', 'a:1', 'b:1'], waiting: { d: GONE() } })
    await admin.hset(WAITING, 'a', mark(0), 'b', mark(0))
    await release()
    expect(await fields()).toEqual({ 'a:1': '1' })
    const places: [string, number][] = [
      ['d:1', ticketOf(0)],
      ['d:2', ticketOf(1)],
    ]
    const [, last, first, granted] = await beat(places, { client: 'd' })
    expect([last, first, granted]).toEqual([String(NOW), 'd:1', ''])
    expect(await queued()).toEqual(['d:1', 'd:2', 'b:1'])
    expect((await release({ owner: 'a:1', token: NOW })).slice(0, 2)).toEqual(['granted', 'd:1'])
  })
})

describe('a waiter that leaves', () => {
  test('gives up its place and its claim window, and changes nothing else', async () => {
    await given({
      holder: 'h:1',
      queue: ['a:1', 'b:1', 'a:2'],
      waiting: { a: mark(1), b: mark(1), 'a:1': 7, 'a:2': 8 },
    })
    const listener = await listen(CHANNEL, `${INBOX}a`, `${INBOX}b`)
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['gone'])
    const then = await contents()
    expect(then).toEqual({
      [LOCK]: { 'h:1': '1' },
      [COUNTER]: String(TOKEN),
      [QUEUE]: ['b:1', String(ticketOf(1)), 'a:2', String(ticketOf(2))],
      [WAITING]: { a: mark(1), b: mark(1), 'a:2': '8' },
    })
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['gone'])
    expect(await contents()).toEqual(then)
    expect(await listener.heard()).toEqual([])
  })

  test('the last waiter that leaves deletes the keys of the queue', async () => {
    await given({ holder: 'h:1' })
    await acquire({ owner: 'a:1', leaseMs: 7 })
    await acquire({ owner: 'b:1' })
    for (const owner of ['a:1', 'b:1']) await release({ owner, token: '' })
    expect(Object.keys(await contents())).toEqual([LOCK, COUNTER])
  })

  test('a waiter whose claim window is over leaves no key of the queue behind', async () => {
    await given({ holder: 'h:1' })
    await acquire()
    await release()
    expect(await fields()).toEqual({ 'a:1': '1' })
    await admin.del(LOCK)
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['gone'])
    expect(Object.keys(await contents())).toEqual([COUNTER])
  })

  test('a waiter that leaves with the lock hands it off without a token, and the next waiter gets a message', async () => {
    await given({ holder: 'a:1', queue: ['a:2', 'b:1'], waiting: { a: mark(1), b: mark(1) } })
    const inboxes = await listen(`${INBOX}a`, `${INBOX}b`, CHANNEL)
    // No caller reads the reply, so the owner's client receives a message, too.
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['granted', 'a:2', String(NOW)])
    expect(await inboxes.heard()).toEqual([[`${INBOX}a`, `${NOW} a:2 ${LOCK}`]])
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['gone'])
    expect(await fields()).toEqual({ 'a:2': '1' })
  })

  test('a waiter that leaves with the lock frees it when no other waiter queues', async () => {
    await given({ holder: 'a:1', waiting: { a: mark(1), 'a:1': 7 } })
    const channel = await listen(CHANNEL)
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['freed', 1])
    expect(await channel.heard()).toEqual([[CHANNEL, '0']])
    expect(Object.keys(await contents())).toEqual([COUNTER])
  })

  test('a waiter that leaves with the lock and a place loses both', async () => {
    await given({ holder: 'a:1', queue: ['a:1', 'b:1'], waiting: { a: mark(0), b: mark(0) } })
    expect((await release({ owner: 'a:1', token: '' })).slice(0, 2)).toEqual(['granted', 'b:1'])
    expect(await queued()).toEqual([])
  })

  test('the hand-off has a new token even when the counter was lost', async () => {
    await given({ holder: 'a:1', token: null, queue: ['b:1'], waiting: { b: mark(0) } })
    expect(await release({ owner: 'a:1', token: '' })).toEqual(['granted', 'b:1', String(NOW)])
  })
})

describe("the waiters of Redisson's fair lock", () => {
  const java = async (timeouts: Record<string, number>, queue = Object.keys(timeouts)) => {
    await admin.rpush(JAVA_QUEUE, ...queue)
    for (const [owner, diesAt] of Object.entries(timeouts)) {
      if (diesAt > 0) await admin.zadd(JAVA_TIMEOUTS, diesAt, owner)
    }
    // Redisson gives these keys no TTL.
    await admin.pexpire(JAVA_QUEUE, 600_000)
    await admin.pexpire(JAVA_TIMEOUTS, 600_000)
  }
  const channelOf = (owner: string) => `${CHANNEL}:${owner}`
  const all = ['j:1', 'j:2', 'j:3'].map(channelOf)
  const nowMs = NOW / 1_000

  test.each([
    ['the first waiter', { 'j:1': nowMs + 1, 'j:2': nowMs + 1 }, 'j:1'],
    ['the first living waiter', { 'j:1': nowMs, 'j:2': nowMs - 1, 'j:3': nowMs + 1 }, 'j:3'],
    ['a waiter whose timeout is not known', { 'j:1': nowMs, 'j:2': 0, 'j:3': nowMs + 1 }, 'j:2'],
    ['no waiter when all are dead', { 'j:1': nowMs, 'j:2': nowMs - 1 }, null],
  ] as [string, Record<string, number>, string | null][])(
    'receive a message about a free lock: %s; and their keys stay unchanged',
    async (_, timeouts, told) => {
      await given({ holder: 'h:1' })
      await java(timeouts)
      const then = await contents()
      const listener = await listen(CHANNEL, ...all)
      expect(await release()).toEqual(['freed', 1])
      expect(await listener.heard()).toEqual([
        ...(told === null ? [] : [[channelOf(told), '0']]),
        [CHANNEL, '0'],
      ])
      const { [LOCK]: _gone, ...rest } = then
      expect(await contents()).toEqual(rest)
    },
  )

  test('a living waiter behind ninety-nine dead waiters receives the message, but a waiter behind a hundred does not', async () => {
    const dead = Array.from({ length: 99 }, (_, i) => `d:${i}`)
    await java({ 'j:1': nowMs + 1 }, [...dead, 'j:1'])
    await admin.zadd(JAVA_TIMEOUTS, ...dead.flatMap((owner) => [1, owner]))
    const listener = await listen(...all)
    await given({ holder: 'h:1' })
    await release()
    expect(await listener.heard()).toEqual([[channelOf('j:1'), '0']])

    await admin.lpush(JAVA_QUEUE, 'd:0')
    await given({ holder: 'h:1' })
    await release()
    expect(await listener.heard()).toEqual([])
  })

  test.each([JAVA_QUEUE, JAVA_TIMEOUTS])(
    'do not stop a release when %s has another type',
    async (key) => {
      await given({ holder: 'h:1' })
      await java({ 'j:1': nowMs + 1 })
      await admin.del(key)
      await admin.set(key, 'precious', 'PX', 60_000)
      const listener = await listen(CHANNEL)
      expect(await release()).toEqual(['freed', 1])
      expect(await listener.heard()).toEqual([[CHANNEL, '0']])
      expect(await admin.get(key)).toBe('precious')
    },
  )

  test('receive no message about a hand-off, or about a waiter that leaves', async () => {
    await given({ holder: 'h:1', queue: ['a:1', 'b:1'], waiting: { a: mark(0) } })
    await java({ 'j:1': nowMs + 1 })
    const listener = await listen(CHANNEL, ...all)
    await release({ owner: 'b:1', token: '' })
    await release()
    await release()
    expect(await listener.heard()).toEqual([])
    await release({ owner: 'a:1', token: '' })
    expect(await listener.heard()).toEqual([
      [channelOf('j:1'), '0'],
      [CHANNEL, '0'],
    ])
  })
})

describe('many dead clients', () => {
  const dead = (count: number) => Array.from({ length: count }, (_, i) => `d${i}:1`)

  test('one release passes over a thousand dead clients', async () => {
    await given({ holder: 'h:1', queue: [...dead(1_000), 'a:1'], waiting: { a: mark(0) } })
    await admin.hset(WAITING, Object.fromEntries(dead(1_000).map((_, i) => [`d${i}`, GONE()])))
    expect(await release()).toEqual(['granted', 'a:1', String(NOW)])
    expect(await queued()).toEqual([])
    expect(await waiting()).toEqual({ a: mark(0) })
  })

  test('more than two thousand places of dead clients need more than one call, and each call continues', async () => {
    await given({ holder: 'h:1', queue: [...dead(4_500), 'a:1'], waiting: { a: mark(0) } })
    const channel = await listen(CHANNEL)
    expect(await release()).toEqual(['freed', 1])
    expect(await channel.heard()).toEqual([[CHANNEL, '0']])
    const left = await admin.zcard(QUEUE)
    expect(left).toBeGreaterThan(2_400)
    expect(left).toBeLessThan(2_600)
    expect(await waiting()).toEqual({ a: mark(0) })
    expect((await acquire({ owner: 'b:1', ticket: 'try' }))[0]).toBe('held')
    expect(await admin.exists(LOCK)).toBe(0)
    expect(await admin.zcard(QUEUE)).toBeLessThan(600)
    const place: [string, number][] = [['a:1', ticketOf(4_500)]]
    expect((await beat(place)).slice(1)).toEqual([String(NOW), '', 'a:1'])
  })
})
