import { createHash } from 'node:crypto'
import { takePermit } from '../../../tools/inspection/redis/scripts.generated.ts'
import {
  type Arguments,
  admin,
  COUNTER_MS,
  messagesOf,
  NEVER,
  nowUs,
  LOCK as POOL,
  run,
  state,
} from '../../lua/run-script.ts'
import { leaves } from '../../support/leaks.ts'
import * as scripts from '../../support/scripts.ts'

const TIMEOUTS = '{it}:timeout'
const HOLDERS = 'holdfast_permit_holders:{it}'
const KEYS = [POOL, TIMEOUTS, 'holdfast_queue:{it}', 'holdfast_alive:{it}']
const HOUR_MS = 3_600_000

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

const told = { channel: 'redisson_sc:{it}', publish: 'PUBLISH', tickets: 'holdfast_tickets:{it}' }

type Answer = [string, ...unknown[]]

const acquire = (owner: string, args: Arguments = {}) =>
  run(scripts.acquirePermits, {
    ...told,
    ...{ owner, leaseMs: 10_000, notAfterUs: NEVER, counterMs: COUNTER_MS },
    ...{ client: '', last: 1, waitedMs: 0, since: '', aliveMs: 3_000 },
    ...{ behindPermits: 0, behindWaitedMs: 0 },
    ...args,
  }) as Promise<Answer>

const release = (owner: string) => run(scripts.releasePermits, { ...told, owner, client: '' })

let requests = 0

/** Each call is a new request. */
const change = (how: string, permits: number) =>
  run(
    scripts.setPermits,
    { ...told, how, permits, notAfterUs: NEVER, keptMs: 5_000 },
    { request: `holdfast_request:{it}:${++requests}` },
  )

/** @param request the name of the request; without it, the request is new */
const releaseIds = (ids: readonly string[], request = `r${++requests}`) => {
  const keys = [...KEYS, `holdfast_request:{it}:${request}`, HOLDERS, 'holdfast_kind:{it}']
  const args = [told.channel, told.publish, told.tickets, 5_000, ...ids]
  return admin.eval(scripts.releasePermitIds.source, keys.length, ...keys, ...args)
}

const take = (id: string) => {
  const keys = [...KEYS, HOLDERS, 'holdfast_kind:{it}']
  return admin.eval(takePermit, keys.length, ...keys, id, told.channel, 'PUBLISH', told.tickets)
}

const renew = (leaseMs: number, owner: string) => {
  const keys = [TIMEOUTS, 'redisson_lock_token:{it}', HOLDERS]
  return admin.eval(scripts.renewPermits.source, 3, ...keys, leaseMs, COUNTER_MS, owner)
}

const headOf = (owner: string) => createHash('sha1').update(owner).digest('hex').slice(0, 24)
const idsOf = (owner: string) =>
  Array.from(
    { length: Number(/\d+$/.exec(owner)?.[0]) },
    (_, i) => headOf(owner) + (i + 1).toString(16).padStart(8, '0'),
  )
const bytes = (id: string) => Buffer.from(id, 'hex')

/** Ends the lease of the owner's permits. */
const isOver = (owner: string) =>
  Promise.all(idsOf(owner).map((id) => admin.zadd(TIMEOUTS, 'XX', 1, bytes(id))))

/** Returns the owners in the notes, in alphabetical order. */
const owners = async () =>
  Object.values(await admin.hgetall(HOLDERS))
    .map((entry) => entry.split(' ')[0])
    .sort()

