import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../src/index.ts'
import {
  admin,
  CHANNEL,
  COUNTER,
  COUNTER_MS,
  FORCED,
  fields,
  LOCK,
  messagesOf,
  notAfter,
  nowUs,
  server,
  state,
  type Value,
  withoutTtl,
} from '../../lua/run-script.ts'
import { scaledMs } from '../../support/at-load.ts'
import { eventually } from '../../support/eventually.ts'
import { atEnd } from '../../support/lifetime.ts'
import * as scripts from '../../support/scripts.ts'
import {
  acquire,
  forceAtMaster,
  forceRelease,
  handOver,
  release,
  renew,
  tokenOf,
} from './lock-requests.ts'

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
      // The server cannot know whether the first request's reserved tokens were used, so a repeat reserves none.
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
    // The name is used again for a later hold.
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
    // If the clock was set back, or if the token was deleted, the age is unknown.
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
    // A repeated request of the holder succeeds, however late it arrives. But a late request does not raise the hold
    // count.
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
    // A late release does not raise the hold count.
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
      // The test itself is the only listener. `listening: 1` says that this listener belongs to the client.
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
    await Promise.all(seats.map(([key, owner]) => hold(key, owner, 15_000)))
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
test('locks work while the server repeatedly forgets its scripts', async () => {
  const client = new Holdfast({ redis: { port: server.port }, leaseMs: scaledMs(2_400) })
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
