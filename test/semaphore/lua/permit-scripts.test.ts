import { createHash } from 'node:crypto'
import {
  type Arguments,
  admin,
  COUNTER,
  COUNTER_MS,
  messagesOf,
  NEVER,
  notAfter,
  nowUs,
  LOCK as POOL,
  run,
  state,
  type Value,
  withoutTtl,
} from '../../lua/run-script.ts'
import { leaves } from '../../support/leaks.ts'
import { randomOf } from '../../support/random.ts'
import * as scripts from '../../support/scripts.ts'

const TIMEOUTS = '{it}:timeout'
const TICKETS = 'holdfast_tickets:{it}'
const HOLDERS = 'holdfast_permit_holders:{it}'
const KIND = 'holdfast_kind:{it}'
const CHANNEL = 'redisson_sc:{it}'
const QUEUE = 'holdfast_queue:{it}'
const ALIVE = 'holdfast_alive:{it}'
const FOREVER = '922337203685477'

type Answer = [string, Value?, Value?, ...unknown[]]

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

const told = { channel: CHANNEL, publish: 'PUBLISH', tickets: TICKETS }

/** Tries to acquire permits, or waits if a `client` is given. */
const acquire = (owner: string, args: Arguments = {}) =>
  run(scripts.acquirePermits, {
    ...told,
    owner,
    leaseMs: 10_000,
    notAfterUs: NEVER,
    counterMs: COUNTER_MS,
    client: '',
    last: 1,
    waitedMs: 0,
    since: '',
    aliveMs: 3_000,
    ...args,
  }) as Promise<Answer>

const release = (owner: string, client = '') =>
  run(scripts.releasePermits, { ...told, owner, client }) as Promise<Answer>

async function change(how: string, permits: number, args: Arguments = {}): Promise<Answer> {
  const known = { ...told, how, permits, notAfterUs: NEVER, keptMs: 5_000 }
  const [kind, done] = (await run(scripts.setPermits, { ...known, ...args })) as Answer
  return [kind, Number(done)]
}

const renew = (leaseMs: number, ...owners: string[]) => {
  const keys = owners.flatMap(() => [TIMEOUTS, COUNTER, HOLDERS])
  const { source } = scripts.renewPermits
  return admin.eval(source, keys.length, ...keys, leaseMs, COUNTER_MS, ...owners)
}

/** Each call is a new request. */
async function set(how: string, permits: number): Promise<Answer> {
  const answer = await change(how, permits)
  await admin.del('holdfast_request:{it}:r')
  return answer
}

function idsOf(owner: string): Buffer[] {
  const head = createHash('sha1').update(owner).digest().subarray(0, 12)
  return Array.from({ length: Number(/\d+$/.exec(owner)?.[0]) }, (_, i) => {
    const id = Buffer.concat([head, Buffer.alloc(4)])
    id.writeUInt32BE(i + 1, 12)
    return id
  })
}

/** The answer to a try if some permits are taken. */
const held = (ttlMs: unknown, free: number, count: number) => [
  'held',
  ttlMs,
  '',
  1,
  free,
  count,
  expect.any(String),
  [],
]

const taken = async () => Number(await admin.zcard(TIMEOUTS))
const available = async () => Number(await admin.get(POOL))
const counts = async () => [await available(), await taken()]
const isOver = (owner: string) =>
  Promise.all(idsOf(owner).map((id) => admin.zadd(TIMEOUTS, 'XX', 1, id)))
const queue = () => admin.zrange(QUEUE, '0', '-1')

