import {
  admin,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  fields,
  LOCK,
  messagesOf,
  notAfter,
  nowUs,
  QUEUE,
  run,
  server,
  state,
  type Value,
  WAITING,
  withoutTtl,
} from '../../lua/run-script.ts'
import { eventually } from '../../support/eventually.ts'
import { leaves } from '../../support/leaks.ts'
import * as scripts from '../../support/scripts.ts'
import {
  acquire,
  forceAtMaster,
  forceRelease,
  handOver,
  inspect,
  peek,
  release,
  renew,
  tokenOf,
} from './lock-requests.ts'

afterEach(async () => {
  expect(await withoutTtl()).toEqual([])
  await server.flush()
})
describe('sharded channels, if the server has them', () => {
  const SHARDED = { publish: 'SPUBLISH' }

  /** Returns the messages on the sharded channel during the work, or null if the server has no sharded channels. */
  async function shardedOf(work: () => Promise<unknown>): Promise<string[] | null> {
    if ((await admin.info('server')).includes('redis_version:6.')) return null
    const messages: string[] = []
    const client = admin.duplicate()
    client.on('smessage', (_, payload) => messages.push(payload))
    try {
      await client.ssubscribe(CHANNEL)
      expect(await messagesOf(work)).toEqual([])
      await admin.spublish(CHANNEL, 'end')
      await eventually(() => messages.includes('end'))
    } finally {
      client.disconnect()
    }
    await eventually(async () => ((await admin.pubsub('SHARDCHANNELS')) as string[]).length === 0)
    return messages.slice(0, -1)
  }

  test('a release and a forced release are published on the sharded channel, and listeners are counted', async () => {
    const messages = await shardedOf(async () => {
      expect(await release({ token: await tokenOf(), ...SHARDED })).toEqual(['freed', 1])
      await acquire({})
      await forceRelease(SHARDED)
    })
    expect(messages ?? ['0', '0']).toEqual(['0', '0'])
  })

  test('inspect and a hand-over that yields count the listeners of the sharded channel', async () => {
    const messages = await shardedOf(async () => {
      const token = await tokenOf()
      const answer = (await run(scripts.inspect, {
        channel: CHANNEL,
        most: 1_000,
        ...SHARDED,
      })) as Value[]
      expect(answer[4]).toBe(1)
      expect(await handOver({ token, listening: 0, ...SHARDED })).toEqual(['yielded', 1])
    })
    expect(messages ?? ['0']).toEqual(['0'])
  })
})

describe('inspect', () => {
  test('inspect distinguishes a free lock from a held lock, and changes nothing', async () => {
    const time = expect.stringMatching(/^\d{16}$/)
    expect(await inspect()).toEqual(['', '0', -2, '', 0, time, [], [], 0])
    const token = await tokenOf()
    await acquire({ holds: 2 })
    const then = await state()
    const before = await nowUs()
    const answer = (await inspect()) as Value[]
    expect(answer).toEqual(['c:1', '2', expect.any(Number), String(token), 0, time, [], [], 0])
    expect(answer[2]).toBeGreaterThan(5_000)
    expect(Number(answer[5])).toBeGreaterThanOrEqual(before)
    expect(Number(answer[5])).toBeLessThanOrEqual(await nowUs())
    expect(await state()).toEqual(then)
  })

  test('inspect lists the waiters in order, with the facts about their clients', async () => {
    await admin.zadd(QUEUE, 1_800_000_000_000_002, 'd:1', 1_800_000_000_000_001, 'c:7')
    await admin.hset(WAITING, 'c', '1800000003000 1 shop 7', 'c:7', '100')
    for (const key of [QUEUE, WAITING]) await admin.pexpire(key, 10_000)
    const then = await state()
    const [queue, waiting, length] = ((await inspect()) as unknown[]).slice(6)
    expect(queue).toEqual(['c:7', '1800000000000001', 'd:1', '1800000000000002'])
    expect(waiting).toEqual(['c', '1800000003000 1 shop 7', 'd', ''])
    expect(length).toBe(2)
    expect(((await inspect(1)) as unknown[]).slice(6)).toEqual([
      ['c:7', '1800000000000001'],
      ['c', '1800000003000 1 shop 7'],
      2,
    ])
    expect(await state()).toEqual(then)
    leaves({ keys: true, why: 'the hand-made queue is left to its TTL' })
  })
})

