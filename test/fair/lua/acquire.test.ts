import {
  admin,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  fields,
  LOCK,
  NEVER,
  nowUs,
  QUEUE,
  run,
  server,
  WAITING,
} from '../../lua/run-script.ts'
import * as scripts from '../../support/scripts.ts'
import {
  ALIVE_MS,
  acquire,
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
  TOKEN,
  ticketOf,
  UNHEARD,
  waiting,
} from './run-fair.ts'

afterEach(() => server.flush())

const LOST = { token: null }

describe('a free lock', () => {
  test.each(['', String(ticketOf(0)), 'try'])(
    'is acquired for the lease, with a token from the clock of the server, by ticket "%s"',
    async (ticket) => {
      expect(await acquire({ ticket })).toEqual(['granted', String(NOW)])
      expect(await contents()).toEqual({ [LOCK]: { 'a:1': '1' }, [COUNTER]: String(NOW) })
      await expectTtl(LOCK, LEASE_MS)
      await expectTtl(COUNTER, LEASE_MS)
    },
  )

  test('the real clock of the server gives the token', async () => {
    const before = await nowUs()
    const [kind, token] = (await run(scripts.acquireFair, {
      owner: 'a:1',
      leaseMs: LEASE_MS,
      ticket: '',
      notAfterUs: NEVER,
      listens: '',
      label: '',
      counterMs: COUNTER_MS,
      claimMs: CLAIM_MS,
      aliveMs: ALIVE_MS,
      inbox: INBOX,
      channel: CHANNEL,
      publish: 'PUBLISH',
    })) as [string, string]
    expect(kind).toBe('granted')
    expect(Number(token)).toBeGreaterThanOrEqual(before)
    expect(Number(token)).toBeLessThanOrEqual(await nowUs())
  })

  test('has a token greater than the last token, even when the clock is behind', async () => {
    await given({ token: NOW + 5 })
    expect(await acquire()).toEqual(['granted', String(NOW + 6)])
    expect(await admin.get(COUNTER)).toBe(String(NOW + 6))
  })

  test('the first in the queue acquires the lock with its own lease when it requests the lock, without a message', async () => {
    await given({ queue: ['a:1', 'b:1'], waiting: { a: mark(1), b: mark(1) } })
    const inboxes = await listen(`${INBOX}a`, `${INBOX}b`, CHANNEL)
    expect(await acquire({ ticket: ticketOf(0) })).toEqual(['granted', String(NOW)])
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect(await queued()).toEqual(['b:1'])
    await expectTtl(LOCK, LEASE_MS)
    expect(await inboxes.heard()).toEqual([])
  })

  test('a new request grants the lock to the first in the queue with a message, and queues behind it', async () => {
    await given({ queue: ['b:1', 'c:1'], waiting: { b: mark(1), c: mark(1) } })
    const inboxes = await listen(`${INBOX}b`, `${INBOX}c`, CHANNEL)
    const [kind, ticket, last, ttlMs, first] = await acquire()
    expect([kind, ticket, last, first]).toEqual(['queued', String(NOW), String(NOW), 0])
    expect(ttlMs).toBeLessThanOrEqual(CLAIM_MS)
    expect(ttlMs).toBeGreaterThan(CLAIM_MS * 0.75)
    await expectTtl(LOCK, CLAIM_MS)
    expect(await fields()).toEqual({ 'b:1': '1' })
    expect(await queued()).toEqual(['c:1', 'a:1'])
    expect(await admin.get(COUNTER)).toBe(String(NOW))
    await expectTtl(COUNTER, COUNTER_MS)
    expect(await inboxes.heard()).toEqual([[`${INBOX}b`, `${NOW} b:1 ${LOCK}`]])
  })

  test('a request grants the lock to the first in the queue of its own client too, with a message', async () => {
    await given({ queue: ['a:1', 'a:2'], waiting: { a: mark(1) } })
    const inbox = await listen(`${INBOX}a`)
    expect((await acquire({ owner: 'a:2' })).slice(0, 3)).toEqual([
      'queued',
      String(ticketOf(1)),
      String(NOW),
    ])
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect(await inbox.heard()).toEqual([[`${INBOX}a`, `${NOW} a:1 ${LOCK}`]])
  })

  test.each([
    ['whose subscription is cut', { a: GONE }],
    ['whose heartbeat had stopped', { a: EXPIRED }],
    ['of which nothing is known', {}],
  ] as [string, { a?: () => string }][])(
    'goes to the first waiter of the same client, %s, because a client that requests a lock is alive',
    async (_, { a }) => {
      await given({
        queue: ['a:1', 'b:1', 'a:2'],
        waiting: { b: mark(0), ...(a ? { a: a() } : {}) },
      })
      expect((await acquire({ owner: 'a:2' })).slice(0, 2)).toEqual(['queued', String(ticketOf(2))])
      expect(await fields()).toEqual({ 'a:1': '1' })
      expect(await queued()).toEqual(['b:1', 'a:2'])
    },
  )

  test('a request that grants the lock to the only waiter becomes the head of the queue itself', async () => {
    await given({ queue: ['b:1'], waiting: { b: UNHEARD() } })
    expect((await acquire())[4]).toBe(1)
    expect(await queued()).toEqual(['a:1'])
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    await expectTtl(WAITING, 2 * ALIVE_MS)
  })

  test('a try without waiting gets nothing while a living waiter queues, and grants the lock to that waiter', async () => {
    await given({ queue: ['b:1'], waiting: { b: UNHEARD() } })
    const [kind, ttlMs, ...more] = await acquire({ ticket: 'try' })
    expect([kind, ...more]).toEqual(['held', 'b:1', 0, 0])
    expect(ttlMs).toBeLessThanOrEqual(CLAIM_MS)
    expect(ttlMs).toBeGreaterThan(CLAIM_MS * 0.75)
    expect(await fields()).toEqual({ 'b:1': '1' })
    expect(await queued()).toEqual([])
  })

  test.each([
    ['of which nothing is known', {}],
    ['whose heartbeat has stopped', { b: EXPIRED }],
    ['that no longer listens', { b: GONE }],
    ['with an unreadable mark', { b: () => 'precious' }],
  ] as [string, Record<string, () => string>][])(
    'is granted to the new request when only a client %s queues, and that client loses all its places',
    async (_, marks) => {
      for (const ticket of ['', 'try']) {
        const known = Object.entries(marks).map(([client, known]) => [client, known()])
        await given({
          queue: ['b:1', 'b:2'],
          waiting: { ...Object.fromEntries(known), 'b:2': 5_000, z: mark(1) },
        })
        const [kind, token] = await acquire({ ticket })
        expect([kind, token]).toEqual(['granted', String(NOW)])
        expect(await fields()).toEqual({ 'a:1': '1' })
        await expectTtl(LOCK, LEASE_MS)
        expect(await queued()).toEqual([])
        expect(await waiting()).toEqual({ z: mark(1) })
        await server.flush()
      }
    },
  )
})