describe('an acquisition', () => {
  beforeEach(() => change('set', 10))

  test('an acquisition notes its owner and the time of the grant, under the first bytes of its permit ids', async () => {
    const fromUs = await nowUs()
    await acquire('abc:17:2')
    const [[head, entry]] = Object.entries(await admin.hgetall(HOLDERS)) as [[string, string]]
    expect(head).toBe(headOf('abc:17:2'))
    const [owner, sinceUs] = entry.split(' ')
    expect(owner).toBe('abc:17:2')
    expect(Number(sinceUs)).toBeGreaterThanOrEqual(fromUs)
    expect(Number(sinceUs)).toBeLessThanOrEqual(await nowUs())
  })

  test('a repeated acquisition keeps the time of its first run', async () => {
    await acquire('c:1:2')
    const before = await admin.hgetall(HOLDERS)
    await acquire('c:1:2')
    expect(await admin.hgetall(HOLDERS)).toEqual(before)
  })

  test('a refused acquisition notes nothing', async () => {
    expect((await acquire('c:1:11'))[0]).toBe('too-many')
    await acquire('c:1:8')
    expect((await acquire('c:2:3'))[0]).toBe('held')
    expect(await owners()).toEqual(['c:1:8'])
  })

  test('acquisitions and renewals keep the notes for longer than the longest lease', async () => {
    await acquire('c:1:1', { leaseMs: 5 * HOUR_MS })
    expect(await admin.pttl(HOLDERS)).toBeGreaterThan(6 * HOUR_MS)
    // A shorter lease does not shorten the TTL.
    await acquire('c:2:1', { leaseMs: 1_000 })
    expect(await admin.pttl(HOLDERS)).toBeGreaterThan(6 * HOUR_MS)
    await admin.pexpire(HOLDERS, 2_000)
    await renew(20_000, 'c:2:1')
    expect(await admin.pttl(HOLDERS)).toBeGreaterThan(HOUR_MS)
    expect(await owners()).toEqual(['c:1:1', 'c:2:1'])
  })

  test('an acquisition whose note is lost is still renewed, and its note is not written again', async () => {
    await acquire('c:1:1')
    await admin.del(HOLDERS)
    expect(await renew(20_000, 'c:1:1')).toEqual([20_000])
    expect(await admin.exists(HOLDERS)).toBe(0)
    expect(await release('c:1:1')).toEqual(['freed'])
  })
})

describe('the note of an acquisition', () => {
  beforeEach(() => change('set', 10))

  test('the note is deleted when the permits are released', async () => {
    await acquire('c:1:2')
    await acquire('c:2:1')
    await release('c:1:2')
    expect(await owners()).toEqual(['c:2:1'])
    await release('c:2:1')
    expect(await admin.exists(HOLDERS)).toBe(0)
  })

  test('the note is deleted by the next request of any owner after the lease ended', async () => {
    await acquire('c:1:2')
    await acquire('c:2:1')
    await isOver('c:1:2')
    await acquire('d:1:1')
    expect(await owners()).toEqual(['c:2:1', 'd:1:1'])
    await isOver('c:2:1')
    await release('d:1:1')
    expect(await admin.exists(HOLDERS)).toBe(0)
  })

  test('the notes are deleted when the leases of thousands of permits have ended at once', async () => {
    await change('set', 6_000)
    await acquire('c:1:2500')
    for (let i = 0; i < 1_200; i++) await acquire(`d:${i}:1`)
    await Promise.all([
      isOver('c:1:2500'),
      ...Array.from({ length: 1_200 }, (_, i) => isOver(`d:${i}:1`)),
    ])
    await acquire('e:1:1')
    expect(await owners()).toEqual(['e:1:1'])
    expect(await admin.get(POOL)).toBe('5999')
  })

  test('the note is deleted with the semaphore', async () => {
    await acquire('c:1:2')
    await change('delete', 0)
    expect(await admin.exists(POOL, TIMEOUTS, HOLDERS)).toBe(0)
    // The former owner learns of the deletion, and adds nothing to the new semaphore.
    await change('set', 3)
    expect(await renew(10_000, 'c:1:2')).toEqual([-2])
    expect(await release('c:1:2')).toEqual(['gone'])
    expect(await admin.get(POOL)).toBe('3')
  })

  test.each([
    ['one by force', take],
    ['one by its id', (id: string) => releaseIds([id])],
  ])('the note is deleted when the last of its permits is taken away: %s', async (_, takeOne) => {
    await acquire('c:1:2')
    const [first, second] = idsOf('c:1:2') as [string, string]
    await takeOne(first)
    expect(await owners()).toEqual(['c:1:2'])
    await takeOne(second)
    expect(await admin.exists(HOLDERS)).toBe(0)
    expect(await admin.get(POOL)).toBe('10')
  })
})

