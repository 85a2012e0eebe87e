import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'
import * as scripts from '../support/scripts.ts'
import {
  type Arguments,
  admin,
  BIRTH,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  FORCED,
  fields,
  LOCK,
  messagesOf,
  NEVER,
  notAfter,
  nowUs,
  QUEUE,
  run,
  server,
  state,
  type Value,
  WAITING,
  withoutTtl,
} from './run-script.ts'

const taking = { owner: 'c:1', leaseMs: 10_000, notAfterUs: NEVER, counterMs: COUNTER_MS }

const acquire = (args: Arguments) =>
  run(scripts.acquire, { ...taking, holds: 1, ...args }) as Promise<[string, Value, Value?, Value?]>

const release = (args: Arguments) =>
  run(scripts.release, {
    owner: 'c:1',
    token: '',
    channel: CHANNEL,
    publish: 'PUBLISH',
    ...args,
  }) as Promise<[string, Value?]>

const handOver = (args: Arguments) =>
  run(scripts.handOver, {
    from: 'c:1',
    to: 'c:2',
    leaseMs: 10_000,
    notAfterUs: NEVER,
    counterMs: COUNTER_MS,
    channel: CHANNEL,
    publish: 'PUBLISH',
    listening: '',
    vote: '',
    reserve: 0,
    ...args,
  }) as Promise<[string, Value, Value?, Value?]>

const renew = (leaseMs: number, seats: [key: string, owner: string][], counterMs = COUNTER_MS) =>
  admin.eval(
    scripts.renew.source,
    2 * seats.length,
    ...seats.flatMap(([key]) => lockKeys(key).both),
    leaseMs,
    counterMs,
    ...seats.map(([, owner]) => owner),
  ) as Promise<number[]>

/** Of a server that is alone: what masters note is left out. */
const forceRelease = (args: Arguments = {}) =>
  run(
    { ...scripts.forceRelease, keys: scripts.forceRelease.keys.slice(0, 2) },
    { owner: 'c:1', token: '', channel: CHANNEL, publish: 'PUBLISH', ...args },
  )
/** Of one master of several. */
const forceAtMaster = (args: Arguments = {}) =>
  run(scripts.forceRelease, {
    owner: 'c:1',
    token: '',
    channel: CHANNEL,
    publish: 'PUBLISH',
    forcedMs: 20_000,
    ...args,
  })
const inspect = (most = 1_000) =>
  run(scripts.inspect, { channel: CHANNEL, publish: 'PUBLISH', most })
const peek = () => run(scripts.peek, {})
const tokenOf = async (args: Arguments = {}) => Number((await acquire(args))[1])

afterEach(async () => {
  expect(await withoutTtl()).toEqual([])
  await server.flush()
})

test.each(Object.entries(scripts))('%s has the SHA-1 that Redis computes', async (_, script) => {
  expect(await admin.script('LOAD', script.source)).toBe(script.sha1)
})