test('two thousand places of dead clients do not keep a try from a free lock', async () => {
  await given({ queue: Array.from({ length: 2_000 }, (_, i) => `d${i}:1`) })
  expect((await acquire({ ticket: 'try' }))[0]).toBe('granted')
  expect(await queued()).toEqual([])
})

test('more than two thousand places of dead clients need more than one call', async () => {
  await given({ queue: Array.from({ length: 4_100 }, (_, i) => `d${i}:1`) })
  expect(await acquire({ ticket: 'try' })).toEqual(['held', 0, '', expect.any(Number), 2_099])
  const queued = ['queued', expect.any(String), String(TOKEN), 0, 0, '', expect.any(Number)]
  expect(await acquire()).toEqual([...queued, 99])
  expect(await acquire()).toEqual(['granted', String(NOW)])
})

describe('a lock that another owner holds', () => {
  test('a request makes a place, a sign of life, and a TTL for both', async () => {
    await given({ holder: 'h:1' })
    const [kind, ticket, last, ttlMs, first] = await acquire({ label: 'shop 7 of 9' })
    expect([kind, ticket, last, first]).toEqual(['queued', String(NOW), String(TOKEN), 1])
    expect(ttlMs).toBeLessThanOrEqual(LEASE_MS)
    expect(ttlMs).toBeGreaterThan(LEASE_MS * 0.75)
    expect(await contents()).toEqual({
      [LOCK]: { 'h:1': '1' },
      [COUNTER]: String(TOKEN),
      [QUEUE]: ['a:1', String(NOW)],
      [WAITING]: { a: mark(0, ALIVE_MS, 'shop 7 of 9') },
    })
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    await expectTtl(WAITING, 2 * ALIVE_MS)
    await expectTtl(LOCK, LEASE_MS)
  })

  test('the queue has the order of the requests, and each answer says whether the place is the first', async () => {
    await given({ holder: 'h:1' })
    const firsts: unknown[] = []
    for (const owner of ['c:1', 'a:2', 'b:1', 'a:1']) {
      firsts.push((await acquire({ owner }))[4])
      pass(1)
    }
    expect(firsts).toEqual([1, 0, 0, 0])
    expect(await queued()).toEqual(['c:1', 'a:2', 'b:1', 'a:1'])
  })

  test('tickets rise while the clock stands still, and when the clock steps back', async () => {
    await given({ holder: 'h:1' })
    const tickets: unknown[] = []
    for (const owner of ['c:1', 'b:1', 'a:1']) tickets.push((await acquire({ owner }))[1])
    pass(-3_600_000)
    for (const owner of ['f:1', 'e:1']) tickets.push((await acquire({ owner }))[1])
    pass(3_600_001)
    tickets.push((await acquire({ owner: 'd:1' }))[1])
    expect(tickets).toEqual([0, 1, 2, 3, 4, 1_000].map((more) => String(NOW + more)))
    expect(await queued()).toEqual(['c:1', 'b:1', 'a:1', 'f:1', 'e:1', 'd:1'])
  })

  test('a repeated request keeps its ticket, whatever ticket it sends', async () => {
    await given({ holder: 'h:1' })
    await acquire()
    await acquire({ owner: 'b:1' })
    const then = await contents()
    pass(10)
    for (const ticket of ['', NOW, NOW + 77]) {
      const [kind, given, last, , first] = await acquire({ ticket })
      expect([kind, given, last, first]).toEqual(['queued', String(NOW), String(TOKEN), 1])
      const second = await acquire({ owner: 'b:1', ticket })
      expect([second[1], second[4]]).toEqual([String(NOW + 1), 0])
    }
    expect((await contents())[QUEUE]).toEqual(then[QUEUE])
  })

  test('waiters that lost their places get them back in the order of their tickets', async () => {
    await given({ holder: 'h:1' })
    pass(1_000)
    expect((await acquire({ owner: 'c:1' }))[4]).toBe(1)
    expect((await acquire({ owner: 'b:1', ticket: NOW - 5 })).slice(1)).toEqual([
      String(NOW - 5),
      String(TOKEN),
      expect.any(Number),
      1,
      'h:1',
      10_000,
      '',
    ])
    expect((await acquire({ owner: 'a:1', ticket: NOW - 7 }))[4]).toBe(1)
    expect((await acquire({ owner: 'd:1', ticket: NOW - 6 }))[4]).toBe(0)
    expect(await queued()).toEqual(['a:1', 'd:1', 'b:1', 'c:1'])
    // A new waiter comes last.
    await acquire({ owner: 'e:1' })
    expect((await queued()).at(-1)).toBe('e:1')
  })

  test('a lone waiter that lost its place gets it back', async () => {
    await given({ holder: 'h:1' })
    expect((await acquire({ ticket: NOW - 5 })).slice(1, 3)).toEqual([
      String(NOW - 5),
      String(TOKEN),
    ])
    expect(await admin.zscore(QUEUE, 'a:1')).toBe(String(NOW - 5))
    await expectTtl(QUEUE, 2 * ALIVE_MS)
  })

  test('the answer has no token if the counter was lost, and no TTL if the lock has none', async () => {
    await given({ holder: 'h:1', ...LOST })
    await admin.persist(LOCK)
    expect(await acquire()).toEqual(['queued', String(NOW), '', -1, 1, 'h:1', '', 1])
    expect(await acquire({ ticket: 'try', owner: 'b:1' })).toEqual(['held', -1, 'h:1', '', 1])
  })

  test('a try without waiting does not queue, and changes nothing', async () => {
    await given({ holder: 'h:1', queue: ['b:1'], waiting: { b: UNHEARD() } })
    const then = await contents()
    const [kind, ttlMs, ...more] = await acquire({ ticket: 'try', leaseMs: 10 })
    expect([kind, ...more]).toEqual(['held', 'h:1', 9_000, 1])
    expect(ttlMs).toBeGreaterThan(LEASE_MS * 0.75)
    expect(ttlMs).toBeLessThanOrEqual(LEASE_MS)
    expect(await contents()).toEqual(then)
  })

  test('the waiting hash has the leases that are shorter than the claim window, and no others', async () => {
    await given({ holder: 'h:1' })
    await acquire({ owner: 'a:1', leaseMs: CLAIM_MS - 1 })
    await acquire({ owner: 'a:2', leaseMs: CLAIM_MS })
    await acquire({ owner: 'b:1', leaseMs: 7_000 })
    expect(await waiting()).toEqual({
      a: mark(0),
      'a:1': String(CLAIM_MS - 1),
      b: mark(0),
      'b:1': '7000',
    })
    // A waiter that queues again keeps its own claim window, too.
    await admin.hdel(WAITING, 'b:1')
    await admin.zrem(QUEUE, 'b:1')
    await acquire({ owner: 'b:1', leaseMs: 7_000, ticket: NOW })
    expect((await waiting())['b:1']).toBe('7000')
  })
})

