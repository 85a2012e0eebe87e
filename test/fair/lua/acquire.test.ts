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
    'is taken for the lease, with a token from the clock of the server, by ticket "%s"',
    async (ticket) => {
      expect(await acquire({ ticket })).toEqual(['granted', String(NOW)])
      expect(await contents()).toEqual({ [LOCK]: { 'a:1': '1' }, [COUNTER]: String(NOW) })
      await expectTtl(LOCK, LEASE_MS)
      await expectTtl(COUNTER, LEASE_MS)
    },
  )

  test('has tokens by the clock of the server itself', async () => {
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

  test('has a token greater than the last one, also when the clock is behind', async () => {
    await given({ token: NOW + 5 })
    expect(await acquire()).toEqual(['granted', String(NOW + 6)])
    expect(await admin.get(COUNTER)).toBe(String(NOW + 6))
  })

  test('goes to the first in the queue when that one asks, for its lease and without a word', async () => {
    await given({ queue: ['a:1', 'b:1'], waiting: { a: mark(1), b: mark(1) } })
    const inboxes = await listen(`${INBOX}a`, `${INBOX}b`, CHANNEL)
    expect(await acquire({ ticket: ticketOf(0) })).toEqual(['granted', String(NOW)])
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect(await queued()).toEqual(['b:1'])
    await expectTtl(LOCK, LEASE_MS)
    expect(await inboxes.heard()).toEqual([])
  })

  test('is given by whoever asks to the first in the queue, who is told; the one who asks queues', async () => {
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

  test('is given to the first in the queue of the same client as well, who is told too', async () => {
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
    ['of whom nothing is known any more', {}],
  ] as [string, { a?: () => string }][])(
    'goes to the first in the queue of the same client, %s: it lives, for it asks',
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

  test('whose queue is empty once its first has it puts the one who asks at the head', async () => {
    await given({ queue: ['b:1'], waiting: { b: UNHEARD() } })
    expect((await acquire())[4]).toBe(1)
    expect(await queued()).toEqual(['a:1'])
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    await expectTtl(WAITING, 2 * ALIVE_MS)
  })

  test('is not to be had without queueing while somebody queues who lives, and goes to that one', async () => {
    await given({ queue: ['b:1'], waiting: { b: UNHEARD() } })
    const [kind, ttlMs, ...more] = await acquire({ ticket: 'try' })
    expect([kind, ...more]).toEqual(['held', 'b:1', 0, 0])
    expect(ttlMs).toBeLessThanOrEqual(CLAIM_MS)
    expect(ttlMs).toBeGreaterThan(CLAIM_MS * 0.75)
    expect(await fields()).toEqual({ 'b:1': '1' })
    expect(await queued()).toEqual([])
  })

  test.each([
    ['of whom nothing is known', {}],
    ['whose heartbeat has stopped', { b: EXPIRED }],
    ['who listened and does not any more', { b: GONE }],
    ['of whom something else is known', { b: () => 'precious' }],
  ] as [string, Record<string, () => string>][])(
    'goes to the one who asks when only such queue %s, who lose all their places',
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

test('two thousand who are gone keep nobody from a free lock', async () => {
  await given({ queue: Array.from({ length: 2_000 }, (_, i) => `d${i}:1`) })
  expect((await acquire({ ticket: 'try' }))[0]).toBe('granted')
  expect(await queued()).toEqual([])
})

test('more than two thousand who are gone take more than one call', async () => {
  await given({ queue: Array.from({ length: 4_100 }, (_, i) => `d${i}:1`) })
  expect(await acquire({ ticket: 'try' })).toEqual(['held', 0, '', expect.any(Number), 2_099])
  const queued = ['queued', expect.any(String), String(TOKEN), 0, 0, '', expect.any(Number)]
  expect(await acquire()).toEqual([...queued, 99])
  expect(await acquire()).toEqual(['granted', String(NOW)])
})

describe('a lock that somebody else has', () => {
  test('is waited for in a queue: a place, a sign of life, and a TTL on both', async () => {
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

  test('has a queue in the order of asking, and tells each whether it is the first', async () => {
    await given({ holder: 'h:1' })
    const firsts: unknown[] = []
    for (const owner of ['c:1', 'a:2', 'b:1', 'a:1']) {
      firsts.push((await acquire({ owner }))[4])
      pass(1)
    }
    expect(firsts).toEqual([1, 0, 0, 0])
    expect(await queued()).toEqual(['c:1', 'a:2', 'b:1', 'a:1'])
  })

  test('has tickets that rise while the clock stands still, and when it steps back', async () => {
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

  test('is waited for with the same ticket, however often it is asked for', async () => {
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

  test('takes back those who lost their places in the order of their tickets', async () => {
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
    // One who comes anew stands behind them all.
    await acquire({ owner: 'e:1' })
    expect((await queued()).at(-1)).toBe('e:1')
  })

  test('takes back one who is alone', async () => {
    await given({ holder: 'h:1' })
    expect((await acquire({ ticket: NOW - 5 })).slice(1, 3)).toEqual([
      String(NOW - 5),
      String(TOKEN),
    ])
    expect(await admin.zscore(QUEUE, 'a:1')).toBe(String(NOW - 5))
    await expectTtl(QUEUE, 2 * ALIVE_MS)
  })

  test('is told of as it is: without a token where that was lost, without an end where it has none', async () => {
    await given({ holder: 'h:1', ...LOST })
    await admin.persist(LOCK)
    expect(await acquire()).toEqual(['queued', String(NOW), '', -1, 1, 'h:1', '', 1])
    expect(await acquire({ ticket: 'try', owner: 'b:1' })).toEqual(['held', -1, 'h:1', '', 1])
  })

  test('is not waited for by one who only tries, and nothing changes', async () => {
    await given({ holder: 'h:1', queue: ['b:1'], waiting: { b: UNHEARD() } })
    const then = await contents()
    const [kind, ttlMs, ...more] = await acquire({ ticket: 'try', leaseMs: 10 })
    expect([kind, ...more]).toEqual(['held', 'h:1', 9_000, 1])
    expect(ttlMs).toBeGreaterThan(LEASE_MS * 0.75)
    expect(ttlMs).toBeLessThanOrEqual(LEASE_MS)
    expect(await contents()).toEqual(then)
  })

  test('has note of who wants it for less than the claim window, and of nobody else', async () => {
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
    // Also of one who comes back.
    await admin.hdel(WAITING, 'b:1')
    await admin.zrem(QUEUE, 'b:1')
    await acquire({ owner: 'b:1', leaseMs: 7_000, ticket: NOW })
    expect((await waiting())['b:1']).toBe('7000')
  })
})

describe('the sign of life', () => {
  const until = (ms: number, seen: 0 | 1) => ({ a: mark(seen, ms) })

  test('says that the inbox is listened to where the client says so and Redis does', async () => {
    await given({ holder: 'h:1' })
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
    const inbox = await listen(`${INBOX}a`)
    await acquire({ listens: '' })
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 1))
    // What the client says counts at once, what Redis says when it is looked at again.
    await acquire({ listens: '' })
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
    await acquire()
    await inbox.stop()
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 1))
    pass(ALIVE_MS / 4)
    await acquire()
    expect(await waiting()).toEqual(until(ALIVE_MS, 0))
  })

  test.each([1, ''])(
    'is renewed once a quarter of its time is over, listening "%s"',
    async (listens) => {
      await given({ holder: 'h:1' })
      await listen(`${INBOX}a`)
      const seen = listens === 1 ? 1 : 0
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
    },
  )

  test('that is fresh is no reason to leave a new queue without a TTL', async () => {
    await listen(`${INBOX}a`)
    await given({ holder: 'h:1', waiting: { a: mark(1) } })
    await acquire({ leaseMs: 20_000 })
    await expectTtl(QUEUE, 2 * ALIVE_MS)
  })

  test('counts up to its last millisecond', async () => {
    await given({ queue: ['b:1'], waiting: { b: mark(0, 0) } })
    expect((await acquire())[0]).toBe('queued')
    expect(await fields()).toEqual({ 'b:1': '1' })
    await server.flush()
    await given({ queue: ['b:1'], waiting: { b: mark(0, -1) } })
    expect((await acquire())[0]).toBe('granted')
  })
})

describe('a lock that the owner has already', () => {
  test('is granted again with the same token, and nothing changes', async () => {
    const answer = await acquire()
    const then = await contents()
    pass(1_000)
    for (const ticket of ['', NOW, 'try']) expect(await acquire({ ticket })).toEqual(answer)
    expect(await contents()).toEqual(then)
  })

  test('by a grant is confirmed: it is lifted from the claim window to the lease', async () => {
    await given({ holder: 'a:1', ttlMs: CLAIM_MS, queue: ['b:1'], waiting: { b: mark(1) } })
    expect(await acquire({ ticket: ticketOf(0) })).toEqual(['granted', String(TOKEN)])
    await expectTtl(LOCK, LEASE_MS)
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect(await queued()).toEqual(['b:1'])
  })

  test('is lengthened to the lease, and not shortened', async () => {
    await given({ holder: 'a:1', ttlMs: LEASE_MS })
    await acquire({ leaseMs: 3 * LEASE_MS })
    await expectTtl(LOCK, 3 * LEASE_MS)
    await acquire({ leaseMs: LEASE_MS })
    await expectTtl(LOCK, 3 * LEASE_MS)
  })

  test('is not shortened either where it is less than the claim window', async () => {
    await acquire({ leaseMs: 5_000 })
    // It was entered again, or extended.
    await admin.pexpire(LOCK, CLAIM_MS)
    await acquire({ leaseMs: 5_000 })
    await expectTtl(LOCK, CLAIM_MS)
  })

  test('for ever gets its lease', async () => {
    await given({ holder: 'a:1' })
    await admin.persist(LOCK)
    await acquire()
    await expectTtl(LOCK, LEASE_MS)
  })

  test('under a token that was lost gets a new one, which a repeat finds', async () => {
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
    ['somebody queues for a free lock', { queue: ['b:1', 'a:1'], waiting: { b: '1 1 x' } }],
    ['it is its turn', { queue: ['a:1'] }],
    ['somebody has the lock', { holder: 'h:1' }],
    ['it queues', { holder: 'h:1', queue: ['a:1'] }],
  ]
  test.each(states)('is refused by the clock of the server when %s', async (_, there) => {
    await given(there)
    const then = await contents()
    for (const ticket of ['', NOW, 'try']) {
      expect(await acquire({ ticket, notAfterUs: NOW - 1 })).toEqual(['late', String(NOW)])
    }
    expect(await contents()).toEqual(then)
  })

  test('finds what it has got before', async () => {
    await given({ holder: 'a:1' })
    expect(await acquire({ notAfterUs: 1 })).toEqual(['granted', String(TOKEN)])
  })

  test('is not one that comes at the last moment', async () => {
    expect((await acquire({ notAfterUs: NOW }))[0]).toBe('granted')
  })
})

test('one who is passed over is back in place as soon as it asks', async () => {
  await given({ holder: 'h:1', queue: ['b:1'], waiting: { b: mark(0) } })
  await acquire({ ticket: ticketOf(1) })
  await admin.del(LOCK)
  await admin.hset(WAITING, 'b', GONE())
  // b is taken for gone, and says that it is not.
  expect((await acquire({ owner: 'c:1' }))[0]).toBe('queued')
  expect(await queued()).toEqual(['c:1'])
  await acquire({ owner: 'b:1', ticket: ticketOf(0) })
  expect(await queued()).toEqual(['b:1', 'c:1'])
})