describe('notes that Redisson and older versions leave behind', () => {
  /** Redisson and older versions release permits like this, or take the permits of dead owners like this. */
  async function giveBack(owner: string): Promise<void> {
    const gone = await admin.zrem(TIMEOUTS, ...idsOf(owner).map(bytes))
    await admin.incrby(POOL, gone)
  }

  test('fewer than 20 notes are left behind at a time while permits continue to be acquired', async () => {
    await change('set', 40)
    await acquire('busy:1:1', { leaseMs: 600_000 })
    let most = 0
    for (let i = 0; i < 600; i++) {
      await acquire(`c:${i}:1`)
      await giveBack(`c:${i}:1`)
      most = Math.max(most, await admin.hlen(HOLDERS))
    }
    expect(most).toBeLessThan(20)
    expect(await owners()).toContain('busy:1:1')
    expect(await admin.get(POOL)).toBe('39')
  })

  test('an inspection does not report notes that were left behind', async () => {
    await change('set', 3)
    await acquire('c:1:1')
    await acquire('c:2:1')
    await giveBack('c:1:1')
    const [, , taken, , , holders] = (await run(scripts.inspectPermits, { most: 10 })) as unknown[]
    expect(taken).toBe(1)
    expect(holders).toEqual(['c:2:1', expect.any(String)])
  })

  test('the next acquisition deletes invalid notes', async () => {
    await change('set', 3)
    await admin.hset(HOLDERS, 'a', 'nonsense', 'b', '', headOf('x'), 'x 1', 'c', 'c:1 2')
    await acquire('c:1:1')
    expect(await owners()).toEqual(['c:1:1'])
    expect(await admin.pttl(HOLDERS)).toBeGreaterThan(HOUR_MS)
  })
})

test('a waiting client receives the holders and the times of their grants; a client that only tries does not', async () => {
  await change('set', 3)
  await acquire('c:1:2')
  await admin.zadd(TIMEOUTS, '922337203685477', Buffer.alloc(16, 7))
  await admin.decr(POOL)
  const since = String((await admin.hget(HOLDERS, headOf('c:1:2')))?.split(' ')[1])
  const waited = await acquire('d:1:1', { client: 'd' })
  expect(waited.slice(3)).toEqual([1, 0, 3, expect.any(String), ['c:1:2', since]])
  expect((await acquire('d:2:1')).at(-1)).toEqual([])
})

test('the reply to a waiting client says that no client has set the semaphore', async () => {
  expect((await acquire('d:1:1', { client: 'd' })).slice(3)).toEqual([
    ...[0, 0, 0],
    expect.any(String),
    [],
  ])
})

test('permits work even when a key of another type is in the place of the notes', async () => {
  await change('set', 5)
  await admin.set(HOLDERS, 'text')
  expect((await acquire('c:1:2'))[0]).toBe('granted')
  expect((await acquire('c:2:1'))[0]).toBe('granted')
  expect((await acquire('d:1:4', { client: 'd' })).at(-1)).toEqual([])
  expect(await renew(20_000, 'c:1:2')).toEqual([20_000])
  expect(((await run(scripts.inspectPermits, { most: 10 })) as unknown[])[5]).toEqual([])
  await isOver('c:2:1')
  expect(await releaseIds([idsOf('c:1:2')[0] as string])).toBe(1)
  expect(await take(idsOf('c:1:2')[1] as string)).toEqual(['taken'])
  await admin.del('holdfast_queue:{it}', 'holdfast_alive:{it}')
  await acquire('c:3:1')
  expect(await release('c:3:1')).toEqual(['freed'])
  expect(await admin.get(POOL)).toBe('5')
  await change('delete', 0)
})

