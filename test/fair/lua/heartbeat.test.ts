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
  test('keeps the places of its client alive, and tells how things stand', async () => {
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

  test('tells of a lock without a token and without an end', async () => {
    await given({ holder: 'h:1', token: null, queue: ['a:1'] })
    await admin.persist(LOCK)
    expect(await beat([place('a:1', 0)])).toEqual([-1, '', 'a:1', ''])
  })

  test('says that somebody listens, and since when there is nobody', async () => {
    await given({ holder: 'h:1', queue: ['a:1'] })
    const inbox = await listen(`${INBOX}a`)
    await beat([place('a:1', 0)])
    expect(await waiting()).toEqual({ a: mark(1) })
    await inbox.stop()
    const then = await waiting()
    pass(ALIVE_MS / 4 - 1)
    await beat([place('a:1', 0)])
    expect(await waiting()).toEqual(then)
    pass(1)
    await beat([place('a:1', 0)])
    expect(await waiting()).toEqual({ a: mark(0) })
  })

  test('keeps a client alive that beats for as long as it does', async () => {
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

  test('puts places back where they were, with their claim windows and a TTL', async () => {
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

  test('puts places back with a TTL also where its client is known to be alive', async () => {
    await given({ holder: 'h:1', waiting: { a: mark(1) } })
    await beat([place('a:1', 0, 20_000)])
    await expectTtl(QUEUE, 2 * ALIVE_MS)
    expect(await waiting()).toEqual({ a: mark(1), 'a:1': '20000' })
  })

  test('moves no place that is there', async () => {
    await given({ holder: 'h:1', queue: ['a:1', 'b:1'], waiting: { a: mark(0) } })
    await beat([place('a:1', 9, 20_000)])
    expect(await admin.zscore(QUEUE, 'a:1')).toBe(String(ticketOf(0)))
    expect(await waiting()).toEqual({ a: mark(0) })
  })

  test('tells how many places were missing: not those that are there, nor the one that has the lock', async () => {
    await given({ holder: 'a:1', queue: { 'a:2': ticketOf(1) }, waiting: { a: mark(0) } })
    const places = [place('a:1', 0), place('a:2', 1), place('a:3', 2), place('a:4', 3)]
    expect(await missingOf(places)).toBe(2)
    expect(await missingOf(places)).toBe(0)
    expect(await queued()).toEqual(['a:2', 'a:3', 'a:4'])
  })

  test('puts back more places than one command takes', async () => {
    await given({ holder: 'h:1', waiting: { a: mark(0) } })
    const places = Array.from({ length: 1_234 }, (_, i) => place(`a:${i}`, i, 20_000))
    expect(await missingOf(places)).toBe(1_234)
    expect(await queued()).toEqual(places.map(([owner]) => owner))
    expect(Object.keys(await waiting())).toHaveLength(1_235)
    expect(await missingOf(places)).toBe(0)
  })

  test('finds a grant to one of its client whom it does not speak for, and who heads the queue', async () => {
    await given({ holder: 'a:7', queue: ['a:8', 'a:1'], waiting: { a: mark(0) } })
    expect((await beat([place('a:1', 1)])).slice(1)).toEqual([String(TOKEN), 'a:8', 'a:7'])
    await admin.del(LOCK)
    expect((await beat([place('a:1', 1)])).slice(1)).toEqual([String(NOW), 'a:1', 'a:8'])
    expect(await fields()).toEqual({ 'a:8': '1' })
  })

  test('makes up a queue again, in its order, on a server that was emptied', async () => {
    await beat([place('b:1', 1)], { client: 'b' })
    expect(await fields()).toEqual({ 'b:1': '1' })
    await beat([place('c:1', 3)], { client: 'c' })
    await beat([place('a:1', 0), place('a:2', 2)])
    expect(await queued()).toEqual(['a:1', 'a:2', 'c:1'])
  })

  test.each([CLAIM_MS, LEASE_MS])(
    'finds the grant whose message was lost, with %d ms left, and leaves it as it is',
    async (ttlMs) => {
      await given({ holder: 'a:2', ttlMs, queue: ['b:1'], waiting: { a: mark(1), b: mark(0) } })
      const then = await contents()
      const [left, ...rest] = await beat([place('a:1', 1), place('a:2', 2), place('a:3', 3)])
      expect(rest).toEqual([String(TOKEN), 'b:1', 'a:2'])
      expect(left).toBeLessThanOrEqual(ttlMs)
      expect(left).toBeGreaterThan(ttlMs * 0.75)
      // The one that has the lock is not queued for it.
      expect(await queued()).toEqual(['b:1', 'a:1', 'a:3'])
      expect((await contents())[LOCK]).toEqual(then[LOCK])
      await expectTtl(LOCK, ttlMs)
    },
  )

  test('finds a grant under no token, and one without an end', async () => {
    await given({ holder: 'a:1', token: null })
    await admin.persist(LOCK)
    expect(await beat([place('a:1', 0)])).toEqual([-1, '', '', 'a:1'])
    expect(await queued()).toEqual([])
  })

  test('does not queue one whose request was granted just before it', async () => {
    await given({ queue: ['a:1'], waiting: { a: mark(1) } })
    const [, token] = await acquire({ ticket: ticketOf(0) })
    expect((await beat([place('a:1', 0)]))[3]).toBe('a:1')
    expect(await queued()).toEqual([])
    expect((await release({ owner: 'a:1', token: token as string }))[0]).toBe('freed')
  })

  test('gives a free lock to the first of its places although the subscription is cut', async () => {
    await given({ queue: ['a:1', 'b:1'], waiting: { a: GONE(), b: mark(0) } })
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
    expect(await fields()).toEqual({ 'a:1': '1' })
  })

  test('gives a free lock to the first of its places, which it tells by the reply and by a message', async () => {
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
    // The reply may be lost.
    expect(await inbox.heard()).toEqual([[`${INBOX}a`, `${NOW} a:1 ${LOCK}`]])
  })

  test('gives a free lock to the first in the queue, whose client is told', async () => {
    await given({ queue: ['b:1', 'a:1'], waiting: { b: mark(1) } })
    const inbox = await listen(`${INBOX}b`)
    const [, ...rest] = await beat([place('a:1', 1)])
    expect(rest).toEqual([String(NOW), 'a:1', ''])
    expect(await fields()).toEqual({ 'b:1': '1' })
    expect(await inbox.heard()).toEqual([[`${INBOX}b`, `${NOW} b:1 ${LOCK}`]])
  })

  test('gives a free lock to a place that it has just put back, if that is the first', async () => {
    await given({ queue: { 'b:1': ticketOf(1) }, waiting: { b: mark(0) } })
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
  })

  test('passes over who is gone, and wakes up one whose heartbeat had stopped', async () => {
    await given({
      queue: ['d:1', 'a:1', 'b:1'],
      waiting: { d: EXPIRED(), a: EXPIRED(), b: UNHEARD() },
    })
    expect((await beat([place('a:1', 1)])).slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
    expect(await waiting()).toEqual({ a: mark(0), b: UNHEARD() })
  })

  describe('while a grant is not confirmed', () => {
    const claimed = { holder: 'h:1', ttlMs: CLAIM_MS }

    test('takes those out who are gone and head the queue, so that somebody looks when it ends', async () => {
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

    test('takes out nobody who listens', async () => {
      await given({ ...claimed, queue: ['b:1', 'a:1'], waiting: { b: mark(1) } })
      await listen(`${INBOX}b`)
      expect((await beat([place('a:1', 1)]))[2]).toBe('b:1')
    })

    test('takes out none of its own', async () => {
      await given({ ...claimed, queue: ['d:1', 'a:1', 'a:2'], waiting: { d: GONE(), a: GONE() } })
      expect((await beat([place('a:2', 2)]))[2]).toBe('a:1')
      expect(await queued()).toEqual(['a:1', 'a:2'])
    })

    test('takes out a hundred or so at a time', async () => {
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

  test.each(['for a lease', 'for ever'])(
    'takes out nobody while the lock is held %s',
    async (how) => {
      await given({ holder: 'h:1', queue: ['d:1', 'a:1'], waiting: { d: GONE() } })
      if (how === 'for ever') await admin.persist(LOCK)
      expect((await beat([place('a:1', 1)]))[2]).toBe('d:1')
      expect(await queued()).toEqual(['d:1', 'a:1'])
    },
  )

  test('gives tokens that rise where the clock is behind, or the counter was lost', async () => {
    await given({ token: NOW + 5, queue: ['a:1'] })
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW + 6), '', 'a:1'])
    await admin.del(LOCK, COUNTER)
    expect((await beat([place('a:1', 0)])).slice(1)).toEqual([String(NOW), '', 'a:1'])
  })

  test('clears what others left in a queue that is never empty', async () => {
    await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(0), 'a:1': 20_000 } })
    for (let i = 0; i < 300; i++) {
      // The claim window of a place that is no more, and a client that leaves.
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

  test('that comes too late does nothing', async () => {
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
  test('answers for each, in order', async () => {
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

  test('takes five hundred places on a hundred locks', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `many ${i}`)
    const places = Array.from({ length: 5 }, (_, i) => place(`a:${i}`, i))
    const [, answers] = await beatAll(Object.fromEntries(names.map((name) => [name, places])))
    expect(answers).toHaveLength(100)
    for (const answer of answers as unknown[][]) {
      expect(answer.slice(1)).toEqual([String(NOW), 'a:1', 'a:0', 5, 'a:0'])
    }
  })

  test('for none does nothing', async () => {
    expect(await beatAll({})).toEqual(['done', []])
    expect(await contents()).toEqual({})
  })

  test('for a lock whose places have all left leaves no key behind', async () => {
    const [, answers] = await beatAll({ [LOCK]: [], two: [place('a:1', 0)] })
    expect(answers).toHaveLength(2)
    expect((answers[1] as string[])[3]).toBe('a:1')
    expect(await waiting()).toEqual({})
  })
})