describe('peek', () => {
  test('peek reports the holder as inspect does, reports no waiters, and changes nothing', async () => {
    await admin.zadd(QUEUE, 1_800_000_000_000_001, 'c:7')
    await admin.pexpire(QUEUE, 10_000)
    expect(await peek()).toEqual(['', '0', -2, ''])
    const token = await tokenOf()
    await acquire({ holds: 2 })
    const then = await state()
    const [holder, holds, ttlMs, last, ...others] = (await peek()) as Value[]
    expect([holder, holds, last, others]).toEqual(['c:1', '2', String(token), []])
    expect(ttlMs).toBeGreaterThan(5_000)
    expect(((await inspect()) as Value[]).slice(0, 2)).toEqual([holder, holds])
    expect(await state()).toEqual(then)
    await admin.persist(LOCK)
    await admin.del(COUNTER)
    expect(await peek()).toEqual(['c:1', '2', -1, ''])
    await admin.del(LOCK)
    leaves({ keys: true, why: 'the hand-made queue is left to its TTL' })
  })
})

describe('a server clock that was set back', () => {
  test.each([
    ['acquire', (notAfterUs: number) => acquire({ notAfterUs })],
    ['acquire, nested', (notAfterUs: number) => acquire({ owner: 'c:9', holds: 2, notAfterUs })],
    ['release', (notAfterUs: number) => release({ owner: 'c:9', holds: 1, notAfterUs })],
    ['hand-over', (notAfterUs: number) => handOver({ from: 'c:9', token: 17, notAfterUs })],
  ])('a time limit that is too far ahead stops %s', async (kind, call) => {
    if (kind !== 'acquire') {
      await admin.hset(LOCK, 'c:9', kind === 'release' ? 2 : 1)
      await admin.pexpire(LOCK, 60_000)
    }
    const then = await state()
    expect((await call(await notAfter(5_000, 40)))[0]).toBe('late')
    expect(await state()).toEqual(then)
    expect((await call(await notAfter(5_000, 60)))[0]).not.toBe('late')
    await admin.del(LOCK)
  })

  test('a time limit may be any time ahead if the request gives no bound', async () => {
    expect((await acquire({ notAfterUs: await notAfter(500_000, 0) }))[0]).toBe('granted')
    await admin.del(LOCK)
  })
})

describe('a key of another type', () => {
  const everything: [string, () => Promise<unknown>][] = [
    ['acquire', () => acquire({})],
    ['acquire, nested', () => acquire({ holds: 2 })],
    ['release', () => release({ token: 17 })],
    ['release without a token', () => release({ token: '', holds: 1 })],
    ['hand-over', () => handOver({ token: 17 })],
    ['force-release', () => forceRelease()],
    ['force-release at a master', () => forceAtMaster()],
    ['inspect', () => inspect()],
    ['peek', () => peek()],
  ]

  test.each(everything)(
    'a key of another type in place of the lock stops %s, and nothing changes',
    async (_, call) => {
      await admin.set(LOCK, 'precious', 'PX', 60_000)
      await admin.set(COUNTER, '17', 'PX', 60_000)
      const then = await state()
      const messages = await messagesOf(() => expect(call()).rejects.toThrow(/WRONGTYPE/))
      expect(messages).toEqual([])
      expect(await state()).toEqual(then)
      leaves({ keys: true, why: 'the key of another type must still be there' })
    },
  )

  test.each([
    ['a first acquire', 0, () => acquire({})],
    ['a repeated acquire', 1, () => acquire({})],
    ['release', 1, () => release({ token: 17 })],
    ['hand-over', 1, () => handOver({ token: 17 })],
    ['inspect', 1, () => inspect()],
    ['peek', 1, () => peek()],
  ] as [string, number, () => Promise<unknown>][])(
    'a key of another type in place of the counter stops %s, and nothing changes',
    async (_, holds, call) => {
      await admin.rpush(COUNTER, 'precious')
      await admin.pexpire(COUNTER, 60_000)
      if (holds > 0) {
        await admin.hset(LOCK, 'c:1', holds)
        await admin.pexpire(LOCK, 60_000)
      }
      const then = await state()
      await expect(call()).rejects.toThrow(/WRONGTYPE/)
      expect(await state()).toEqual(then)
      leaves({ keys: true, why: 'the key of another type must still be there' })
    },
  )
})