describe('acquire', () => {
  test("an acquisition of a free lock writes one field, the lease, and a token from the server's clock", async () => {
    const before = await nowUs()
    const [kind, token] = await acquire({ leaseMs: 5_000 })
    expect(kind).toBe('granted')
    expect(token).toMatch(/^\d{16}$/)
    expect(Number(token)).toBeGreaterThanOrEqual(before)
    expect(Number(token)).toBeLessThanOrEqual(await nowUs())
    expect(await fields()).toEqual({ 'c:1': '1' })
    expect(await admin.get(COUNTER)).toBe(token)
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(5_000)
    expect(await admin.pttl(LOCK)).toBeGreaterThan(3_000)
    expect(await admin.pttl(COUNTER)).toBeLessThanOrEqual(COUNTER_MS)
  })

  test('an acquisition with a reserve of 63 gets 63 new tokens below its own token', async () => {
    for (const before of ['17', String((await nowUs()) + 10_000_000)]) {
      await admin.set(COUNTER, before, 'PX', COUNTER_MS)
      const [kind, token, reserved] = await acquire({ reserve: 63 })
      expect([kind, reserved]).toEqual(['granted', 63])
      expect(await admin.get(COUNTER)).toBe(token)
      expect(Number(token) - 63).toBeGreaterThan(Number(before))
      // Nobody can know whether the tokens below it have been used since.
      expect(await acquire({ reserve: 63 })).toEqual(['granted', token])
      expect(await acquire({ reserve: 63, holds: 2 })).toEqual(['granted', ''])
      await release({})
      expect(await tokenOf()).toBeGreaterThan(Number(token))
      await release({})
    }
  })

  test('a repeated acquisition gets the same answer and changes nothing', async () => {
    const first = await acquire({})
    const then = await state()
    expect(await acquire({})).toEqual(first)
    expect(await state()).toEqual(then)
    const nested = await acquire({ holds: 2 })
    expect(nested).toEqual(['granted', ''])
    const later = await state()
    expect(await acquire({ holds: 2 })).toEqual(nested)
    expect(await acquire({ holds: 1 })).toEqual(first)
    expect(await state()).toEqual(later)
    expect(await fields()).toEqual({ 'c:1': '2' })
  })

  test('a re-entry whose count is 1 is answered with gone after its hold ended', async () => {
    const token = await tokenOf()
    await acquire({ holds: 2 })
    await release({ token, holds: 1 })
    const then = await state()
    for (let again = 0; again < 2; again++) {
      expect(await acquire({ holds: 1, reserve: 0, token })).toEqual(['granted', ''])
    }
    expect(await state()).toEqual(then)
    await release({ token })
    expect(await acquire({ holds: 1, reserve: 0, token })).toEqual(['gone'])
    expect(await fields()).toEqual({})
    // The name is in use again, for a later hold.
    await acquire({})
    for (const holds of [1, 2]) {
      expect(await acquire({ holds, reserve: 0, token })).toEqual(['gone'])
    }
    expect(await fields()).toEqual({ 'c:1': '1' })
  })

  test('a re-entry lengthens the lease if it asks for more, and never shortens it', async () => {
    await acquire({ leaseMs: 20_000 })
    expect(await acquire({ holds: 2, leaseMs: 1_000 })).toEqual(['granted', ''])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(15_000)
    expect(await acquire({ holds: 3, leaseMs: 50_000 })).toEqual(['granted', ''])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(40_000)
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(50_000)
    expect(await fields()).toEqual({ 'c:1': '3' })
  })

  test("a refusal reports the rest of the holder's lease, and -1 for a hold without an expiry", async () => {
    await acquire({ leaseMs: 8_000 })
    const then = await state()
    const [kind, ttlMs, holder, ageMs] = await acquire({ owner: 'c:2' })
    expect([kind, holder]).toEqual(['held', 'c:1'])
    expect(ageMs).toBeGreaterThanOrEqual(0)
    expect(ageMs).toBeLessThan(3_000)
    expect(ttlMs).toBeGreaterThan(5_000)
    expect(ttlMs).toBeLessThanOrEqual(8_000)
    expect(await state()).toEqual(then)
    await admin.persist(LOCK)
    await admin.set(COUNTER, (Date.now() - 12_000) * 1_000)
    const [, , , aged] = await acquire({ owner: 'c:2' })
    expect(aged).toBeGreaterThanOrEqual(12_000)
    expect(aged).toBeLessThan(15_000)
    // A clock that was set back tells no age, nor does a token that is gone.
    await admin.set(COUNTER, (Date.now() + 60_000) * 1_000)
    expect(await acquire({ owner: 'c:2' })).toEqual(['held', -1, 'c:1', 0])
    await admin.del(COUNTER)
    expect(await acquire({ owner: 'c:2' })).toEqual(['held', -1, 'c:1', ''])
    await admin.pexpire(LOCK, 1_000)
  })

  test('a re-entry of an ended hold is answered with gone, and acquires nothing', async () => {
    expect(await acquire({ holds: 2 })).toEqual(['gone'])
    expect(await state()).toEqual([])
    await acquire({ owner: 'c:2' })
    const then = await state()
    expect(await acquire({ holds: 2 })).toEqual(['gone'])
    expect(await state()).toEqual(then)
  })

  test("a first acquisition that comes too late is refused by the server's clock", async () => {
    const [kind, time] = await acquire({ notAfterUs: (await nowUs()) - 1_000 })
    expect(kind).toBe('late')
    expect(Number(time)).toBeGreaterThan((await nowUs()) - 5_000_000)
    expect(await state()).toEqual([])
    expect((await acquire({ notAfterUs: await notAfter(5_000, 60) }))[0]).toBe('granted')
    // Who has it already has it, however late the repeat comes; a count is raised no more.
    expect((await acquire({ notAfterUs: 1 }))[0]).toBe('granted')
    expect((await acquire({ holds: 2, notAfterUs: 1 }))[0]).toBe('late')
    expect(await fields()).toEqual({ 'c:1': '1' })
  })

  test('each token is greater than the token before, even when the counter is ahead of the clock', async () => {
    const first = await tokenOf()
    await release({ token: first })
    const second = await tokenOf()
    expect(second).toBeGreaterThan(first)
    await release({ token: second })
    await admin.set(COUNTER, String(Number.MAX_SAFE_INTEGER - 5), 'PX', 1_000)
    expect(await acquire({})).toEqual(['granted', String(Number.MAX_SAFE_INTEGER - 4)])
    expect(await admin.pttl(COUNTER)).toBeGreaterThan(1_000)
  })

  test('a repeat gets a new token if the counter was lost during the hold', async () => {
    const first = await tokenOf()
    await admin.del(COUNTER)
    const again = await tokenOf()
    expect(again).toBeGreaterThan(first)
    expect(await admin.get(COUNTER)).toBe(String(again))
    expect(await fields()).toEqual({ 'c:1': '1' })
  })
})