describe('an acquisition', () => {
  test('an acquisition gets all its permits or none, stored as in Redisson: ids of 16 bytes with their expiries', async () => {
    await set('set', 3)
    const fromMs = (await nowUs()) / 1_000
    const [kind, token] = await acquire('c:1:2')
    expect(kind).toBe('granted')
    expect(await admin.get(COUNTER)).toBe(token)
    expect(await available()).toBe(1)
    const found = await admin.zrangeBuffer(TIMEOUTS, '0', '-1', 'WITHSCORES')
    expect(found.filter((_, i) => i % 2 === 0)).toEqual(idsOf('c:1:2'))
    const untilMs = Number(found[1])
    expect(untilMs).toBeGreaterThanOrEqual(Math.floor(fromMs) + 10_000)
    expect(untilMs).toBeLessThan(fromMs + 12_000)
    expect(await acquire('d:1:2')).toEqual(held(expect.any(Number), 1, 2))
    expect(await counts()).toEqual([1, 2])
    expect((await withoutTtl()).sort()).toEqual([POOL, TIMEOUTS].sort())
  })

  test('a repeated acquisition gets its permits once, never shortens the lease, and gets a new token', async () => {
    await set('set', 5)
    const [, first] = await acquire('c:1:3')
    const [kind, second] = await acquire('c:1:3', { leaseMs: 20_000 })
    expect(kind).toBe('granted')
    expect(Number(second)).toBeGreaterThan(Number(first))
    expect(await counts()).toEqual([2, 3])
    expect(await renew(0, 'c:1:3')).toEqual([expect.any(Number)])
    expect(((await renew(0, 'c:1:3')) as number[])[0]).toBeGreaterThan(19_000)
    await acquire('c:1:3', { leaseMs: 1_000 })
    expect(((await renew(0, 'c:1:3')) as number[])[0]).toBeGreaterThan(19_000)
    await release('c:1:3')
    expect(await counts()).toEqual([5, 0])
  })

  test('an acquisition that comes too late is refused', async () => {
    await set('set', 1)
    const before = await state()
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect((await acquire('c:1:1', late))[0]).toBe('late')
    expect(await state()).toEqual(before)
  })

  test('the permits of a holder that died are available when its lease ends', async () => {
    await set('set', 2)
    await acquire('c:1:2')
    await isOver('c:1:2')
    expect((await acquire('d:1:1'))[0]).toBe('granted')
    expect(await counts()).toEqual([1, 1])
    expect(await release('c:1:2')).toEqual(['gone'])
    expect(await counts()).toEqual([1, 1])
  })

  test('a permit of Redisson without a lease is kept', async () => {
    await set('set', 1)
    await admin.decr(POOL)
    await admin.zadd(TIMEOUTS, FOREVER, Buffer.alloc(16, 7))
    expect(await acquire('c:1:1')).toEqual(held(-1, 0, 1))
    expect(await counts()).toEqual([0, 1])
  })

  test('the reply to a waiter says when the first lease ends', async () => {
    await set('set', 2)
    await acquire('c:1:1', { leaseMs: 60_000 })
    await acquire('c:2:1', { leaseMs: 5_000 })
    const [, ttlMs] = await acquire('d:1:1', { client: 'd' })
    expect(Number(ttlMs)).toBeGreaterThan(4_000)
    expect(Number(ttlMs)).toBeLessThanOrEqual(5_000)
  })

  test('a request for more permits than exist is refused with both numbers, and leaves no waiter behind', async () => {
    await set('set', 5)
    await acquire('c:1:2')
    expect(await acquire('d:1:6', { client: 'd' })).toEqual(['too-many', 3, 2])
    await set('set', 1)
    expect(await acquire('d:1:2', { client: 'd' })).toEqual(['too-many', -1, 2])
    expect(await queue()).toEqual([])
  })

  test('a client waits while no number is set, and is woken when a number is set', async () => {
    expect((await acquire('c:1:1', { client: 'c' }))[0]).toBe('held')
    expect(await queue()).toEqual(['c'])
    expect(await messagesOf(() => set('try-set', 1), TICKETS)).toEqual(['c'])
  })

  test('a client waits while the semaphore has zero permits', async () => {
    await set('set', 0)
    expect((await acquire('c:1:1', { client: 'c' }))[0]).toBe('held')
    expect(await queue()).toEqual(['c'])
  })

  test('the permits of a semaphore with an expiry expire with it', async () => {
    await admin.set(POOL, 2, 'PX', 5_000)
    await acquire('c:1:1')
    expect(await admin.pttl(TIMEOUTS)).toBeGreaterThan(4_000)
    expect(await admin.pttl(TIMEOUTS)).toBeLessThanOrEqual(5_000)
    expect(await admin.pttl(POOL)).toBeGreaterThan(4_000)
  })

  test('a key of another kind is refused, and nothing changes', async () => {
    await admin.hset(POOL, 'a', 1)
    const before = await state()
    await expect(acquire('c:1:1')).rejects.toThrow(/^WRONGTYPE/)
    await expect(release('c:1:1', 'c')).rejects.toThrow(/^WRONGTYPE/)
    await expect(change('set', 1)).rejects.toThrow(/^WRONGTYPE/)
    expect(await state()).toEqual(before)
    await admin.set(POOL, 'text')
    await expect(acquire('c:1:1')).rejects.toThrow(/^WRONGTYPE/)
    await expect(change('add', 1)).rejects.toThrow(/^WRONGTYPE/)
    await expect(run(scripts.inspectPermits, { most: 1 })).rejects.toThrow(/^WRONGTYPE/)
  })

  test('5,000 permits are acquired, renewed and released at once', async () => {
    await set('set', 6_000)
    expect((await acquire('c:1:5000'))[0]).toBe('granted')
    expect((await acquire('c:1:5000'))[0]).toBe('granted')
    expect(await counts()).toEqual([1_000, 5_000])
    expect(((await renew(20_000, 'c:1:5000')) as number[])[0]).toBe(20_000)
    expect(await release('c:1:5000')).toEqual(['freed'])
    expect(await counts()).toEqual([6_000, 0])
  })
})