describe('the sign of life', () => {
  const until = (ms: number, seen: 0 | 2) => ({ a: mark(seen, ms) })

  test('says that the inbox has a listener if both the client and Redis say so', async () => {
    await given({ holder: 'h:1' })
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
    const inbox = await listen(`${INBOX}a`)
    await acquire({ listens: '' })
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 2))
    // The client's report that it does not listen counts at once. The script checks for listeners only after a quarter
    // of the time.
    await acquire({ listens: '' })
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
    await acquire()
    await inbox.stop()
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 2))
    pass(ALIVE_MS / 4)
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
  })

  test.each([1, ''])('is renewed after a quarter of its time, listening "%s"', async (listens) => {
    await given({ holder: 'h:1' })
    await listen(`${INBOX}a`)
    const seen = listens === 1 ? 2 : 0
    await acquire({ listens })
    await admin.pexpire(QUEUE, 1_000)
    await admin.pexpire(WAITING, 1_000)
    pass(ALIVE_MS / 4 - 1)
    await acquire({ listens, label: 'new' })
    expect(await waiting()).toEqual(until(ALIVE_MS * 0.75 + 1, seen))
    expect(await admin.pttl(WAITING)).toBeLessThanOrEqual(1_000)
    pass(1)
    await acquire({ listens, label: 'new' })
    expect(await waiting()).toEqual({ a: mark(seen, ALIVE_MS, 'new') })
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    await expectTtl(WAITING, 2 * ALIVE_MS)
  })

  test('a new queue gets a TTL even when the sign of life is fresh', async () => {
    await listen(`${INBOX}a`)
    await given({ holder: 'h:1', waiting: { a: mark(2) } })
    await acquire({ leaseMs: 20_000 })
    await expectTtl(QUEUE, 2 * ALIVE_MS)
  })

  test('counts until its last millisecond', async () => {
    await given({ queue: ['b:1'], waiting: { b: mark(0, 0) } })
    expect((await acquire())[0]).toBe('queued')
    expect(await fields()).toEqual({ 'b:1': '1' })
    await server.flush()
    await given({ queue: ['b:1'], waiting: { b: mark(0, -1) } })
    expect((await acquire())[0]).toBe('granted')
  })
})