describe('a read-write lock of Redisson with the same name', () => {
  const readWrite = { mode: 'write', 'j:1:write': '1' }

  test.each([
    ['acquire', () => acquire({})],
    ['acquire of an owner who is in it', () => acquire({ owner: 'c:9' })],
    ['acquire, nested', () => acquire({ owner: 'c:9', holds: 2 })],
    ['hand-over', () => handOver({ from: 'c:9', token: 17 })],
    ['force-release', () => forceRelease({ owner: 'c:9' })],
    ['force-release at a master', () => forceAtMaster({ owner: 'c:9' })],
    ['inspect', () => inspect()],
    ['peek', () => peek()],
  ] as [string, () => Promise<unknown>][])(
    'a read-write lock of Redisson stops %s, and stays as it is',
    async (_, call) => {
      await admin.hset(LOCK, { ...readWrite, 'c:9': 1 })
      await admin.pexpire(LOCK, 60_000)
      const then = await state()
      const messages = await messagesOf(() =>
        expect(call()).rejects.toThrow(/^WRONGTYPE.*read-write/),
      )
      expect(messages).toEqual([])
      expect(await state()).toEqual(then)
      leaves({ keys: true, why: "Redisson's lock must still be there" })
    },
  )

  test.each([0, 1])(
    'a release removes its owner from a read-write lock of Redisson and nothing else, with %d left',
    async (holds) => {
      await admin.hset(LOCK, { ...readWrite, 'c:1': 2 })
      await admin.pexpire(LOCK, 60_000)
      const messages = await messagesOf(async () => {
        expect(await release({ token: '', holds })).toEqual(['gone'])
      })
      expect(messages).toEqual([])
      expect(await fields()).toEqual(readWrite)
      leaves({ keys: true, why: "Redisson's lock must still be there" })
    },
  )

  test('a read-write lock of Redisson is not renewed', async () => {
    await admin.hset(LOCK, { ...readWrite, 'c:1': 1 })
    await admin.pexpire(LOCK, 60_000)
    expect(await renew(120_000, [[LOCK, 'c:1']])).toEqual([-2])
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(60_000)
    leaves({ keys: true, why: "Redisson's lock must still be there" })
  })
})