describe('a waiter', () => {
  /** The start of each wait, from the answers. */
  const told = new Map<string, string>()
  const waits = async (client: string, permits: number, args: Arguments = {}) => {
    const since = told.get(client) ?? ''
    const answer = await acquire(`${client}:1:${permits}`, { client, since, ...args })
    told.set(client, String(answer[2] ?? ''))
    return answer
  }

  beforeEach(async () => {
    told.clear()
    await set('set', 2)
    await acquire('x:1:2')
  })

  test('the waiter that has waited longest is served first, even if another waiter asks first', async () => {
    await waits('d', 1, { waitedMs: 100 })
    await waits('c', 1, { waitedMs: 500 })
    await waits('e', 1, { waitedMs: 300 })
    expect(await queue()).toEqual(['c', 'e', 'd'])
    expect(await messagesOf(() => release('x:1:2'), TICKETS)).toEqual(['c'])
    expect((await waits('d', 1))[0]).toBe('held')
    expect((await waits('e', 1))[0]).toBe('held')
    expect(await messagesOf(() => waits('c', 1), TICKETS)).toEqual(['e'])
    expect(await queue()).toEqual(['e', 'd'])
  })

  test('a waiter keeps the start of its wait, and its place, when it asks again', async () => {
    const [, , since] = await waits('c', 1, { waitedMs: 50 })
    await waits('d', 1)
    expect((await waits('c', 1))[2]).toBe(since)
    expect(await queue()).toEqual(['c', 'd'])
  })

  test('a waiter is not overtaken by a request for fewer permits, or by a client that does not wait', async () => {
    await waits('c', 2)
    await release('x:1:2')
    await acquire('c:0:1', { client: 'c', waitedMs: 1_000, last: '' })
    expect((await waits('c', 2))[0]).toBe('held')
    expect(await available()).toBe(1)
    expect((await acquire('d:1:1'))[0]).toBe('held')
    expect((await waits('d', 1))[0]).toBe('held')
    await release('c:0:1')
    expect((await waits('c', 2))[0]).toBe('granted')
  })

  test('a waiter is woken only when enough permits are free', async () => {
    await release('x:1:2')
    await acquire('x:1:1')
    await acquire('x:2:1')
    await waits('c', 2)
    expect(await messagesOf(() => release('x:1:1'), TICKETS)).toEqual([])
    expect(await messagesOf(() => release('x:2:1'), TICKETS)).toEqual(['c'])
  })

  test('a waiter that leaves wakes the waiter behind it', async () => {
    await waits('c', 2)
    await waits('d', 1)
    await release('x:1:2')
    await acquire('y:1:1', { client: 'y', waitedMs: 9_000 })
    expect(await messagesOf(() => release('c:1:2', 'c'), TICKETS)).toEqual(['d'])
    expect(await queue()).toEqual(['d'])
    await release('', 'd')
    expect(await queue()).toEqual([])
    expect(await admin.exists(ALIVE)).toBe(0)
  })

  test('a waiter that died blocks no other waiter after its place has expired', async () => {
    await waits('c', 1, { aliveMs: 2_500 })
    await waits('d', 1)
    await release('x:1:2')
    const [kind, ttlMs] = await waits('d', 1)
    expect(kind).toBe('held')
    expect(Number(ttlMs)).toBeLessThanOrEqual(2_502)
    await admin.hset(ALIVE, 'c', '1 1')
    expect((await waits('d', 1))[0]).toBe('granted')
  })

  test('a waiter that died before the clock was set back blocks no other waiter', async () => {
    await waits('c', 1)
    await waits('d', 1)
    await release('x:1:2')
    await admin.hset(ALIVE, 'c', `${Date.now() + 3_600_000} 1`)
    expect((await waits('d', 1))[0]).toBe('granted')
  })

  test('a waiter that began before the clock was set back keeps its place before later waiters', async () => {
    const aheadUs = (await nowUs()) + 3_600_000_000
    await waits('c', 1, { since: String(aheadUs), waitedMs: 60_000 })
    await waits('d', 1, { waitedMs: 10_000 })
    expect(await messagesOf(() => release('x:1:2'), TICKETS)).toEqual(['c'])
  })

  test('the place of a client is kept until its next waiter, which has waited for less, asks', async () => {
    const [, , since] = await waits('c', 1, { waitedMs: 900, last: '' })
    await waits('d', 1, { waitedMs: 500 })
    await release('x:1:2')
    await acquire('c:1:1', { client: 'c', since: String(since), last: '' })
    // No waiter overtakes the next waiter of c, which is about to send its request.
    expect((await waits('d', 1))[0]).toBe('held')
    const answer = () => acquire('c:2:1', { client: 'c', waitedMs: 100 })
    const messages = await messagesOf(async () => expect((await answer())[0]).toBe('held'), TICKETS)
    // But d has waited for longer than this waiter of c.
    expect(messages).toEqual(['d'])
    expect((await waits('d', 1))[0]).toBe('granted')
  })

  test('a waiter in Redisson receives the number of free permits', async () => {
    expect(await messagesOf(() => release('x:1:2'), CHANNEL)).toEqual(['02'])
    await acquire('x:1:2')
    await isOver('x:1:2')
    expect(await messagesOf(() => acquire('y:1:1'), CHANNEL)).toEqual(['01'])
    expect(await messagesOf(() => set('add', 4), CHANNEL)).toEqual(['05'])
    await set('set', 0)
    expect(await messagesOf(() => release('y:1:1'), CHANNEL)).toEqual(['00'])
    expect(await messagesOf(() => set('add', -1), CHANNEL)).toEqual([])
    expect(await messagesOf(() => release('z:1:1'), CHANNEL)).toEqual([])
  })

  test('a request of an owner without permits publishes the permits whose leases have ended', async () => {
    for (const ask of [() => release('y:1:1'), () => set('add', 0)]) {
      await set('set', 2)
      await acquire('x:1:2')
      await isOver('x:1:2')
      expect(await messagesOf(ask, CHANNEL)).toEqual(['02'])
      expect(await counts()).toEqual([2, 0])
    }
  })
})