describe('release', () => {
  test('the last release deletes the key, and publishes one message', async () => {
    const token = await tokenOf()
    const messages = await messagesOf(async () => {
      expect(await release({ token })).toEqual(['freed', 1]) // the test itself listens
    })
    expect(messages).toEqual(['0'])
    expect(await admin.keys('*')).toEqual([COUNTER])
  })

  test('a release reports how many clients listen', async () => {
    const answer = async () => release({ token: await tokenOf() })
    const listeners = [admin.duplicate(), admin.duplicate()]
    atEnd(() => listeners.map((one) => one.disconnect()), { beforeCheck: true })
    expect(await answer()).toEqual(['freed', 0])
    for (const [i, listener] of listeners.entries()) {
      await listener.subscribe(CHANNEL)
      expect(await answer()).toEqual(['freed', i + 1])
    }
    for (const listener of listeners) await listener.unsubscribe(CHANNEL)
    expect(await answer()).toEqual(['freed', 0])
  })

  test('a nested release lowers the count, publishes nothing and keeps the lease', async () => {
    const token = await tokenOf({ leaseMs: 30_000 })
    await acquire({ holds: 2 })
    await acquire({ holds: 3 })
    const messages = await messagesOf(async () => {
      expect(await release({ token, holds: 2 })).toEqual(['kept'])
      expect(await release({ token, holds: 2 })).toEqual(['kept'])
    })
    expect(messages).toEqual([])
    expect(await fields()).toEqual({ 'c:1': '2' })
    expect(await admin.pttl(LOCK)).toBeGreaterThan(25_000)
    // One that comes late does not raise the count.
    expect(await release({ token, holds: 3 })).toEqual(['kept'])
    expect(await fields()).toEqual({ 'c:1': '2' })
  })

  test('a repeated release finds nothing to release, and publishes nothing', async () => {
    const token = await tokenOf()
    await release({ token })
    const then = await state()
    const messages = await messagesOf(async () => {
      expect(await release({ token })).toEqual(['gone'])
    })
    expect(messages).toEqual([])
    expect(await state()).toEqual(then)
  })

  test('a release that comes late does not end a newer hold of the same owner', async () => {
    const first = await tokenOf()
    await release({ token: first })
    await tokenOf()
    await acquire({ holds: 2 })
    const then = await state()
    expect(await release({ token: first })).toEqual(['gone'])
    expect(await release({ token: first, holds: 1 })).toEqual(['gone'])
    expect(await state()).toEqual(then)
  })

  test('a release by another owner changes nothing', async () => {
    const token = await tokenOf()
    const then = await state()
    expect(await release({ owner: 'c:2', token })).toEqual(['gone'])
    expect(await release({ owner: 'c:2', token: '' })).toEqual(['gone'])
    expect(await state()).toEqual(then)
  })

  test('a release without a token ends any hold of the owner', async () => {
    await tokenOf()
    expect(await release({ token: '' })).toEqual(['freed', 0])
    expect(await admin.exists(LOCK)).toBe(0)
  })

  test('a nested release that comes too late lowers nothing, but the last release always works', async () => {
    const token = await tokenOf()
    await acquire({ holds: 2 })
    const then = await state()
    const [kind, time] = (await release({ token, holds: 1, notAfterUs: 1 })) as [string, Value]
    expect(kind).toBe('late')
    expect(Math.abs(Number(time) - (await nowUs()))).toBeLessThan(5_000_000)
    expect(await state()).toEqual(then)
    expect(await release({ token, holds: 2, notAfterUs: 1 })).toEqual(['kept'])
    expect(await release({ token, holds: 0, notAfterUs: 1 })).toEqual(['freed', 0])
  })

  test('a nested release works while the server is full, and keeps the lease', async () => {
    const token = await tokenOf({ leaseMs: 30_000 })
    await acquire({ holds: 2 })
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect(await release({ token, holds: 1 })).toEqual(['kept'])
      expect(await fields()).toEqual({ 'c:1': '1' })
      expect(await admin.pttl(LOCK)).toBeGreaterThan(25_000)
      expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(30_001)
      expect(await release({ token })).toEqual(['freed', 0])
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
  })

  test('a release works after the counter was lost', async () => {
    const token = await tokenOf()
    await admin.del(COUNTER)
    expect(await release({ token })).toEqual(['freed', 0])
    expect(await admin.keys('*')).toEqual([])
  })
})

