import {
  admin,
  CHANNEL,
  COUNTER,
  fields,
  JAVA_QUEUE,
  LOCK,
  QUEUE,
  server,
  WAITING,
} from '../../lua/run-script.ts'
import {
  acquire,
  beat,
  CLAIM_MS,
  contents,
  expectTtl,
  given,
  INBOX,
  listen,
  mark,
  NOW,
  queued,
  release,
  TOKEN,
  ticketOf,
} from './run-fair.ts'

/** Consecutive places of the client that releases the lock. */
afterEach(() => server.flush())

const waiting = () => ({ h: mark(1), a: mark(0) })

test('a release names the next places of its own client, keeps them, and reserves a token for each', async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3', 'h:4', 'a:1', 'h:5'], waiting: waiting() })
  const inboxes = await listen(`${INBOX}h`, `${INBOX}a`, CHANNEL)
  expect(await release({ most: 63 })).toEqual(['run', 'h:2', String(NOW + 2), 'h:3 h:4'])
  expect(await inboxes.heard()).toEqual([])
  expect(await contents()).toEqual({
    [LOCK]: { 'h:2': '1' },
    [COUNTER]: String(NOW + 2),
    [QUEUE]: ['h:3', 'h:4', 'a:1', 'h:5'].flatMap((owner, i) => [owner, String(ticketOf(i + 1))]),
    [WAITING]: waiting(),
  })
  await expectTtl(LOCK, CLAIM_MS)
})

test.each([
  { most: 0, answer: ['granted', 'h:2', String(NOW)] },
  { most: 1, answer: ['run', 'h:2', String(NOW + 1), 'h:3'] },
])('a run has at most as many places as the client wants: $most', async ({ most, answer }) => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3', 'h:4'], waiting: waiting() })
  expect(await release({ most })).toEqual(answer)
})

test('a place of another client ends the run', async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'a:1', 'h:3'], waiting: waiting() })
  expect(await release({ most: 63 })).toEqual(['granted', 'h:2', String(NOW)])
})

test('a grant to another client that never listened has no run', async () => {
  await given({ holder: 'h:1', queue: ['a:1', 'a:2', 'h:2'], waiting: waiting() })
  expect(await release({ most: 63 })).toEqual(['granted', 'a:1', String(NOW)])
  expect(await admin.get(COUNTER)).toBe(String(NOW))
})

test('a release without a token has no run, because the client does not read the answer', async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3'], waiting: waiting() })
  expect(await release({ token: '', most: 63 })).toEqual(['granted', 'h:2', String(NOW)])
})

test('the tokens of a run rise when the clock is behind', async () => {
  await given({ holder: 'h:1', token: NOW + 7, queue: ['h:2', 'h:3'], waiting: waiting() })
  expect(await release({ token: NOW + 7, most: 63 })).toEqual([
    'run',
    'h:2',
    String(NOW + 9),
    'h:3',
  ])
})

test('a release removes the served places before it grants the lock', async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3', 'a:1', 'h:4'], waiting: waiting() })
  expect(await release({ most: 63 }, ['h:2', 'h:3'])).toEqual(['granted', 'a:1', String(NOW)])
  expect(await queued()).toEqual(['h:4'])
})

test('a release of a hold that is gone removes the served places, and nothing else', async () => {
  await given({ holder: 'a:1', queue: ['h:2', 'h:3', 'a:2'], waiting: waiting() })
  expect(await release({ most: 63 }, ['h:2', 'h:3'])).toEqual(['gone'])
  expect(await queued()).toEqual(['a:2'])
  expect(await fields()).toEqual({ 'a:1': '1' })
  expect(await admin.get(COUNTER)).toBe(String(TOKEN))
})

test('a release that runs twice begins one run', async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3', 'h:4'], waiting: waiting() })
  expect(await release({ most: 63 })).toEqual(['run', 'h:2', String(NOW + 2), 'h:3 h:4'])
  const then = await contents()
  expect(await release({ most: 63 })).toEqual(['gone'])
  expect(await contents()).toEqual(then)
})

test("the end of a run wakes the first waiter of Redisson's queue when the queue of Holdfast is empty", async () => {
  await given({ holder: 'h:1', queue: ['h:2', 'h:3'], waiting: waiting() })
  await admin.rpush(JAVA_QUEUE, 'java:1')
  await admin.pexpire(JAVA_QUEUE, 60_000)
  const channel = await listen(`${CHANNEL}:java:1`)
  const [, owner, token] = await release({ most: 63 })
  expect(await channel.heard()).toEqual([])
  expect((await release({ owner: owner as string, token: token as string }, ['h:3']))[0]).toBe(
    'freed',
  )
  expect(await channel.heard()).toEqual([[`${CHANNEL}:java:1`, '0']])
  expect(await queued()).toEqual([])
})