describe('a release', () => {
  test('a repeated release frees the permits once', async () => {
    await set('set', 3)
    await acquire('c:1:2')
    expect(await release('c:1:2')).toEqual(['freed'])
    const before = await state()
    expect(await release('c:1:2')).toEqual(['gone'])
    expect(await state()).toEqual(before)
    expect((await admin.keys('*')).sort()).toEqual([POOL, COUNTER, KIND].sort())
  })

  test('if Redisson released some permits of an acquisition, a renewal reports a loss and a release frees the rest', async () => {
    await set('set', 3)
    await acquire('c:1:3')
    await admin.zrem(TIMEOUTS, idsOf('c:1:3')[1] as Buffer)
    await admin.incr(POOL)
    expect(await renew(10_000, 'c:1:3')).toEqual([-2])
    expect(await release('c:1:3')).toEqual(['gone'])
    expect(await counts()).toEqual([3, 0])
  })
})

describe('a renewal', () => {
  test('a renewal, a release and a reduction work while the server is full', async () => {
    await set('set', 3)
    await acquire('c:1:2')
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect(await renew(20_000, 'c:1:2')).toEqual([20_000])
      expect((await renew(0, 'c:1:2')) as number[]).toEqual([expect.any(Number)])
      expect((await release('c:1:2'))[0]).toBe('freed')
      expect(await change('add', -1)).toEqual(['done', 1])
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
    expect(Number(await admin.get(POOL))).toBe(2)
  })

  test('a server that accepts no writes refuses a renewal, and no permit is lost', async () => {
    await set('set', 1)
    await acquire('c:1:1')
    await admin.config('SET', 'min-replicas-to-write', '1')
    try {
      await expect(renew(20_000, 'c:1:1')).rejects.toThrow('NOREPLICAS')
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0')
    }
    expect(await renew(20_000, 'c:1:1')).toEqual([20_000])
  })

  test('a renewal lengthens leases, never shortens them, and revives none', async () => {
    await set('set', 5)
    await acquire('c:1:2', { leaseMs: 5_000 })
    await acquire('c:2:1', { leaseMs: 30_000 })
    await acquire('c:3:1')
    await isOver('c:3:1')
    const [first, second, ...others] = (await renew(
      10_000,
      ...['c:1:2', 'c:2:1', 'c:3:1', 'c:4:1'],
    )) as number[]
    expect(first).toBe(10_000)
    expect(second).toBeGreaterThan(29_000)
    expect(others).toEqual([-2, -2])
    expect(await counts()).toEqual([1, 4])
  })

  test('a key of another type does not stop the renewal of other permits', async () => {
    await set('set', 1)
    await acquire('c:1:1')
    await admin.set('other', 'text')
    const { source } = scripts.renewPermits
    const keys = ['other', COUNTER, HOLDERS, TIMEOUTS, COUNTER, HOLDERS]
    const args = [10_000, COUNTER_MS, 'd:1:1', 'c:1:1']
    expect(await admin.eval(source, 6, ...keys, ...args)).toEqual([-2, 10_000])
  })
})

