import {
  ALIVE_MS,
  acquire,
  beat,
  beatAll,
  CLAIM_MS,
  contents,
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
  waiting,
} from './run-fair.ts'
import {
  admin,
  CHANNEL,
  fields,
  JAVA_QUEUE,
  JAVA_TIMEOUTS,
  LOCK,
  QUEUE,
  server,
  WAITING,
} from './run-script.ts'

afterEach(() => server.flush())

test('1 a claim window that was shorter once is not that of the next wait', async () => {
  await given({ holder: 'h:1' })
  await acquire({ leaseMs: 5_000 })
  await admin.del(LOCK) // it ran out
  const [, token] = await acquire({ leaseMs: 5_000, ticket: NOW })
  expect(await fields()).toEqual({ 'a:1': '1' })
  expect(await waiting()).not.toHaveProperty('a:1')
  await acquire({ owner: 'b:1' })
  await release({ owner: 'a:1', token: token as string })
  await acquire()
  await release({ owner: 'b:1', token: '' })
  await expectTtl(LOCK, CLAIM_MS)
})

test('2 a heartbeat does not queue one whose request was just granted', async () => {
  await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(1) } })
  await admin.del(LOCK)
  const [, token] = await acquire({ ticket: ticketOf(0) })
  const [, , , granted] = await beat([['a:1', ticketOf(0)]])
  expect(await queued()).toEqual([])
  expect(granted).toBe('a:1')
  expect(await release({ owner: 'a:1', token: token as string })).toEqual(['freed', 0])
})

test('3 a lease that was lengthened is not shortened by a repeat', async () => {
  await acquire({ leaseMs: 5_000 })
  await admin.pexpire(LOCK, CLAIM_MS)
  await acquire({ leaseMs: 5_000 })
  await expectTtl(LOCK, CLAIM_MS)
})

test('4 clients that have left leave no sign of life behind while the queue is never empty', async () => {
  await given({ holder: 'h:1', queue: ['z:1'], waiting: { z: mark(0) } })
  for (let i = 0; i < 300; i++) {
    await acquire({ owner: `c${i}:1` })
    await release({ owner: `c${i}:1`, token: '' })
    pass(ALIVE_MS / 10)
    await beat([['z:1', ticketOf(0)]], { client: 'z' })
  }
  expect(Object.keys(await waiting()).length).toBeLessThan(100)
})

test('5 a client that beats is not passed over because its subscription is cut', async () => {
  await given({ queue: ['a:1', 'b:1'], waiting: { a: GONE(), b: mark(0) } })
  const answer = await beat([['a:1', ticketOf(0)]])
  expect(answer.slice(1)).toEqual([String(NOW), 'b:1', 'a:1'])
  expect(await fields()).toEqual({ 'a:1': '1' })
})

test('5b nor is one that asks; its places are not overtaken by its own', async () => {
  await given({ queue: ['a:1', 'a:2'], waiting: { a: GONE() } })
  expect((await acquire({ owner: 'a:2' }))[0]).toBe('queued')
  expect(await fields()).toEqual({ 'a:1': '1' })
})

test('6 a heartbeat keeps places on a full server', async () => {
  await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(1) } })
  pass(ALIVE_MS / 2)
  await admin.config('SET', 'maxmemory', '1')
  try {
    expect(await beat([['a:1', ticketOf(0)]])).toHaveLength(4)
    expect(await waiting()).toEqual({ a: mark(0) })
  } finally {
    await admin.config('SET', 'maxmemory', '0')
  }
})

test('6b one who queues and asks on a full server is told that it queues', async () => {
  await given({ holder: 'h:1', queue: ['a:1'], waiting: { a: mark(1) } })
  await admin.config('SET', 'maxmemory', '1')
  try {
    expect((await acquire({ ticket: ticketOf(0) }))[0]).toBe('queued')
  } finally {
    await admin.config('SET', 'maxmemory', '0')
  }
})

test('7 nothing is left when one whose claim ran out leaves', async () => {
  await given({ holder: 'h:1', token: null })
  await acquire()
  await release({ owner: 'h:1', token: TOKEN })
  expect(await fields()).toEqual({ 'a:1': '1' })
  await admin.del(LOCK)
  await release({ owner: 'a:1', token: '' })
  expect(Object.keys(await contents())).toEqual(['redisson_lock_token:{it}'])
})

test.each([
  [QUEUE, 'set'],
  [WAITING, 'set'],
  [JAVA_QUEUE, 'set'],
  [JAVA_TIMEOUTS, 'set'],
])('8 a key of another type at %s stops a release before it changes anything', async (key) => {
  await given({ holder: 'h:1', queue: key === WAITING ? ['a:1'] : [] })
  if (key === JAVA_TIMEOUTS) {
    await admin.rpush(JAVA_QUEUE, 'j:1')
    await admin.pexpire(JAVA_QUEUE, 60_000)
  }
  await admin.set(key, 'precious', 'PX', 60_000)
  const then = await contents()
  const listener = await listen(CHANNEL)
  await expect(release()).rejects.toThrow(/WRONGTYPE/)
  expect(await listener.heard()).toEqual([])
  expect(await contents()).toEqual(then)
})

test('9 a key of another type in the place of `waiting` costs nobody a place', async () => {
  await given({ queue: ['b:1'] })
  await admin.set(WAITING, 'precious', 'PX', 60_000)
  await expect(acquire()).rejects.toThrow(/WRONGTYPE/)
  expect(await queued()).toContain('b:1')
})

test('10 a free lock is not "held" for who tries, however many dead queue', async () => {
  await given({ queue: Array.from({ length: 2_000 }, (_, i) => `d${i}:1`) })
  expect((await acquire({ ticket: 'try' }))[0]).toBe('granted')
})
test('10b', async () => {
  await given({ queue: Array.from({ length: 2_001 }, (_, i) => `d${i}:1`) })
  expect(await acquire({ ticket: 'try' })).toEqual([])
})
test('11 heartbeat: counter lost under a grant', async () => {
  await given({ holder: 'a:1', ttlMs: CLAIM_MS, token: null, waiting: { a: mark(1) } })
  expect(await beat([['a:1', 1]])).toEqual([expect.any(Number), String(NOW), '', 'a:1'])
})
test('12 held without expiry by own place', async () => {
  await given({ holder: 'a:1', ttlMs: CLAIM_MS, waiting: { a: mark(1) } })
  await admin.persist(LOCK)
  expect(await beat([['a:1', 1]])).toEqual([-1, String(TOKEN), '', 'a:1'])
})
test('13 garbage mark', async () => {
  await given({ queue: ['b:1', 'c:1'], waiting: { b: 'garbage', c: mark(0) } })
  await acquire()
  expect(await fields()).toEqual({ 'c:1': '1' })
})
void [LEASE_MS, INBOX, beatAll]
