import {
  admin,
  COUNTER,
  COUNTER_MS,
  fields,
  LOCK,
  QUEUE,
  server,
  state,
  WAITING,
} from '../../lua/run-script.ts'
import {
  ALIVE_MS,
  acquire,
  type BeatPlace,
  beat,
  beatAll,
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
  missingOf,
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

const place = (owner: string, i: number, claimMs?: number): BeatPlace =>
  claimMs === undefined ? [owner, ticketOf(i)] : [owner, ticketOf(i), claimMs]

describe('a heartbeat', () => {
  test('keeps the places of its client alive, and returns the TTL, the token and the head of the queue', async () => {
    await given({
      holder: 'h:1',
      queue: ['b:1', 'a:1', 'a:2'],
      waiting: { a: mark(0, 1_000), b: mark(1) },
    })
    for (const key of [QUEUE, WAITING]) await admin.pexpire(key, 5_000)
    const [ttlMs, ...rest] = await beat([place('a:1', 1), place('a:2', 2)], { label: 'new' })
    expect(rest).toEqual([String(TOKEN), 'b:1', ''])
    expect(ttlMs).toBeLessThanOrEqual(LEASE_MS)
    expect(ttlMs).toBeGreaterThan(LEASE_MS * 0.75)
    expect(await queued()).toEqual(['b:1', 'a:1', 'a:2'])
    expect(await waiting()).toEqual({ a: mark(0, ALIVE_MS, 'new'), b: mark(1) })
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    await expectTtl(WAITING, 2 * ALIVE_MS)
    await expectTtl(LOCK, LEASE_MS)
  })

  test('returns -1 and no token for a lock without a TTL whose counter was lost', async () => {
    await given({ holder: 'h:1', token: null, queue: ['a:1'] })
    await admin.persist(LOCK)
    expect(await beat([place('a:1', 0)])).toEqual([-1, '', 'a:1', ''])
  })

  test('records that the inbox has a listener, and later that it has none', async () => {
    await given({ holder: 'h:1', queue: ['a:1'] })
    const inbox = await listen(`${INBOX}a`)
    await beat([place('a:1', 0)])
    expect(await waiting()).toEqual({ a: mark(2) })
    await inbox.stop()
    const then = await waiting()
    pass(ALIVE_MS / 4 - 1)
    await beat([place('a:1', 0)])
    expect(await waiting()).toEqual(then)
    pass(1)
    await beat([place('a:1', 0)])
    expect(await waiting()).toEqual({ a: mark(0) })
  })

  test('a client that sends heartbeats stays alive, and a client that sends none does not', async () => {
    await given({ holder: 'h:1' })
    await acquire()
    await acquire({ owner: 'b:1' })
    for (let i = 0; i < 20; i++) {
      pass(ALIVE_MS / 6)
      await beat([['a:1', NOW]])
    }
    await release({ owner: 'h:1', token: TOKEN })
    expect(await fields()).toEqual({ 'a:1': '1' })
    expect((await release({ owner: 'a:1', token: '' }))[0]).toBe('freed')
  })

  test('puts places back in order, with their claim windows and a TTL', async () => {
    await given({ holder: 'h:1', queue: { 'b:1': ticketOf(1) } })
    expect((await beat([place('a:2', 2), place('a:1', 0, 20_000)])).slice(1)).toEqual([
      String(TOKEN),
      'a:1',
      '',
    ])
    expect(await queued()).toEqual(['a:1', 'b:1', 'a:2'])
    expect(await waiting()).toEqual({ a: mark(0), 'a:1': '20000' })
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    await expectTtl(WAITING, 2 * ALIVE_MS)
    await release()
    await expectTtl(LOCK, 20_000)
  })

  test('gives a restored queue a TTL even when its client is known to be alive', async () => {
    await given({ holder: 'h:1', waiting: { a: mark(2) } })
    await beat([place('a:1', 0, 20_000)])
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    expect(await waiting()).toEqual({ a: mark(2), 'a:1': '20000' })
  })

  test('moves no place that exists', async () => {
    await given({ holder: 'h:1', queue: ['a:1', 'b:1'], waiting: { a: mark(0) } })
    await beat([place('a:1', 9, 20_000)])
    expect(await admin.zscore(QUEUE, 'a:1')).toBe(String(ticketOf(0)))
    expect(await waiting()).toEqual({ a: mark(0) })
  })

  test('returns the number of missing places, without the place of the holder', async () => {
    await given({ holder: 'a:1', queue: { 'a:2': ticketOf(1) }, waiting: { a: mark(0) } })
    const places = [place('a:1', 0), place('a:2', 1), place('a:3', 2), place('a:4', 3)]
    expect(await missingOf(places)).toBe(2)
    expect(await missingOf(places)).toBe(0)
    expect(await queued()).toEqual(['a:2', 'a:3', 'a:4'])
  })

  test('restores more places than fit into one command', async () => {
    await given({ holder: 'h:1', waiting: { a: mark(0) } })
    const places = Array.from({ length: 1_234 }, (_, i) => place(`a:${i}`, i, 20_000))
    expect(await missingOf(places)).toBe(1_234)
    expect(await queued()).toEqual(places.map(([owner]) => owner))
    expect(Object.keys(await waiting())).toHaveLength(1_235)
    expect(await missingOf(places)).toBe(0)
  })

  test('finds a grant to a waiter of its client that is not in the request, and grants the lock to such a waiter', async () => {
    await given({ holder: 'a:7', queue: ['a:8', 'a:1'], waiting: { a: mark(0) } })
    expect((await beat([place('a:1', 1)])).slice(1)).toEqual([String(TOKEN), 'a:8', 'a:7'])
    await admin.del(LOCK)
    expect((await beat([place('a:1', 1)])).slice(1)).toEqual([String(NOW), 'a:1', 'a:8'])
    expect(await fields()).toEqual({ 'a:8': '1' })
  })

  test('heartbeats restore a queue in its order on a server that was emptied', async () => {
    await beat([place('b:1', 1)], { client: 'b' })
    expect(await fields()).toEqual({ 'b:1': '1' })
    await beat([place('c:1', 3)], { client: 'c' })
    await beat([place('a:1', 0), place('a:2', 2)])
    expect(await queued()).toEqual(['a:1', 'a:2', 'c:1'])
  })

  test.each([CLAIM_MS, LEASE_MS])(
    'finds a grant whose message was lost, with %d ms left, and leaves the grant as it is',
    async (ttlMs) => {
      await given({ holder: 'a:2', ttlMs, queue: ['b:1'], waiting: { a: mark(1), b: mark(0) } })
      const then = await contents()
      const [left, ...rest] = await beat([place('a:1', 1), place('a:2', 2), place('a:3', 3)])
      expect(rest).toEqual([String(TOKEN), 'b:1', 'a:2'])
      expect(left).toBeLessThanOrEqual(ttlMs)
      expect(left).toBeGreaterThan(ttlMs * 0.75)
      // The holder has no place in the queue of its own lock.
      expect(await queued()).toEqual(['b:1', 'a:1', 'a:3'])
      expect((await contents())[LOCK]).toEqual(then[LOCK])
      await expectTtl(LOCK, ttlMs)
    },
  )

  test('finds a grant without a token and without a TTL', async () => {
    await given({ holder: 'a:1', token: null })
    await admin.persist(LOCK)
    expect(await beat([place('a:1', 0)])).toEqual([-1, '', '', 'a:1'])
    expect(await queued()).toEqual([])
  })

  test('does not queue a waiter whose request was granted just before', async () => {
    await given({ queue: ['a:1'], waiting: { a: mark(1) } })
    const [, token] = await acquire({ ticket: ticketOf(0) })
    expect((await beat([place('a:1', 0)]))[3]).toBe('a:1')
    expect(await queued()).toEqual([])
    expect((await release({ owner: 'a:1', token: token as string }))[0]).toBe('freed')
  })

  test('grants a free lock to its own first place although the subscription is cut', async () => {
    await given({ queue: ['a:1', 'b:1'], waiting: { a: GONE(), b: mark(0) } })
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
    expect(await fields()).toEqual({ 'a:1': '1' })
  })

  test('grants a free lock to its own first place, by the reply and by a message', async () => {
    await given({ queue: ['a:1', 'b:1', 'a:2'], waiting: { a: mark(0), b: mark(0) } })
    const inbox = await listen(`${INBOX}a`)
    const [ttlMs, ...rest] = await beat([place('a:1', 0), place('a:2', 2)])
    expect(rest).toEqual([String(NOW), 'b:1', 'a:1'])
    expect(ttlMs).toBeLessThanOrEqual(CLAIM_MS)
    expect(ttlMs).toBeGreaterThan(CLAIM_MS * 0.75)
    expect(await fields()).toEqual({ 'a:1': '1' })
    await expectTtl(LOCK, CLAIM_MS)
    await expectTtl(COUNTER, COUNTER_MS)
    expect(await queued()).toEqual(['b:1', 'a:2'])
    // The message is needed because the reply may be lost.
    expect(await inbox.heard()).toEqual([[`${INBOX}a`, `${NOW} a:1 ${LOCK}`]])
  })

  test('grants a free lock to the first in the queue, and sends a message to the client of that waiter', async () => {
    await given({ queue: ['b:1', 'a:1'], waiting: { b: mark(1) } })
    const inbox = await listen(`${INBOX}b`)
    const [, ...rest] = await beat([place('a:1', 1)])
    expect(rest).toEqual([String(NOW), 'a:1', ''])
    expect(await fields()).toEqual({ 'b:1': '1' })
    expect(await inbox.heard()).toEqual([[`${INBOX}b`, `${NOW} b:1 ${LOCK}`]])
  })

  test('grants a free lock to a place that it has just put back, if that place is the first', async () => {
    await given({ queue: { 'b:1': ticketOf(1) }, waiting: { b: mark(0) } })
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
  })

  test('passes over dead clients, and revives the client whose heartbeat had stopped', async () => {
    await given({
      queue: ['d:1', 'a:1', 'b:1'],
      waiting: { d: EXPIRED(), a: EXPIRED(), b: UNHEARD() },
    })
    expect((await beat([place('a:1', 1)])).slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
    expect(await waiting()).toEqual({ a: mark(0), b: UNHEARD() })
  })

  describe('while a grant is not confirmed', () => {
    const claimed = { holder: 'h:1', ttlMs: CLAIM_MS }

    test('removes dead clients from the head of the queue, so that a living waiter is the head', async () => {
      await given({
        ...claimed,
        queue: ['x:1', 'd:1', 'e:1', 'd:2', 'b:1', 'd:3', 'a:1'],
        waiting: { d: GONE(), e: EXPIRED(), b: UNHEARD(), 'd:2': 20_000, 'b:1': 20_000 },
      })
      expect((await beat([place('a:1', 6)]))[2]).toBe('b:1')
      expect(await queued()).toEqual(['b:1', 'd:3', 'a:1'])
      expect(await waiting()).toMatchObject({ 'b:1': '20000' })
      expect(await waiting()).not.toHaveProperty('d:2')
    })

    test('removes no client that listens', async () => {
      await given({ ...claimed, queue: ['b:1', 'a:1'], waiting: { b: mark(1) } })
      await listen(`${INBOX}b`)
      expect((await beat([place('a:1', 1)]))[2]).toBe('b:1')
    })

    test('removes no place of its own client', async () => {
      await given({ ...claimed, queue: ['d:1', 'a:1', 'a:2'], waiting: { d: GONE(), a: GONE() } })
      expect((await beat([place('a:2', 2)]))[2]).toBe('a:1')
      expect(await queued()).toEqual(['a:1', 'a:2'])
    })

    test('removes about a hundred places at a time', async () => {
      const dead = Array.from({ length: 250 }, (_, i) => `d${i}:1`)
      await given({ ...claimed, queue: [...dead, 'a:1'] })
      for (let left = 251; left > 1; left = await admin.zcard(QUEUE)) {
        await beat([place('a:1', 250)])
        expect(await admin.zcard(QUEUE)).toBeGreaterThanOrEqual(left - 150)
        expect(await admin.zcard(QUEUE)).toBeLessThan(left)
      }
      expect((await beat([place('a:1', 250)]))[2]).toBe('a:1')
    })
  })

  test.each(['for a lease', 'forever'])(
    'removes no dead client while the lock is held %s',
    async (how) => {
      await given({ holder: 'h:1', queue: ['d:1', 'a:1'], waiting: { d: GONE() } })
      if (how === 'forever') await admin.persist(LOCK)
      expect((await beat([place('a:1', 1)]))[2]).toBe('d:1')
      expect(await queued()).toEqual(['d:1', 'a:1'])
    },
  )

  test('gives rising tokens when the clock is behind, and a token of the clock when the counter is lost', async () => {
    await given({ token: NOW + 5, queue: ['a:1'] })
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW + 6), '', 'a:1'])
    await admin.del(LOCK, COUNTER)
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW), '', 'a:1'])
  })

  test('clears what other clients left in a queue that is never empty', async () => {
    await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(0), 'a:1': 20_000 } })
    for (let i = 0; i < 300; i++) {
      // Adds the claim window of a missing place, and a client that leaves.
      await admin.hset(WAITING, `x${i}:1`, 20_000)
      await acquire({ owner: `c${i}:1` })
      await release({ owner: `c${i}:1`, token: '' })
      pass(ALIVE_MS / 4)
      await beat([place('a:1', 0)])
    }
    const { a, 'a:1': claimMs, ...rest } = await waiting()
    expect([a, claimMs]).toEqual([mark(0), '20000'])
    expect(Object.keys(rest).length).toBeLessThan(60)
  })

  test('a heartbeat that arrives too late does nothing', async () => {
    await given({ queue: ['b:1'], waiting: { b: mark(0) } })
    const then = await state()
    expect(await beatAll({ [LOCK]: [place('a:1', 0)] }, { notAfterUs: NOW - 1 })).toEqual([
      'late',
      String(NOW),
    ])
    expect(await state()).toEqual(then)
    expect((await beatAll({ [LOCK]: [place('a:1', 0)] }, { notAfterUs: NOW }))[0]).toBe('done')
  })
})