describe('a change of the number', () => {
  test('a new total includes the permits that are held, and try-set changes only an unset number', async () => {
    expect(await set('try-set', 5)).toEqual(['done', 1])
    expect(await set('try-set', 7)).toEqual(['done', 0])
    await acquire('c:1:3')
    await set('set', 10)
    expect(await counts()).toEqual([7, 3])
    await set('set', 1)
    expect(await counts()).toEqual([-2, 3])
    await set('add', 1)
    expect(await counts()).toEqual([-1, 3])
    await set('add', -3)
    expect(await counts()).toEqual([-4, 3])
  })

  test('a drain removes the free permits, and nothing if no permit is free', async () => {
    expect(await set('drain', 0)).toEqual(['done', 0])
    expect(await admin.exists(POOL)).toBe(0)
    await set('set', 5)
    await acquire('c:1:2')
    expect(await set('drain', 0)).toEqual(['done', 3])
    expect(await counts()).toEqual([0, 2])
    await set('set', 0)
    expect(await set('drain', 0)).toEqual(['done', 0])
    expect(await counts()).toEqual([-2, 2])
  })

  test('a drain also removes expired permits if the number is gone', async () => {
    await set('set', 2)
    await acquire('c:1:2')
    await isOver('c:1:2')
    await admin.del(POOL)
    expect(await set('drain', 0)).toEqual(['done', 2])
    expect(await counts()).toEqual([0, 0])
  })

  test('a delete removes the semaphore, reports if it existed, and wakes the next client', async () => {
    expect(await set('delete', 0)).toEqual(['done', 0])
    await set('set', 2)
    await acquire('c:1:2')
    await acquire('d:1:1', { client: 'd' })
    expect(await messagesOf(() => set('delete', 0), TICKETS)).toEqual(['d'])
    expect(await admin.exists(POOL, TIMEOUTS, HOLDERS, KIND)).toBe(0)
    expect(await queue()).toEqual(['d'])
    expect(await set('delete', 0)).toEqual(['done', 0])
    // If only the number is gone, there are still permits to take away.
    await set('set', 2)
    await acquire('d:2:2', { client: 'd' })
    await admin.del(POOL)
    expect(await set('delete', 0)).toEqual(['done', 1])
  })

  test('a repeated delete gets the same answer even while permits are held, and a drain notes no kind', async () => {
    await set('set', 2)
    await acquire('c:1:1')
    expect(await change('delete', 0)).toEqual(['done', 1])
    expect(await change('delete', 0)).toEqual(['done', 1])
    await admin.del('holdfast_request:{it}:r')
    await admin.set(POOL, 2)
    await set('drain', 0)
    expect(await admin.exists(KIND)).toBe(0)
  })

  test('a repeated delete does not remove a number that was set since', async () => {
    await set('set', 2)
    expect(await change('delete', 0)).toEqual(['done', 1])
    await admin.set(POOL, 7)
    expect(await change('delete', 0)).toEqual(['done', 1])
    expect(await counts()).toEqual([7, 0])
  })

  test.each(['try-set', 'set', 'add', 'drain'])('a repeated %s is done once', async (how) => {
    if (how !== 'try-set') await set('set', 4)
    const first = await change(how, 2)
    const before = await counts()
    expect(await change(how, 2)).toEqual(first)
    expect(await counts()).toEqual(before)
    expect(await admin.pttl('holdfast_request:{it}:r')).toBeGreaterThan(3_000)
  })

  test('a repeat undoes no change that came after its first run', async () => {
    expect(await change('set', 10)).toEqual(['done', 1])
    await admin.set(POOL, 3)
    expect(await change('set', 10)).toEqual(['done', 1])
    expect(await counts()).toEqual([3, 0])
    await admin.del('holdfast_request:{it}:r')
    expect(await change('try-set', 7)).toEqual(['done', 0])
    await admin.del(POOL)
    expect(await change('try-set', 7)).toEqual(['done', 0])
    expect(await admin.exists(POOL)).toBe(0)
  })

  test('a change that comes too late is refused', async () => {
    const notAfterUs = await notAfter(-1_000, 100)
    expect((await change('set', 3, { notAfterUs }))[0]).toBe('late')
    expect(await admin.keys('*')).toEqual([])
  })

  test('a change wakes the next waiter when enough permits are free, or when the total becomes too small', async () => {
    await set('set', 2)
    await acquire('x:1:2')
    await acquire('c:1:2', { client: 'c' })
    expect(await messagesOf(() => set('set', 3), TICKETS)).toEqual([])
    expect(await messagesOf(() => set('add', 1), TICKETS)).toEqual(['c'])
    expect(await messagesOf(() => set('set', 1), TICKETS)).toEqual(['c'])
  })
})