describe('hand-over', () => {
  test('a hand-over moves the lock to the next owner with a new token and its lease, and publishes nothing', async () => {
    const token = await tokenOf({ leaseMs: 1_000 })
    let answer: [string, Value, Value?, Value?] = ['', '']
    const messages = await messagesOf(async () => {
      answer = await handOver({ token, leaseMs: 30_000 })
    })
    expect(messages).toEqual([])
    expect(answer[0]).toBe('granted')
    expect(Number(answer[1])).toBeGreaterThan(token)
    expect(await admin.get(COUNTER)).toBe(answer[1])
    expect(await fields()).toEqual({ 'c:2': '1' })
    expect(await admin.pttl(LOCK)).toBeGreaterThan(20_000)
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(30_001)
  })

  test('a hand-over with a reserve of 63 gets 63 new tokens below its own token', async () => {
    const ahead = (await nowUs()) + 10_000_000
    for (const [from, to, vote] of [
      ['c:1', 'c:2', ''],
      ['c:2', 'c:3', ''],
      ['c:3', 'c:4', 1],
    ] as const) {
      const last = from === 'c:1' ? await tokenOf() : Number(await admin.get(COUNTER))
      if (from === 'c:2') await admin.set(COUNTER, ahead, 'PX', COUNTER_MS)
      const before = from === 'c:2' ? ahead : last
      const args = { from, to, vote, token: before, reserve: 63 }
      const [kind, token, reserved] = await handOver(args)
      expect([kind, reserved]).toEqual(['granted', 63])
      expect(await admin.get(COUNTER)).toBe(token)
      expect(Number(token) - 63).toBeGreaterThan(before)
      expect(await handOver(args)).toEqual(['granted', token])
    }
  })

  test('a hand-over uses the lease of the next owner even if that lease is shorter', async () => {
    const token = await tokenOf({ leaseMs: 60_000 })
    await handOver({ token, leaseMs: 5_000 })
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(5_000)
  })

  test('a hand-over ends all nested holds of the first owner', async () => {
    const token = await tokenOf()
    await acquire({ holds: 2 })
    await handOver({ token })
    expect(await fields()).toEqual({ 'c:2': '1' })
  })

  test('a repeated hand-over gets the same answer and changes nothing', async () => {
    const token = await tokenOf()
    const answer = await handOver({ token })
    const then = await state()
    expect(await handOver({ token })).toEqual(answer)
    expect(await state()).toEqual(then)
  })

  test('a hand-over from an owner that holds nothing, or with an old token, does nothing', async () => {
    expect(await handOver({ token: 17 })).toEqual(['gone'])
    expect(await state()).toEqual([])
    const token = await tokenOf()
    const then = await state()
    expect(await handOver({ from: 'c:3', token })).toEqual(['gone'])
    expect(await handOver({ token: token - 1 })).toEqual(['gone'])
    expect(await state()).toEqual(then)
  })

  test('a hand-over that comes too late does nothing', async () => {
    const token = await tokenOf()
    const then = await state()
    expect((await handOver({ token, notAfterUs: 1 }))[0]).toBe('late')
    expect(await state()).toEqual(then)
  })

  test('a hand-over that may yield releases the lock if other clients listen', async () => {
    const token = await tokenOf()
    let answer: [string, Value, Value?, Value?] = ['', '']
    const messages = await messagesOf(async () => {
      // The test itself is the one listener; it is the client's own.
      answer = await handOver({ token, listening: 1 })
    })
    expect(answer[0]).toBe('granted')
    expect(messages).toEqual([])
    const others = await messagesOf(async () => {
      expect(await handOver({ from: 'c:2', to: 'c:3', token: answer[1], listening: 0 })).toEqual([
        'yielded',
        1,
      ])
    })
    expect(others).toEqual(['0'])
    expect(await admin.keys('*')).toEqual([COUNTER])
  })

  test('a hand-over works after the counter was lost', async () => {
    const token = await tokenOf()
    await admin.del(COUNTER)
    const [kind, next] = await handOver({ token })
    expect(kind).toBe('granted')
    expect(Number(next)).toBeGreaterThan(token)
  })
})