describe('one heartbeat for many locks', () => {
  test('answers for each lock, in order', async () => {
    await given({ holder: 'h:1' })
    const [kind, answers] = await beatAll({
      one: [place('a:1', 1)],
      [LOCK]: [place('a:1', 3), place('a:2', 2, 20_000)],
      two: [place('a:3', 1)],
    })
    expect(kind).toBe('done')
    expect((answers as unknown[][]).map((answer) => answer.slice(1))).toEqual([
      [String(NOW), '', 'a:1', 1, 'a:1'],
      [String(TOKEN), 'a:2', '', 2, 'h:1'],
      [String(NOW), '', 'a:3', 1, 'a:3'],
    ])
    expect(await admin.hgetall('one')).toEqual({ 'a:1': '1' })
    expect(await admin.hgetall('two')).toEqual({ 'a:3': '1' })
    expect(await queued()).toEqual(['a:2', 'a:1'])
    expect(await waiting()).toEqual({ a: mark(0), 'a:2': '20000' })
  })

  test('accepts five hundred places on a hundred locks', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `many ${i}`)
    const places = Array.from({ length: 5 }, (_, i) => place(`a:${i}`, i))
    const [, answers] = await beatAll(Object.fromEntries(names.map((name) => [name, places])))
    expect(answers).toHaveLength(100)
    for (const answer of answers as unknown[][]) {
      expect(answer.slice(1)).toEqual([String(NOW), 'a:1', 'a:0', 5, 'a:0'])
    }
  })

  test('changes nothing without a lock', async () => {
    expect(await beatAll({})).toEqual(['done', []])
    expect(await contents()).toEqual({})
  })

  test('leaves no key behind for a lock whose waiters have all left', async () => {
    const [, answers] = await beatAll({ [LOCK]: [], two: [place('a:1', 0)] })
    expect(answers).toHaveLength(2)
    expect((answers[1] as string[])[3]).toBe('a:1')
    expect(await waiting()).toEqual({})
  })
})