test('an inspection reports the whole semaphore, and changes nothing', async () => {
  await set('set', 7)
  await acquire('c:1:2')
  await acquire('c:2:1')
  await isOver('c:2:1')
  await acquire('d:1:7', { client: 'd' })
  await acquire('x:1:1', { client: 'x', waitedMs: 9_000 })
  await admin.zadd(TIMEOUTS, FOREVER, Buffer.alloc(16, 10))
  await admin.decr(POOL)
  await isOver('x:1:1')
  const before = await state()
  const found = (await run(scripts.inspectPermits, { most: 10 })) as [...Value[]]
  expect(await state()).toEqual(before)
  const [isSet, free, count, , leftMs, holders, waiting, wanted] = found as unknown[]
  expect([isSet, free, count]).toEqual([1, 4, 3])
  const [first, second] = idsOf('c:1:2').map((id) => id.toString('hex'))
  const ms = expect.stringMatching(/^\d{4,5}$/)
  expect(leftMs).toEqual([first, ms, second, ms, '0a'.repeat(16), '-1'])
  expect(holders).toEqual(['c:1:2', expect.stringMatching(/^\d{16}$/)])
  expect(waiting).toEqual(['d', expect.any(String)])
  expect(wanted).toEqual(['d', '7'])
})

test('an inspection leaves out waiters that died before the clock was set back', async () => {
  await set('set', 1)
  await acquire('x:1:1')
  await acquire('c:1:1', { client: 'c', waitedMs: 9_000 })
  const [, , since] = await acquire('d:1:1', { client: 'd' })
  await admin.hset(ALIVE, 'c', `${Date.now() + 3_600_000} 1`)
  const found = (await run(scripts.inspectPermits, { most: 10 })) as unknown[]
  expect(found.slice(6)).toEqual([
    ['d', since],
    ['d', '1'],
  ])
})