describe('the counter', () => {
  const WEEK_MS = 7 * 86_400_000
  /** Checks that the counter still lives for about `ms` milliseconds. */
  const lives = async (ms: number) => {
    const left = await admin.pttl(COUNTER)
    expect(left).toBeGreaterThan(ms - 5_000)
    expect(left).toBeLessThanOrEqual(ms + 100)
  }

  test('the counter outlives the lease of the hold, even if it is to be kept for a shorter time', async () => {
    const brief = { counterMs: 1 }
    const token = await tokenOf({ ...brief, leaseMs: WEEK_MS })
    await lives(WEEK_MS)
    await admin.pexpire(COUNTER, 1_000)
    expect((await handOver({ token, leaseMs: 2 * WEEK_MS, ...brief }))[0]).toBe('granted')
    await lives(2 * WEEK_MS)
    await admin.del(LOCK)
    await tokenOf({ ...brief, leaseMs: 30_000, reserve: 63, holds: 1 })
    await lives(30_000)
  })

  test('the counter outlives a re-entry that lengthens the lease', async () => {
    await tokenOf()
    expect(await acquire({ holds: 2, leaseMs: WEEK_MS })).toEqual(['granted', ''])
    await lives(WEEK_MS)
    await acquire({ holds: 3 })
    await lives(WEEK_MS)
  })

  test('each re-entry keeps the counter for its whole time, even if the lease is shorter', async () => {
    const counterMs = 60_000
    await tokenOf({ counterMs, leaseMs: 30_000 })
    // Now the state is the same as after 50 s with some re-entries.
    await admin.pexpire(COUNTER, 10_000)
    await admin.pexpire(LOCK, 5_000)
    expect(await acquire({ holds: 2, counterMs, leaseMs: 30_000 })).toEqual(['granted', ''])
    await lives(counterMs)
  })

  test('renewals prolong the counter, and renewals for 0 ms do not', async () => {
    await tokenOf({ leaseMs: 30_000 })
    await admin.pexpire(COUNTER, 20_000)
    await renew(0, [[LOCK, 'c:1']])
    await renew(30_000, [[LOCK, 'c:2']])
    await renew(30_000, [[LOCK, 'c:1']], 0)
    await lives(20_000)
    await renew(30_000, [[LOCK, 'c:1']])
    await lives(COUNTER_MS)
    await renew(WEEK_MS, [[LOCK, 'c:1']])
    await lives(WEEK_MS)
    await renew(30_000, [[LOCK, 'c:1']])
    await lives(WEEK_MS)
    await admin.persist(COUNTER)
    await renew(30_000, [[LOCK, 'c:1']])
    expect(await admin.pttl(COUNTER)).toBe(-1)
    await admin.del(COUNTER)
    await renew(30_000, [[LOCK, 'c:1']])
    expect(await admin.exists(COUNTER)).toBe(0)
  })

  test('the counter is kept for its whole time after the last renewal or re-entry, not only for the lease', async () => {
    await tokenOf({ leaseMs: 10_000 })
    await admin.pexpire(COUNTER, COUNTER_MS / 2)
    await renew(10_000, [[LOCK, 'c:1']])
    await lives(COUNTER_MS)
    await admin.pexpire(COUNTER, COUNTER_MS / 2)
    await admin.pexpire(LOCK, 5_000)
    await acquire({ holds: 2, leaseMs: 10_000 })
    await lives(COUNTER_MS)
  })

  test('a counter that is ahead of the clock stays until the clock has passed it', async () => {
    const aheadMs = 5 * 86_400_000
    await admin.set(COUNTER, (await nowUs()) + aheadMs * 1_000, 'PX', 10_000)
    const token = await tokenOf()
    await lives(aheadMs + COUNTER_MS)
    expect((await handOver({ token }))[0]).toBe('granted')
    await lives(aheadMs + COUNTER_MS)
  })

  test('the next token is greater even if the counter is lost while the lock is held', async () => {
    const token = await tokenOf()
    await admin.del(COUNTER)
    const [kind, next] = await handOver({ token })
    expect([kind, Number(next) > token]).toEqual(['granted', true])
    await admin.del(COUNTER)
    expect(await release({ owner: 'c:2', token: Number(next) })).toEqual(['freed', 0])
    expect(await tokenOf()).toBeGreaterThan(Number(next))
  })
})

test('a counter that is kept forever has no TTL', async () => {
  const forever = { counterMs: 0 }
  const token = await tokenOf(forever)
  expect(await admin.pttl(COUNTER)).toBe(-1)
  await admin.pexpire(COUNTER, 1_000)
  expect((await handOver({ token, ...forever }))[0]).toBe('granted')
  expect(await admin.pttl(COUNTER)).toBe(-1)
  await admin.del(COUNTER)
})