describe('a release of permits by id', () => {
  beforeEach(() => change('set', 5))

  test('a release by id makes permits of any holder available, and reports if all of them were held', async () => {
    await acquire('c:1:2')
    await admin.zadd(TIMEOUTS, '922337203685477', Buffer.alloc(16, 7))
    await admin.decr(POOL)
    const redissons = '07'.repeat(16)
    expect(await releaseIds([idsOf('c:1:2')[0] as string, redissons])).toBe(1)
    expect(await admin.get(POOL)).toBe('4')
    expect(await releaseIds([...idsOf('c:1:2')])).toBe(0)
    expect(await admin.get(POOL)).toBe('5')
    expect(await release('c:1:2')).toEqual(['gone'])
    expect(await admin.get(POOL)).toBe('5')
  })

  test('a release by id wakes the next client, and publishes the number of free permits for Redisson', async () => {
    await acquire('c:1:5')
    await acquire('d:1:2', { client: 'd' })
    const [one, two, three] = idsOf('c:1:5') as [string, string, string]
    expect(await messagesOf(() => releaseIds([one]), told.channel)).toEqual(['01'])
    expect(await messagesOf(() => releaseIds([two, three]), told.tickets)).toEqual(['d'])
    expect(await messagesOf(() => releaseIds([one]), told.channel)).toEqual([])
    await isOver('c:1:5')
    expect(await messagesOf(() => releaseIds([one]), told.channel)).toEqual(['05'])
  })

  test('a repeated release by id is done once, and gets the same answer', async () => {
    await acquire('c:1:2')
    expect(await releaseIds(idsOf('c:1:2'), 'same')).toBe(1)
    const before = await state()
    expect(await releaseIds(idsOf('c:1:2'), 'same')).toBe(1)
    expect(await state()).toEqual(before)
    expect(await admin.pttl('holdfast_request:{it}:same')).toBeGreaterThan(3_000)
  })

  test('a release by id works while the server is full', async () => {
    await acquire('c:1:2')
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect(await releaseIds(idsOf('c:1:2'))).toBe(1)
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
    expect(await admin.get(POOL)).toBe('5')
  })

  test('a release by id releases 5,000 permits at once', async () => {
    await change('set', 5_000)
    await acquire('c:1:5000')
    expect(await releaseIds(idsOf('c:1:5000'))).toBe(1)
    expect(await admin.get(POOL)).toBe('5000')
    expect(await admin.exists(TIMEOUTS, HOLDERS)).toBe(0)
  })
})

describe('an acquisition with a limit', () => {
  test('an acquisition sets an unset number to its limit, minus the permits that are held', async () => {
    expect(await acquire('c:1:2', { limit: 5 })).toEqual(['granted', expect.any(String), ''])
    expect(await admin.get(POOL)).toBe('3')
    // As if the number had been evicted.
    await admin.del(POOL)
    expect((await acquire('c:2:1', { limit: 5 }))[0]).toBe('granted')
    expect(await admin.get(POOL)).toBe('2')
    await admin.del(POOL)
    await isOver('c:1:2')
    expect((await acquire('c:3:1', { limit: 5 }))[0]).toBe('granted')
    expect(await admin.get(POOL)).toBe('3')
  })

  test('an acquisition keeps a number that differs from its limit, and reports that number', async () => {
    await change('set', 3)
    expect(await acquire('c:1:1', { limit: 5 })).toEqual(['granted', expect.any(String), 3])
    expect(await acquire('c:1:1', { limit: 5 })).toEqual(['granted', expect.any(String), 3])
    expect(await acquire('c:2:1', { limit: 3 })).toEqual(['granted', expect.any(String), ''])
    expect(await acquire('c:3:5', { limit: 5 })).toEqual(['too-many', 1, 2])
  })

  test('an acquisition that comes too late sets no number', async () => {
    expect((await acquire('c:1:1', { limit: 5, notAfterUs: 1_000 }))[0]).toBe('late')
    expect(await admin.exists(POOL)).toBe(0)
  })
})