describe('a lock that the owner holds already', () => {
  test('is granted again with the same token, and nothing changes', async () => {
    const answer = await acquire()
    const then = await contents()
    pass(1_000)
    for (const ticket of ['', NOW, 'try']) expect(await acquire({ ticket })).toEqual(answer)
    expect(await contents()).toEqual(then)
  })

  test('a request confirms a grant: the TTL rises from the claim window to the lease', async () => {
    await given({ holder: 'a:1', ttlMs: CLAIM_MS, queue: ['b:1'], waiting: { b: mark(1) } })
    expect(await acquire({ ticket: ticketOf(0) })).toEqual(['granted', String(TOKEN)])
    await expectTtl(LOCK, LEASE_MS)
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect(await queued()).toEqual(['b:1'])
  })

  test('a request makes the TTL as long as a longer lease, and never shortens the TTL', async () => {
    await given({ holder: 'a:1', ttlMs: LEASE_MS })
    await acquire({ leaseMs: 3 * LEASE_MS })
    await expectTtl(LOCK, 3 * LEASE_MS)
    await acquire({ leaseMs: LEASE_MS })
    await expectTtl(LOCK, 3 * LEASE_MS)
  })

  test('a lease shorter than the claim window does not shorten the TTL either', async () => {
    await acquire({ leaseMs: 5_000 })
    // The owner has re-entered the lock, or has extended its lease.
    await admin.pexpire(LOCK, CLAIM_MS)
    await acquire({ leaseMs: 5_000 })
    await expectTtl(LOCK, CLAIM_MS)
  })

  test('a lock without a TTL gets the lease as its TTL', async () => {
    await given({ holder: 'a:1' })
    await admin.persist(LOCK)
    await acquire()
    await expectTtl(LOCK, LEASE_MS)
  })

  test('a lock whose token was lost gets a new token, and a repeated request returns that token', async () => {
    await given({ holder: 'a:1', ...LOST })
    expect(await acquire()).toEqual(['granted', String(NOW)])
    await expectTtl(COUNTER, LEASE_MS)
    pass(5)
    expect(await acquire()).toEqual(['granted', String(NOW)])
    expect(await admin.get(COUNTER)).toBe(String(NOW))
  })
})