describe('renew', () => {
  const hold = async (key: string, owner: string, ms: number) => {
    await admin.hset(key, owner, 1)
    await admin.pexpire(key, ms)
  }

  test('a renewal lengthens the lease of each lock that its owner still holds, and no other lease', async () => {
    await hold('a', 'c:1', 1_000)
    await hold('b', 'other:1', 1_000)
    await hold('d', 'c:4', 60_000)
    const left = await renew(10_000, [
      ['a', 'c:1'],
      ['b', 'c:2'],
      ['c', 'c:3'],
      ['d', 'c:4'],
    ])
    expect(left.slice(0, 3)).toEqual([10_000, -2, -2])
    expect(left[3]).toBeGreaterThan(50_000)
    expect(await admin.pttl('a')).toBeGreaterThan(5_000)
    expect(await admin.pttl('b')).toBeLessThanOrEqual(1_000)
    expect(await admin.exists('c')).toBe(0)
    expect(await admin.pttl('d')).toBeGreaterThan(50_000)
  })

  test('a renewal for 0 ms only reads the leases', async () => {
    await hold('a', 'c:1', 5_000)
    const [left, gone] = await renew(0, [
      ['a', 'c:1'],
      ['b', 'c:1'],
    ])
    expect(left).toBeGreaterThan(2_000)
    expect(left).toBeLessThanOrEqual(5_000)
    expect(gone).toBe(-2)
    expect(await admin.pttl('a')).toBeLessThanOrEqual(5_000)
  })

  test('a renewal changes nothing but the lease', async () => {
    await hold('a', 'c:1', 1_000)
    await renew(10_000, [['a', 'c:1']])
    await renew(10_000, [['a', 'c:1']])
    expect(await admin.hgetall('a')).toEqual({ 'c:1': '1' })
    expect(await admin.keys('*')).toEqual(['a'])
  })

  test('a renewal counts a key of another type as lost, and renews the other locks', async () => {
    await admin.set('a', 'precious', 'PX', 5_000)
    await hold('b', 'c:2', 1_000)
    expect(
      await renew(10_000, [
        ['a', 'c:1'],
        ['b', 'c:2'],
      ]),
    ).toEqual([-2, 10_000])
    expect(await admin.get('a')).toBe('precious')
    expect(await admin.pttl('a')).toBeLessThanOrEqual(5_000)
  })

  test('a renewal of a key without an expiry gives it the lease, and a renewal for 0 ms reports -1', async () => {
    await admin.hset('a', 'c:1', 1)
    expect(await renew(0, [['a', 'c:1']])).toEqual([-1])
    expect(await admin.pttl('a')).toBe(-1)
    expect(await renew(10_000, [['a', 'c:1']])).toEqual([10_000])
    expect(await admin.pttl('a')).toBeGreaterThan(5_000)
  })

  test('a renewal renews 500 locks at once', async () => {
    const seats = Array.from({ length: 500 }, (_, i): [string, string] => [`it ${i}`, `c:${i}`])
    for (const [key, owner] of seats) await hold(key, owner, 5_000)
    expect(await renew(20_000, seats)).toEqual(Array(500).fill(20_000))
  })
})

describe('force-release', () => {
  test('a forced release ends a nested hold, publishes one message, and finds nothing the second time', async () => {
    const token = await tokenOf()
    await acquire({ holds: 2 })
    const messages = await messagesOf(async () => {
      expect(await forceRelease({ token })).toBe(1)
      expect(await forceRelease({ token })).toBe(0)
    })
    expect(messages).toEqual(['0'])
    expect(await admin.keys('*')).toEqual([COUNTER])
  })

  test('a repeated forced release does not end a later hold, even with the same owner id', async () => {
    const token = await tokenOf()
    for (const owner of ['c:2', 'c:1']) {
      await release({ owner: 'c:1' })
      await acquire({ owner })
      const then = await state()
      const messages = await messagesOf(async () => {
        expect(await forceRelease({ token })).toBe(0)
      })
      expect(messages).toEqual([])
      expect(await state()).toEqual(then)
      await release({ owner })
    }
  })

  test('a forced release ends a hold whose counter was lost', async () => {
    const token = await tokenOf()
    await admin.del(COUNTER)
    expect(await forceRelease({ token })).toBe(1)
    await acquire({})
    expect(await forceRelease({ token: '' })).toBe(1)
  })

  test('a forced release at one of several masters notes the owner for a time, even if the owner holds nothing there', async () => {
    await acquire({})
    expect(await forceAtMaster()).toBe(1)
    expect(await forceAtMaster({ owner: 'c:2' })).toBe(0)
    expect(await admin.hkeys(FORCED)).toEqual(['c:1', 'c:2'])
    expect(await admin.pttl(FORCED)).toBeGreaterThan(15_000)
    expect(await admin.pttl(FORCED)).toBeLessThanOrEqual(20_000)
  })
})