describe('a grant by a message', () => {
  const two = () => ({ h: mark(2), a: mark(2) })

  test('lists the next places of its client, keeps them, and reserves a token for each', async () => {
    const inboxes = await listen(`${INBOX}h`, `${INBOX}a`, CHANNEL)
    await given({ holder: 'h:1', queue: ['a:1', 'a:2', 'a:3', 'h:2', 'a:4'], waiting: two() })
    expect(await release({ most: 63 })).toEqual(['granted', 'a:1', String(NOW + 2)])
    expect(await inboxes.heard()).toEqual([[`${INBOX}a`, `${NOW + 2}+2 a:1 a:2 a:3 ${LOCK}`]])
    expect(await contents()).toEqual({
      [LOCK]: { 'a:1': '1' },
      [COUNTER]: String(NOW + 2),
      [QUEUE]: ['a:2', 'a:3', 'h:2', 'a:4'].flatMap((owner, i) => [owner, String(ticketOf(i + 1))]),
      [WAITING]: two(),
    })
    await expectTtl(LOCK, CLAIM_MS)
  })

  test('has no run before the place of another client', async () => {
    const inbox = await listen(`${INBOX}a`)
    await given({ holder: 'h:1', queue: ['a:1', 'h:2', 'a:2'], waiting: two() })
    expect(await release()).toEqual(['granted', 'a:1', String(NOW)])
    expect(await inbox.heard()).toEqual([[`${INBOX}a`, `${NOW} a:1 ${LOCK}`]])
  })

  test.each([
    ['acquire', () => acquire({ owner: 'b:1' })],
    ['heartbeat', () => beat([['b:1', ticketOf(9)]], { client: 'b' })],
  ])('has a run too if %s finds the lock free', async (_, find) => {
    const inbox = await listen(`${INBOX}a`)
    await given({ queue: ['a:1', 'a:2'], waiting: two() })
    await find()
    expect(await inbox.heard()).toEqual([[`${INBOX}a`, `${NOW + 1}+1 a:1 a:2 ${LOCK}`]])
    expect(await admin.get(COUNTER)).toBe(String(NOW + 1))
  })

  test('has a run after a release in the background for other waiters of the same client', async () => {
    const inbox = await listen(`${INBOX}h`)
    await given({ holder: 'h:1', queue: ['h:2', 'h:3'], waiting: two() })
    expect(await release({ token: '', most: 63 })).toEqual(['granted', 'h:2', String(NOW + 1)])
    expect(await inbox.heard()).toEqual([[`${INBOX}h`, `${NOW + 1}+1 h:2 h:3 ${LOCK}`]])
  })

  test('has the token that ends the run', async () => {
    await listen(`${INBOX}h`, `${INBOX}a`)
    await given({ holder: 'h:1', queue: ['a:1', 'a:2', 'h:2'], waiting: two() })
    const [, owner, token] = (await release()) as [string, string, string]
    expect(await release({ owner, token: NOW })).toEqual(['gone'])
    expect(await release({ owner, token }, ['a:2'])).toEqual(['granted', 'h:2', String(NOW + 2)])
    expect(await queued()).toEqual([])
  })
})

test.each([
  ['of an older version', 1],
  ['whose inbox never had a listener', 0],
] as const)('a message has no run for a client %s', async (_, seen) => {
  await listen(`${INBOX}a`)
  await given({ holder: 'h:1', queue: ['a:1', 'a:2'], waiting: { a: mark(seen) } })
  expect(await release()).toEqual(['granted', 'a:1', String(NOW)])
  expect(await admin.get(COUNTER)).toBe(String(NOW))
})

test('a message has at most 63 places behind the granted place', async () => {
  const inbox = await listen(`${INBOX}a`)
  const queue = Array.from({ length: 70 }, (_, i) => `a:${String(i).padStart(2, '0')}`)
  await given({ holder: 'h:1', queue, waiting: { a: mark(2) } })
  expect(await release()).toEqual(['granted', 'a:00', String(NOW + 63)])
  const [[, message] = []] = await inbox.heard()
  expect(message).toBe(`${NOW + 63}+63 ${queue.slice(0, 64).join(' ')} ${LOCK}`)
})