test('1,000 random sequences of requests neither lose nor invent a permit', async () => {
  const random = randomOf(2_026)
  const OWNERS = ['c:1:1', 'c:2:2', 'd:1:3', 'd:2:1', 'e:1:4', 'e:2:2']
  const keysOf = (script: { keys: readonly string[] }) =>
    script.keys.map(
      (name) =>
        ({
          pool: POOL,
          timeouts: TIMEOUTS,
          counter: COUNTER,
          queue: QUEUE,
          alive: ALIVE,
          holders: HOLDERS,
          kind: KIND,
        })[name] ?? 'holdfast_request:{it}:r',
    )
  const used = [
    scripts.acquirePermits,
    scripts.releasePermits,
    scripts.releasePermitIds,
    scripts.setPermits,
  ]
  for (const { source } of used) await admin.script('LOAD', source)
  for (let round = 0; round < 1_000; round++) {
    await admin.del(POOL, TIMEOUTS, QUEUE, ALIVE, HOLDERS)
    const pipeline = admin.pipeline().set(POOL, 5)
    const totals: ((total: number, reply: Answer) => number)[] = []
    const evaluate = (script: (typeof scripts)[keyof typeof scripts], args: Value[]) => {
      const keys = keysOf(script)
      pipeline.evalsha(script.sha1, keys.length, ...keys, ...args)
    }
    for (let step = 0; step < 8; step++) {
      const owner = random.of(OWNERS)
      const client = owner.slice(0, 1)
      const how = random.of([
        'acquire',
        'acquire',
        'wait',
        'release',
        'expire',
        'set',
        'add',
        'drain',
        'delete',
        'by id',
      ])
      const permits = random.below(8)
      if (how === 'acquire' || how === 'wait') {
        const waiting = how === 'wait' ? client : ''
        const asked = [
          owner,
          10_000,
          0,
          COUNTER_MS,
          CHANNEL,
          'PUBLISH',
          TICKETS,
          waiting,
          1,
          0,
          '',
          3_000,
        ]
        evaluate(scripts.acquirePermits, asked)
        totals.push((total) => total)
      } else if (how === 'release') {
        evaluate(scripts.releasePermits, [owner, CHANNEL, 'PUBLISH', TICKETS, client])
        totals.push((total) => total)
      } else if (how === 'expire') {
        pipeline.zadd(TIMEOUTS, 'XX', ...idsOf(owner).flatMap((id) => [1, id]))
        totals.push((total) => total)
      } else if (how === 'by id') {
        pipeline.del('holdfast_request:{it}:r')
        pipeline.get(POOL)
        pipeline.zcard(TIMEOUTS)
        totals.push((total) => total)
        const ids = [idsOf(owner)[0]?.toString('hex') as string, '0'.repeat(32)]
        evaluate(scripts.releasePermitIds, [CHANNEL, 'PUBLISH', TICKETS, 5_000, ...ids])
        totals.push((total) => total)
      } else {
        pipeline.del('holdfast_request:{it}:r')
        pipeline.get(POOL)
        pipeline.zcard(TIMEOUTS)
        totals.push((total) => total)
        const by = how === 'add' ? permits - 4 : permits
        evaluate(scripts.setPermits, [how, by, 0, CHANNEL, 'PUBLISH', TICKETS, 5_000])
        totals.push((total, [, done]) => {
          if (how === 'delete') return 0
          if (how === 'set') return by
          return how === 'add' ? total + by : total - Number(done)
        })
      }
      pipeline.get(POOL)
      pipeline.zcard(TIMEOUTS)
    }
    const replies = ((await pipeline.exec()) ?? []).slice(1).map(([error, reply]) => {
      if (error) throw error
      return reply
    })
    let total = 5
    for (const [i, next] of totals.entries()) {
      const [reply, free, live] = replies.slice(3 * i, 3 * i + 3)
      total = next(total, reply as Answer)
      expect(Number(free) + Number(live)).toBe(total)
    }
    // Every owner of permits has a note, and no other note is left.
    const heads = (await admin.zrangeBuffer(TIMEOUTS, '0', '-1')).map((id) =>
      id.toString('hex').slice(0, 24),
    )
    expect((await admin.hkeys(HOLDERS)).sort()).toEqual([...new Set(heads)].sort())
  }
})