describe('a request that comes too late', () => {
  const states: [string, Parameters<typeof given>[0]][] = [
    ['nothing is there', LOST],
    ['the lock is free', {}],
    ['another owner queues for a free lock', { queue: ['b:1', 'a:1'], waiting: { b: '1 1 x' } }],
    ['its waiter heads the queue of a free lock', { queue: ['a:1'] }],
    ['another owner holds the lock', { holder: 'h:1' }],
    ['its waiter queues', { holder: 'h:1', queue: ['a:1'] }],
  ]
  test.each(states)('is refused by the clock of the server when %s', async (_, there) => {
    await given(there)
    const then = await contents()
    for (const ticket of ['', NOW, 'try']) {
      expect(await acquire({ ticket, notAfterUs: NOW - 1 })).toEqual(['late', String(NOW)])
    }
    expect(await contents()).toEqual(then)
  })

  test('a late request still returns a lock that its owner holds', async () => {
    await given({ holder: 'a:1' })
    expect(await acquire({ notAfterUs: 1 })).toEqual(['granted', String(TOKEN)])
  })

  test('a request at the last moment is not late', async () => {
    expect((await acquire({ notAfterUs: NOW }))[0]).toBe('granted')
  })
})

test('a waiter that was passed over by mistake gets its place back with its next request', async () => {
  await given({ holder: 'h:1', queue: ['b:1'], waiting: { b: mark(0) } })
  await acquire({ ticket: ticketOf(1) })
  await admin.del(LOCK)
  await admin.hset(WAITING, 'b', GONE())
  // The first call treats b as gone. Then b sends another request.
  expect((await acquire({ owner: 'c:1' }))[0]).toBe('queued')
  expect(await queued()).toEqual(['c:1'])
  await acquire({ owner: 'b:1', ticket: ticketOf(0) })
  expect(await queued()).toEqual(['b:1', 'c:1'])
})