describe('sharded channels, if the server has them', () => {
  const SHARDED = { publish: 'SPUBLISH' }

  /** What was published on the sharded channel while the work ran; null on a server without them. */
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
  /** It is there for so long at the least, and not for much longer. */
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
    // As it is after 50 s, in which the lock was entered again now and then.
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

describe('one of several masters', () => {
  // The one key that has no TTL by design.
  afterEach(() => admin.del(BIRTH))

  const REST_MS = 60_000
  const enrol = (args: Arguments = {}) =>
    run(scripts.enrol, { runId: 'a', restMs: REST_MS, durable: 0, ...args })
  const vote = (args: Arguments = {}) =>
    run(scripts.vote, { ...taking, birth: BIRTH, longestMs: REST_MS, ...args }) as Promise<
      [string, Value]
    >
  /** The replication id of the server, which tells one start of a master from another. */
  const replId = async () =>
    /master_replid:(\w+)/.exec(await admin.info('replication'))?.[1] as string
  /** A mark as it was written since the server was started, or by another one. */
  const mark = async ({ since = 1, durable = 0, id = '', longestMs = REST_MS } = {}) => {
    const by = id === '' ? await replId() : id
    await admin.set(BIRTH, `${since} a ${durable} ${by} ${longestMs}`)
  }
  const agree = (token: number, owner = 'c:1') =>
    run(scripts.agree, { owner, token, counterMs: COUNTER_MS })
  const restore = (args: Arguments = {}) =>
    run(scripts.restore, {
      owner: 'c:1',
      holds: 2,
      leaseMs: 10_000,
      token: 17,
      notAfterUs: NEVER,
      counterMs: COUNTER_MS,
      ...args,
    })
  const inMs = async (sinceUs: unknown) => (Number(sinceUs) - (await nowUs())) / 1_000

  test('vote is refused before the master is enrolled, and until the moment that enrol answers', async () => {
    expect(await vote()).toEqual(['forgot', ''])
    const sinceUs = await enrol()
    expect(await inMs(sinceUs)).toBeGreaterThan(REST_MS - 5_000)
    expect(await vote()).toEqual(['forgot', sinceUs])
    // Another, and one that is a part of its own.
    for (const id of ['b', (await replId()).slice(0, -1)]) {
      await mark({ id })
      expect(await vote()).toEqual(['forgot', ''])
    }
    expect(await fields()).toEqual({})
    await mark()
    expect(await vote()).toEqual(['granted', expect.any(String)])
    await mark({ id: 'b' })
    expect(await vote({ owner: 'c:2' })).toEqual(['held', expect.any(Number), 'c:1', ''])
  })

  test('vote refuses a client whose leases are longer than the master knows, until enrol reports them', async () => {
    await mark()
    expect(await vote({ longestMs: REST_MS + 1 })).toEqual(['forgot', ''])
    expect(await enrol({ restMs: REST_MS + 1 })).toBe('1')
    expect(await vote({ longestMs: REST_MS + 1 })).toEqual(['granted', expect.any(String)])
    // Nobody makes it shorter again.
    const then = await admin.get(BIRTH)
    expect(await enrol({ restMs: 1 })).toBe('1')
    expect(await admin.get(BIRTH)).toBe(then)
    // It rests for the longest lease that it has ever been told of.
    await mark({ id: 'b', longestMs: 3 * REST_MS })
    expect(await inMs(await enrol())).toBeGreaterThan(3 * REST_MS - 5_000)
  })

  test('a mark of an older Holdfast version counts only for the process that it names', async () => {
    await admin.set(BIRTH, '17 a 1')
    expect(await vote()).toEqual(['forgot', ''])
    expect(await enrol()).toBe('17')
    expect(await admin.get(BIRTH)).toBe(`17 a 0 ${await replId()} ${REST_MS}`)
    expect(await vote()).toEqual(['granted', expect.any(String)])
    for (const old of ['17 b 1', '17  1']) {
      await admin.set(BIRTH, old)
      const rests = await inMs(await enrol({ runId: old === '17 b 1' ? 'a' : '', durable: 1 }))
      expect(rests).toBeGreaterThan(REST_MS - 5_000)
    }
  })

  test('vote issues the next number of the counter, and uses the clock only if the counter is missing', async () => {
    await mark()
    await admin.set(COUNTER, '17', 'PX', 60_000)
    expect(await vote()).toEqual(['granted', '18'])
    await admin.del(COUNTER, LOCK)
    expect(Number((await vote())[1])).toBeGreaterThan(Date.now() * 1_000 - 60_000_000)
  })

  test('vote ignores a counter that is older than the mark, and starts at the time of the mark', async () => {
    const sinceUs = (await nowUs()) - 1_000_000
    await mark({ since: sinceUs })
    await admin.set(COUNTER, '17', 'PX', 60_000)
    expect(await vote()).toEqual(['granted', String(sinceUs)])
    await admin.del(LOCK)
    expect(await vote({ owner: 'c:2' })).toEqual(['granted', String(sinceUs + 1)])
  })

  test('the first enrolment counts until the server is another process', async () => {
    const first = await enrol()
    expect(await inMs(first)).toBeGreaterThan(REST_MS - 5_000)
    expect(await enrol()).toBe(first)
    expect(await enrol({ runId: 'b', durable: 1 })).toBe(first)
    await mark({ id: 'b' })
    expect(await inMs(await enrol())).toBeGreaterThan(REST_MS - 5_000)
  })

  const claim = async (args: Arguments = {}) => {
    const usual = { runId: 'a', restMs: REST_MS, durable: 0, draft: 'draft', deployment: '' }
    const answer = (await run(scripts.claim, { ...usual, ...args })) as Value[]
    const [kind, sinceUs, ...more] = answer
    return (answer.length === 1 ? answer : [kind, Number(sinceUs), ...more]) as [
      string,
      number,
      string,
      number,
    ]
  }
  const found = ([, sinceUs, deployment, restMs]: [string, number, string, number], more = {}) =>
    run(scripts.found, { sinceUs, deployment, founder: 'f', restMs, ...more })

  test('claim gets the same answer until the deployment is founded, and until then the master does not vote', async () => {
    const claimed = await claim()
    const [, sinceUs, deployment, restMs] = claimed
    expect(claimed).toEqual(['claimed', expect.any(Number), expect.any(String), REST_MS])
    expect(deployment).toMatch(/^draft\.\d+$/)
    expect(await inMs(sinceUs)).toBeGreaterThan(REST_MS - 5_000)
    expect(await vote()).toEqual(['forgot', String(sinceUs)])
    expect(await claim({ draft: 'b', restMs: 1 })).toEqual(claimed)
    expect(await claim({ deployment })).toEqual(claimed)
    expect(await claim({ deployment: 'other.1' })).toEqual(['known'])
    expect(await enrol()).toBe(String(sinceUs))
    expect(await claim()).toEqual(claimed)
    expect(await found(claimed, { restMs })).toBe(1)
    expect(await claim()).toEqual(['known'])
    expect(await vote()).toEqual(['granted', expect.any(String)])
  })

  test('claim is refused by a master that already has a mark, of its own or of another process', async () => {
    for (const id of ['', 'b']) {
      await mark({ id })
      expect(await claim()).toEqual(['known'])
    }
    for (const odd of ['17 a 1', 'v2 anything', 'nonsense']) {
      await admin.set(BIRTH, odd)
      expect(await claim()).toEqual(['known'])
      expect(await admin.get(BIRTH)).toBe(odd)
    }
    // A claim whose rest is over has let the master vote, and one of another server says nothing.
    const one = await replId()
    await admin.set(BIRTH, `17 a/draft.1 0 ${one} ${REST_MS}`)
    expect(await claim()).toEqual(['known'])
    await admin.set(BIRTH, `${(await nowUs()) + 9_000_000} a/draft.1 0 b ${REST_MS}`)
    expect(await claim()).toEqual(['known'])
  })

  test('claim of an emptied master gets another id', async () => {
    const [, , first] = await claim()
    await admin.del(BIRTH)
    expect((await claim())[2]).not.toBe(first)
  })

  test('found lets one client found a deployment, and gives a repeat the same answer', async () => {
    const claimed = await claim()
    expect(await found(claimed)).toBe(1)
    const then = await admin.get(BIRTH)
    expect(await found(claimed)).toBe(1)
    expect(await found(claimed, { founder: 'g' })).toBe(0)
    expect(await admin.get(BIRTH)).toBe(then)
    expect(await enrol({ restMs: REST_MS + 1 })).toBe(then?.split(' ')[0])
    expect((await admin.get(BIRTH))?.split(' ')[1]).toBe(then?.split(' ')[1])
  })

  test('found does nothing if the claim is gone or is another claim', async () => {
    const claimed = await claim()
    await admin.del(BIRTH)
    expect(await found(claimed)).toBe(0)
    expect(await admin.exists(BIRTH)).toBe(0)
    // The same deployment once more, after the master was emptied.
    const [, sinceUs, deployment] = claimed
    const again = await claim({ deployment })
    expect(again[2]).toBe(deployment)
    expect(await found(claimed)).toBe(0)
    expect(await found(again, { sinceUs: sinceUs + 1 })).toBe(0)
    expect(await found(again, { deployment: 'other.1' })).toBe(0)
    await enrol()
    await mark()
    expect(await found(again)).toBe(0)
    await admin.set(BIRTH, `${again[1]} a/${deployment} 0 b ${REST_MS}`)
    expect(await found(again)).toBe(0)
  })

  test('found comes too late when half of the rest is over', async () => {
    const now = await nowUs()
    const one = await replId()
    const claimedFor = async (leftMs: number) => {
      const sinceUs = now + leftMs * 1_000
      await admin.set(BIRTH, `${sinceUs} a/draft.1 0 ${one} ${REST_MS}`)
      return found(['claimed', sinceUs, 'draft.1', REST_MS])
    }
    expect(await claimedFor(REST_MS / 2 - 1)).toBe(0)
    expect(await claimedFor(REST_MS / 2 + 10_000)).toBe(1)
  })

  test('enrol refuses to change the mark of a newer version', async () => {
    await admin.set(BIRTH, 'v2 anything')
    expect(await vote()).toEqual(['forgot', ''])
    await expect(enrol()).rejects.toThrow(/NEWER the mark holdfast_birth/)
    expect(await admin.get(BIRTH)).toBe('v2 anything')
    await admin.set(BIRTH, 'nonsense')
    expect(await inMs(await enrol())).toBeGreaterThan(REST_MS - 5_000)
  })

  test('enrol lets a master that stores every write vote at once, but not before its recorded start', async () => {
    await mark({ since: 17, durable: 1, id: 'b' })
    expect(await enrol({ durable: 1 })).toBe('17')
    expect(await admin.get(BIRTH)).toBe(`17 a 1 ${await replId()} ${REST_MS}`)
    const soon = (await nowUs()) + 30_000_000
    await mark({ since: soon, durable: 1, id: 'b' })
    expect(await enrol({ durable: 1 })).toBe(String(soon))
    await admin.del(BIRTH)
    expect(await inMs(await enrol({ durable: 1 }))).toBeGreaterThan(REST_MS - 5_000)
  })

  test('enrol trusts no mark unless the master stored every write before and does so now', async () => {
    for (const [was, is] of [
      [0, 1],
      [1, 0],
    ] as const) {
      await mark({ durable: was, id: 'b' })
      expect(await inMs(await enrol({ durable: is }))).toBeGreaterThan(REST_MS - 5_000)
    }
  })

  test('agree raises the counter only for the holder, and never lowers it', async () => {
    expect(await agree(17)).toBe(0)
    const token = await tokenOf()
    expect(await agree(token + 5, 'c:2')).toBe(0)
    expect(await agree(token + 5)).toBe(1)
    expect(await agree(token + 3)).toBe(1)
    expect(await admin.get(COUNTER)).toBe(String(token + 5))
    expect(await admin.pttl(COUNTER)).toBeGreaterThan(0)
  })

  test('restore gives a free lock back to its owner, and refuses another owner', async () => {
    expect(await restore()).toEqual(['held'])
    expect(await fields()).toEqual({ 'c:1': '2' })
    expect(await admin.get(COUNTER)).toBe('17')
    expect(await admin.pttl(LOCK)).toBeLessThanOrEqual(10_000)
    const then = await state()
    expect(await restore({ holds: 3, token: 16 })).toEqual(['held'])
    expect(await restore({ owner: 'c:2' })).toEqual(['gone'])
    expect(await state()).toEqual(then)
  })

  test('restore that comes too late does nothing', async () => {
    expect(await restore({ notAfterUs: 1 })).toEqual(['late', expect.any(String)])
    expect(await state()).toEqual([])
  })

  test('a hand-over issues the number after its token or the counter, whichever is greater', async () => {
    await acquire({})
    await admin.set(COUNTER, '20', 'PX', 60_000)
    expect(await handOver({ token: 17, vote: 1 })).toEqual(['granted', '21'])
    await admin.set(COUNTER, '5', 'PX', 60_000)
    expect(await handOver({ from: 'c:2', to: 'c:3', token: 21, vote: 1 })).toEqual([
      'granted',
      '22',
    ])
  })
})

test('locks work while the server repeatedly forgets its scripts', async () => {
  const client = new Holdfast({ redis: { port: server.port }, leaseMs: 2_400 })
  atEnd(() => client.close(), { beforeCheck: true })
  const errors: Error[] = []
  client.on('error', (error) => errors.push(error))
  client.on('late', ({ cause }) => errors.push(cause))
  let renewals = 0
  client.on('renewed', () => {
    renewals += 1
  })
  const kept = await client.getLock('kept').lock()
  let over = false
  const flushing = (async () => {
    while (!over) {
      await admin.script('FLUSH')
      await pause(2)
    }
  })()
  const lock = client.getLock(LOCK)
  const tokens: number[] = []
  const work = async () => {
    for (let i = 0; i < 20; i++) {
      await lock.using(async ({ token }) => {
        tokens.push(token)
        await lock.using(() => {})
      })
    }
  }
  try {
    await Promise.all([work(), work(), work()])
    await eventually(() => renewals > 1)
  } finally {
    over = true
    await flushing
  }
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
  expect(new Set(tokens).size).toBe(60)
  expect(await kept.release()).toBe(true)
  expect(errors).toEqual([])
})
