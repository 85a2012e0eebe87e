import { setTimeout as pause } from 'node:timers/promises'
import {
  type Arguments,
  admin,
  COUNTER,
  COUNTER_MS,
  fields,
  LOCK,
  messagesOf,
  NEVER,
  notAfter,
  nowUs,
  run,
  state,
  type Value,
  withoutTtl,
} from '../../lua/run-script.ts'
import { eventually } from '../../support/eventually.ts'
import { leaves } from '../../support/leaks.ts'
import * as scripts from '../../support/scripts.ts'

const CHANNEL = 'redisson_rwlock:{it}'
const timeoutOf = (reader: string, n = 1) => `{it}:${reader}:rwlock_timeout:${n}`

const terms = { notAfterUs: NEVER, counterMs: COUNTER_MS, prefix: '{it}', waitingMs: 3_000 }
type Answer = [string, Value, Value?, ...Value[]]

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

/** Requests a read lock for a waiting client, or for a call that does not wait if `client` is ''. */
const read = (owner: string, args: Arguments = {}) =>
  run(scripts.acquireRead, {
    ...terms,
    owner,
    leaseMs: 10_000,
    beside: '',
    client: '',
    last: 1,
    ...args,
  }) as Promise<Answer>

const write = (owner: string, args: Arguments = {}) =>
  run(scripts.acquireWrite, {
    ...terms,
    owner: `${owner}:write`,
    leaseMs: 10_000,
    beside: '',
    client: '',
    ...args,
  }) as Promise<Answer>

const release = (owner: string, args: Arguments = {}) =>
  run(scripts.releaseReadWrite, {
    owner,
    token: '',
    channel: CHANNEL,
    publish: 'PUBLISH',
    prefix: '{it}',
    client: '',
    claimMs: 5_000,
    ...args,
  }) as Promise<Answer>

const told = (work: () => Promise<unknown>) => messagesOf(work, CHANNEL)

describe('a request to read', () => {
  test('a reader is stored as in Redisson: a mode, a hold count, and a key for its lease', async () => {
    const [kind, token] = await read('c:1')
    expect(kind).toBe('granted')
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '1' })
    expect(await admin.pttl(timeoutOf('c:1'))).toBeGreaterThan(9_000)
    expect(await admin.pttl(LOCK)).toBeGreaterThan(9_000)
    expect(await admin.get(COUNTER)).toBe(token)
    expect(await withoutTtl()).toEqual([])
  })

  test('several readers hold the lock, each with its own lease and the token of the last writer', async () => {
    const [, written] = await write('c:0')
    await release('c:0:write')
    const [, first] = await read('c:1', { leaseMs: 20_000 })
    const [, second] = await read('d:1', { leaseMs: 5_000 })
    expect([first, second]).toEqual([written, written])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(19_000)
    expect(await admin.pttl(timeoutOf('d:1'))).toBeLessThanOrEqual(5_000)
    expect((await release('c:1'))[0]).toBe('freed')
    expect(await fields()).toEqual({ mode: 'read', 'd:1': '1' })
    await release('d:1')
    expect(await admin.keys('*')).toEqual([COUNTER])
  })

  test('a repeated request to read changes nothing and gets the same answer', async () => {
    const first = await read('c:1')
    const before = await state()
    expect(await read('c:1')).toEqual(first)
    expect(await state()).toEqual(before)
    await read('c:1', { holds: 2 })
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '2' })
    expect((await read('c:1', { holds: 2 }))[0]).toBe('granted')
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '2' })
  })

  test('a re-entry of a reader that lost its hold is answered with gone', async () => {
    expect(await read('c:1', { holds: 2 })).toEqual(['gone'])
    await read('c:1')
    await read('c:2')
    await admin.del(timeoutOf('c:1'))
    expect(await read('c:1', { holds: 2 })).toEqual(['gone'])
    expect(await fields()).toEqual({ mode: 'read', 'c:2': '1' })
  })

  test('a request to read that comes too late is refused', async () => {
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect((await read('c:1', late))[0]).toBe('late')
    expect(await admin.keys('*')).toEqual([])
  })

  test('a reader is refused while another owner writes', async () => {
    await write('c:1')
    const [kind, ttlMs] = await read('d:1')
    expect(kind).toBe('held')
    expect(Number(ttlMs)).toBeGreaterThan(9_000)
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
  })
})

describe.each([
  ['read', 'c:1', read, timeoutOf('c:1')],
  ['write', 'c:1:write', write, LOCK],
] as const)('a re-entry to %s', (_, owner, take, leaseKey) => {
  const count = async () => (await fields())[owner]

  test('a re-entry lengthens the lease and the counter, and never shortens them', async () => {
    await take('c:1', { leaseMs: 5_000, counterMs: 10_000 })
    await take('c:1', { holds: 2, leaseMs: 20_000 })
    await take('c:1', { holds: 3, leaseMs: 1_000, counterMs: 5_000 })
    for (const key of [leaseKey, LOCK]) {
      expect(await admin.pttl(key)).toBeGreaterThan(15_000)
      expect(await admin.pttl(key)).toBeLessThanOrEqual(20_000)
    }
    expect(await admin.pttl(COUNTER)).toBeGreaterThan(50_000)
    expect(await count()).toBe('3')
  })

  test('a late re-entry is refused, unless the owner already has that hold count', async () => {
    await take('c:1')
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect((await take('c:1', { ...late, holds: 2 }))[0]).toBe('late')
    expect((await take('c:1', { ...late, holds: 1 }))[0]).toBe('granted')
    expect(await count()).toBe('1')
  })
})

test("the key of a reader's lease keeps the start of the hold, even after a renewal and a re-entry", async () => {
  const before = await nowUs()
  await read('c:1', { leaseMs: 1_000 })
  const since = await admin.get(timeoutOf('c:1'))
  expect(Number(since)).toBeGreaterThanOrEqual(before)
  expect(Number(since)).toBeLessThanOrEqual(await nowUs())
  await read('c:1', { leaseMs: 20_000 })
  await read('c:1', { holds: 2, leaseMs: 30_000 })
  const { source } = scripts.renewReadWrite
  await admin.eval(source, 2, LOCK, COUNTER, 60_000, COUNTER_MS, 'c:1', '{it}')
  expect(await admin.get(timeoutOf('c:1'))).toBe(since)
  expect(await admin.pttl(timeoutOf('c:1'))).toBeGreaterThan(50_000)
  await release('c:1', { holds: 1 })
  expect(await admin.get(timeoutOf('c:1'))).toBe(since)
  await release('c:1')
  await read('c:1')
  expect(Number(await admin.get(timeoutOf('c:1')))).toBeGreaterThan(Number(since))
})

describe('a refused request', () => {
  const ageOf = (answer: Answer) => answer.at(-1)

  test('the reply says for how long one of the readers has held the lock', async () => {
    await read('c:1')
    await admin.set(timeoutOf('c:1'), (await nowUs()) - 5_000_000, 'KEEPTTL')
    expect(await write('d:1')).toEqual(['held', expect.any(Number), '', 'c:1', expect.any(Number)])
    expect(ageOf(await write('d:1'))).toBeGreaterThanOrEqual(5_000)
    expect(ageOf(await write('d:1'))).toBeLessThan(60_000)
  })

  test.each(['1', 'text'])(
    'the reply has no age for a lease with the value %s, as Redisson writes it',
    async (value) => {
      await read('c:1')
      await admin.set(timeoutOf('c:1'), value, 'KEEPTTL')
      expect((await write('d:1')).slice(2)).toEqual(['', 'c:1', ''])
    },
  )

  test("the reply names the reader that blocks an upgrade, not the owner's own upgradable lock", async () => {
    await read('c:1:upgradable')
    await read('d:1')
    for (let i = 0; i < 10; i++) {
      expect((await write('c:2', { beside: 'c:1:upgradable' }))[3]).toBe('d:1')
    }
  })

  test.each([
    ['read', (args: Arguments) => read('e:1', args)],
    ['write', (args: Arguments) => write('e:1', args)],
  ])('a request to %s that comes too late does not wait', async (_, take) => {
    await write('c:1')
    const late = { client: 'e', notAfterUs: await notAfter(-1_000, 100) }
    expect((await take(late))[0]).toBe('late')
    expect((await admin.keys('holdfast_*')).sort()).toEqual([])
  })
})

describe('a request to write', () => {
  test('one writer holds the lock alone, and the next writer gets a greater token', async () => {
    const [, first] = await write('c:1')
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
    expect((await write('d:1'))[0]).toBe('held')
    await release('c:1:write', { token: Number(first) })
    const [, second] = await write('d:1')
    expect(Number(second)).toBeGreaterThan(Number(first))
  })

  test('a repeated request to write changes nothing and gets the same answer', async () => {
    const first = await write('c:1')
    const before = await state()
    expect(await write('c:1')).toEqual(first)
    expect(await state()).toEqual(before)
  })

  test('a re-entry to write is answered with gone if the hold is lost, or if it names an earlier hold', async () => {
    expect(await write('c:1', { holds: 2 })).toEqual(['gone'])
    const [, token] = await write('c:1')
    expect(await write('c:1', { holds: 2, token: token as string })).toEqual(['granted', ''])
    await release('c:1:write')
    await write('c:1')
    expect(await write('c:1', { holds: 2, token: token as string })).toEqual(['gone'])
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
  })

  test('the lease of an upgrade is the longer of the two leases', async () => {
    for (const [leaseMs, upgradeMs] of [
      [60_000, 5_000],
      [5_000, 60_000],
    ] as const) {
      await read('c:1:upgradable', { leaseMs })
      const upgrade = { beside: 'c:1:upgradable', leaseMs: upgradeMs }
      expect((await write('c:2', upgrade))[0]).toBe('granted')
      expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
      await release('c:2:write')
      await release('c:1:upgradable')
    }
  })

  test('a writer is refused while others read, and is granted when each reader has expired or left', async () => {
    await read('c:1', { leaseMs: 300 })
    await read('d:1', { leaseMs: 10_000 })
    expect((await write('e:1'))[0]).toBe('held')
    await eventually(async () => (await admin.exists(timeoutOf('c:1'))) === 0)
    await release('d:1')
    expect((await write('e:1'))[0]).toBe('granted')
    expect(await fields()).toEqual({ mode: 'write', 'e:1:write': '1' })
  })

  test('the expiry of the lock, for which a writer in Redisson waits, is the longest lease left', async () => {
    await read('c:1', { leaseMs: 5_000 })
    await read('d:1', { leaseMs: 20_000 })
    await read('e:1', { leaseMs: 10_000 })
    const leftMs: number[] = []
    for (const reader of ['d:1', 'e:1']) {
      await release(reader)
      leftMs.push(await admin.pttl(LOCK))
    }
    expect(leftMs[0]).toBeGreaterThan(9_000)
    expect(leftMs[0]).toBeLessThanOrEqual(10_000)
    expect(leftMs[1]).toBeGreaterThan(4_000)
    expect(leftMs[1]).toBeLessThanOrEqual(5_000)
  })

  test('a release that leaves only dead readers wakes a writer in Redisson', async () => {
    await read('c:1')
    await read('d:1', { leaseMs: 20_000 })
    await admin.del(timeoutOf('c:1'))
    expect(await told(() => release('d:1'))).toEqual(['00'])
    expect(await admin.exists(LOCK)).toBe(0)
  })

  test('a writer may also read, and continues to read after it released the write lock', async () => {
    const [, token] = await write('c:1')
    expect(await read('c:2', { beside: 'c:1:write' })).toEqual(['granted', token])
    expect((await read('c:3'))[0]).toBe('held')
    expect(await told(() => release('c:1:write'))).toEqual(['01'])
    expect(await fields()).toEqual({ mode: 'read', 'c:2': '1' })
    expect((await read('d:1'))[0]).toBe('granted')
    expect((await write('d:2'))[0]).toBe('held')
  })

  test('a writer that also reads for less time keeps its write lease, even after it stops reading', async () => {
    await write('c:1', { leaseMs: 60_000 })
    await read('c:1', { leaseMs: 5_000, beside: 'c:1:write' })
    expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
    expect(await release('c:1')).toEqual(['freed', 0])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
  })

  test('an upgradable reader that waits to write acquires the write lock when it is the only reader', async () => {
    await read('c:1:upgradable')
    await read('d:1')
    const going = { beside: 'c:1:upgradable', client: 'c' }
    expect((await write('c:2', going))[0]).toBe('held')
    // The upgrade comes before a waiter that waits for longer.
    await write('e:1', { client: 'e' })
    expect(await told(() => release('d:1'))).toEqual(['3'])
    expect((await write('c:2', going))[0]).toBe('granted')
    expect(await fields()).toEqual({ mode: 'write', 'c:1:upgradable': '1', 'c:2:write': '1' })
    await release('c:2:write')
    expect(await fields()).toEqual({ mode: 'read', 'c:1:upgradable': '1' })
  })
})

test('one owner at a time holds the upgradable lock, beside other readers', async () => {
  await read('c:1:upgradable')
  await read('d:1')
  expect((await read('e:1:upgradable', { client: 'e' }))[0]).toBe('held')
  const [, , since] = await read('e:1:upgradable', { client: 'e' })
  expect(await told(() => release('c:1:upgradable'))).toEqual([since])
  expect((await read('e:1:upgradable', { client: 'e' }))[0]).toBe('granted')
  // A dead holder does not keep others waiting.
  await admin.del(timeoutOf('e:1:upgradable'))
  expect((await read('f:1:upgradable'))[0]).toBe('granted')
})

describe('waiters for the upgradable lock and waiters to write', () => {
  const upgradable = (client: string) => read(`${client}:1:upgradable`, { client })
  const upgrade = (client: string) =>
    write(`${client}:2`, { client, beside: `${client}:1:upgradable` })

  test('waiters acquire the lock in the order in which they came, and an upgrade goes first', async () => {
    await upgradable('a')
    const [, , w] = await write('w:1', { client: 'w' })
    const [, , b] = await upgradable('b')
    const [, , x] = await write('x:1', { client: 'x' })
    const [, written] = await upgrade('a')
    expect(await told(() => release('a:2:write', { token: written as string }))).toEqual(['01'])
    expect(await told(() => release('a:1:upgradable'))).toEqual(['00', w])
    expect((await upgradable('b'))[0]).toBe('held')
    expect((await write('x:1', { client: 'x' }))[0]).toBe('held')
    expect((await write('w:1', { client: 'w' }))[0]).toBe('granted')
    expect(await told(() => release('w:1:write'))).toEqual(['01', b])
    expect((await write('x:1', { client: 'x' }))[0]).toBe('held')
    expect((await upgradable('b'))[0]).toBe('granted')
    expect((await upgrade('b'))[0]).toBe('granted')
    await release('b:2:write')
    expect(await told(() => release('b:1:upgradable'))).toEqual(['00', x])
    expect((await write('x:1', { client: 'x' }))[0]).toBe('granted')
  })

  test('waiters keep their order while waiting readers acquire the lock', async () => {
    await write('a:1')
    await read('r:1', { client: 'r' })
    const [, , w] = await write('w:1', { client: 'w' })
    await upgradable('u')
    expect(await told(() => release('a:1:write'))).toEqual(['01', '2'])
    expect((await upgradable('u'))[0]).toBe('held')
    expect((await read('r:1', { client: 'r' }))[0]).toBe('granted')
    expect((await upgradable('u'))[0]).toBe('held')
    expect(await told(() => release('r:1'))).toEqual(['00', w])
    expect((await write('w:1', { client: 'w' }))[0]).toBe('granted')
  })

  test('waiters block no reader while the upgradable lock is next', async () => {
    await upgradable('a')
    await upgradable('b')
    await write('w:1', { client: 'w' })
    expect((await read('r:1'))[0]).toBe('granted')
    await release('a:1:upgradable')
    expect((await upgradable('b'))[0]).toBe('granted')
    // Now the next waiter wants to write.
    expect((await read('r:2'))[0]).toBe('held')
  })

  test('waiters are woken when the waiters before them leave', async () => {
    await upgradable('a')
    const [, , w] = await write('w:1', { client: 'w' })
    const [, , b] = await upgradable('b')
    await read('r:1', { client: 'r' })
    expect(Number(b)).toBeGreaterThan(Number(w))
    expect(await told(() => release('w:1:write', { client: 'w' }))).toEqual(['2', b])
    expect((await read('r:1', { client: 'r' }))[0]).toBe('granted')
    expect(await told(() => release('a:1:upgradable'))).toEqual([b])
    expect((await upgradable('b'))[0]).toBe('granted')
  })

  test('the place of a client stays until the last waiter of that client leaves', async () => {
    await upgradable('a')
    const [, , first] = await upgradable('b')
    await release('b:1:upgradable', { client: '' })
    expect((await upgradable('b'))[2]).toBe(first)
    await release('b:1:upgradable', { client: 'b' })
    expect(await admin.exists('holdfast_writers:{it}', 'holdfast_alive:{it}')).toBe(0)
  })

  test('a dead waiter blocks no writer', async () => {
    await upgradable('a')
    await read('b:1:upgradable', { client: 'b', waitingMs: 1_500 })
    await release('a:1:upgradable')
    expect((await write('w:1', { client: 'w' }))[0]).toBe('held')
    await eventually(async () => (await write('w:1', { client: 'w' }))[0] === 'granted')
  })

  test('an upgrade waits for readers that may read next, and is woken when they release or give up', async () => {
    for (const leaves of [false, true]) {
      await upgradable('a')
      await upgrade('a')
      await read('r:1', { client: 'r' })
      expect(await told(() => release('a:2:write', { claimMs: 60_000 }))).toEqual(['01', '2'])
      const [kind, ttlMs, since] = await upgrade('a')
      expect([kind, since]).toEqual(['held', '3'])
      expect(ttlMs).toBeGreaterThan(50_000)
      if (!leaves) await read('r:1', { client: 'r' })
      expect(await told(() => release('r:1', { client: leaves ? 'r' : '' }))).toEqual(['3'])
      expect((await upgrade('a'))[0]).toBe('granted')
      await release('a:2:write')
      await release('a:1:upgradable')
    }
  })

  test('two attempts of one owner cannot both upgrade from the same upgradable lock', async () => {
    await upgradable('a')
    expect((await upgrade('a'))[0]).toBe('granted')
    expect((await write('a:3', { beside: 'a:1:upgradable' }))[0]).toBe('held')
  })
})

describe('readers that are dead and not yet removed', () => {
  test('a write lock that follows a dead reader has an expiry', async () => {
    await read('c:1')
    await admin.del(timeoutOf('c:1'))
    expect((await write('d:1'))[0]).toBe('granted')
    expect(await withoutTtl()).toEqual([])
  })

  test('an upgrade from an expired upgradable lock is answered with gone: another owner may have written since', async () => {
    await read('c:1:upgradable')
    await read('d:1')
    await admin.del(timeoutOf('c:1:upgradable'))
    const going = { beside: 'c:1:upgradable', client: 'c' }
    expect(await write('c:2', going)).toEqual(['gone'])
    await release('d:1')
    expect(await write('c:2', going)).toEqual(['gone'])
  })
})

describe('a lock of another kind with the same name', () => {
  test.each([
    ['to read', () => read('c:1')],
    ['to write', () => write('c:1')],
  ])('a request %s is refused', async (_, take) => {
    await admin.hset(LOCK, 'c:9', 1)
    await expect(take()).rejects.toThrow('no read-write lock has this name')
  })
})

describe('a waiter that wants to write', () => {
  test('a waiting writer blocks new readers, but no re-entry of a reader', async () => {
    await read('c:1')
    await write('d:1', { client: 'd' })
    expect((await read('e:1'))[0]).toBe('held')
    expect((await read('c:1', { holds: 2 }))[0]).toBe('granted')
    await release('c:1')
    expect((await write('d:1', { client: 'd' }))[0]).toBe('granted')
    expect(await withoutTtl()).toEqual([])
  })

  test('the writer that has waited longest is served first, and only that writer is woken', async () => {
    await read('c:1')
    const [, , first] = await write('d:1', { client: 'd' })
    const [, , second] = await write('e:1', { client: 'e' })
    expect(Number(second)).toBeGreaterThan(Number(first))
    expect(await told(() => release('c:1'))).toEqual(['00', first])
    expect((await write('e:1', { client: 'e' }))[0]).toBe('held')
    expect((await write('f:1'))[0]).toBe('held')
    expect((await write('d:1', { client: 'd' }))[0]).toBe('granted')
    expect(await told(() => release('d:1:write'))).toEqual(['01', second])
  })

  test('a free lock is refused to a writer for as long as the place of an earlier writer lasts', async () => {
    await read('c:1')
    await write('d:1', { client: 'd', waitingMs: 2_000 })
    await release('c:1')
    const [kind, ttlMs] = await write('e:1', { client: 'e' })
    expect(kind).toBe('held')
    expect(Number(ttlMs)).toBeGreaterThan(500)
    expect(Number(ttlMs)).toBeLessThanOrEqual(2_001)
  })

  test('the short place of one writer does not shorten the place of another writer', async () => {
    await read('c:1')
    await write('d:1', { client: 'd' })
    await write('e:1', { client: 'e', waitingMs: 50 })
    await pause(150)
    expect((await read('f:1'))[0]).toBe('held')
    await release('d:1:write', { client: 'd' })
    expect((await read('f:1'))[0]).toBe('granted')
  })

  test('an upgrade has its own place in the queue, beside the place of its client', async () => {
    await read('d:1:upgradable')
    await read('c:1')
    const [, , since] = await write('d:2', { client: 'd' })
    expect((await write('d:1', { client: 'd', beside: 'd:1:upgradable' }))[2]).toBe('3')
    expect((await write('d:2', { client: 'd' }))[2]).toBe(since)
    // The waiter gives up, or its owner no longer has the upgradable lock.
    const places = () => admin.zrange('holdfast_writers:{it}', '0', '-1')
    await release('d:1:write', { client: '' })
    expect(await places()).toEqual(['d'])
    await write('d:1', { client: 'd', beside: 'd:1:upgradable' })
    expect(await places()).toEqual(['d:1:write', 'd'])
    await release('d:1:upgradable')
    expect((await write('d:1', { client: 'd' }))[2]).toBe(since)
    expect(await places()).toEqual(['d'])
  })

  test('an upgrade is woken when its owner is the only reader', async () => {
    await read('d:1:upgradable')
    await read('c:1')
    await write('d:2', { client: 'd' })
    await write('d:1', { client: 'd', beside: 'd:1:upgradable' })
    expect(await told(() => release('c:1'))).toEqual(['3'])
  })

  test('a waiting writer that leaves does not remove a waiting reader of the same client', async () => {
    await write('c:1')
    await write('d:1', { client: 'd' })
    await read('d:2', { client: 'd' })
    await release('d:1:write', { client: 'd' })
    expect(await told(() => release('c:1:write'))).toEqual(['01', '2'])
  })

  test('a waiting writer blocks no reader after it has left or died', async () => {
    await read('c:1')
    await write('d:1', { client: 'd' })
    await read('e:1', { client: 'e' })
    expect(await told(() => release('d:1:write', { client: 'd' }))).toEqual(['2'])
    expect((await read('e:1', { client: 'e' }))[0]).toBe('granted')
    await write('d:2', { client: 'd', waitingMs: 700 })
    expect((await read('f:1'))[0]).toBe('held')
    await pause(800)
    expect((await read('f:1'))[0]).toBe('granted')
  })
})

test('a reader whose lease has ended reads again, with a mode and an expiry', async () => {
  await read('c:1')
  await admin.del(timeoutOf('c:1'))
  expect((await read('c:1'))[0]).toBe('granted')
  expect(await fields()).toEqual({ mode: 'read', 'c:1': '1' })
  expect(await withoutTtl()).toEqual([])
})

test('a writer that is refused removes a reader whose lease has ended', async () => {
  await read('c:1')
  await read('d:1')
  await admin.del(timeoutOf('c:1'))
  expect((await write('e:1'))[0]).toBe('held')
  expect(await fields()).toEqual({ mode: 'read', 'd:1': '1' })
})

test('an owner that stops reading while it still writes wakes no waiter', async () => {
  await read('c:1:upgradable')
  await write('c:2', { beside: 'c:1:upgradable' })
  await read('d:1', { client: 'd' })
  expect(await told(() => release('c:1:upgradable'))).toEqual([])
})

test('a writer that died while it waited does not hide the writer behind it', async () => {
  await read('c:1')
  await write('d:1', { client: 'd' })
  const [, , since] = await write('e:1', { client: 'e' })
  await admin.hset('holdfast_alive:{it}', 'd', Date.now() - 1_000)
  expect(await told(() => release('c:1'))).toEqual(['00', since])
  expect(await admin.zrange('holdfast_writers:{it}', '0', '-1')).toEqual(['e'])
  expect(Object.keys(await admin.hgetall('holdfast_alive:{it}'))).toEqual(['e'])
})

test('a waiting writer that died before the clock was set back blocks no reader', async () => {
  await read('c:1')
  await write('d:1', { client: 'd' })
  await admin.hset('holdfast_alive:{it}', 'd', Date.now() + 3_600_000)
  expect((await read('e:1'))[0]).toBe('granted')
})

test.each([
  ['read', (args: Arguments) => read('d:1', args)],
  ['write', (args: Arguments) => write('d:1', args)],
])(
  'the place of a client that waits to %s expires, and each request prolongs it',
  async (_, take) => {
    await write('c:1')
    await take({ client: 'd', waitingMs: 3_000 })
    expect(await withoutTtl()).toEqual([])
    await take({ client: 'd', waitingMs: 9_000 })
    expect(await admin.pttl('holdfast_alive:{it}')).toBeGreaterThan(9_000)
  },
)

test('a reader that reads again after its lease ended does not shorten the lease of its own write lock', async () => {
  const beside = 'c:1:write'
  await write('c:1', { leaseMs: 60_000 })
  for (const reader of ['c:2', 'c:3']) await read(reader, { beside, leaseMs: 1_000 })
  await admin.del(timeoutOf('c:2'))
  expect((await read('c:2', { beside, leaseMs: 1_000 }))[0]).toBe('granted')
  expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
  expect(await admin.pttl(timeoutOf('c:2'))).toBeGreaterThan(0)
})

describe('an inspection', () => {
  const inspect = (most = 10) =>
    run(scripts.inspectReadWrite, { prefix: '{it}', most }) as Promise<(Value | Value[])[]>

  test('an inspection reports readers with a lease, and waiters, and changes nothing', async () => {
    const java = '0f8fad5b-d9cb-469f-a165-70867728950e:1'
    const [, token] = await read('c:1', { leaseMs: 20_000 })
    await read('d:1')
    await read('e:1')
    await admin.del(timeoutOf('e:1'))
    await admin.hset(LOCK, java, 2)
    await write('f:1', { client: 'f' })
    await write('g:1', { client: 'g' })
    await read('h:1', { client: 'h' })
    await admin.hset('holdfast_alive:{it}', 'f', Date.now() - 1_000)
    const before = await state()
    const [mode, ttlMs, last, now, holds, leftMs, sinceUs, readers, writers] = await inspect()
    expect([mode, last]).toEqual(['read', token])
    expect(ttlMs).toBeGreaterThan(15_000)
    expect(Math.abs(Number(now) - (await nowUs()))).toBeLessThan(5_000_000)
    const pairs = (list: unknown) => (list as string[]).filter((_, i) => i % 2 === 0).sort()
    expect(pairs(holds)).toEqual([java, 'c:1', 'd:1'])
    expect(holds).toEqual(expect.arrayContaining([java, '2']))
    expect(pairs(leftMs)).toEqual([java, 'c:1', 'd:1'])
    expect(pairs(sinceUs)).toEqual(['c:1', 'd:1'])
    expect(readers).toEqual(['h', expect.any(String)])
    expect(writers).toEqual(['g', expect.any(String)])
    expect((await inspect(0)).slice(-2)).toEqual([[], []])
    expect((await inspect(1)).slice(-2)).toEqual([['h', expect.any(String)], []])
    expect(await state()).toEqual(before)
  })

  test('an inspection reports the writer with its lease, and refuses a lock of another kind', async () => {
    expect((await inspect()).slice(0, 3)).toEqual(['', -2, ''])
    await write('c:1', { leaseMs: 20_000 })
    const [mode, , , , holds, leftMs, sinceUs] = await inspect()
    expect([mode, holds, sinceUs]).toEqual(['write', ['c:1:write', '1'], []])
    expect(Number((leftMs as unknown as string[])[1])).toBeGreaterThan(15_000)
    await admin.del(LOCK)
    await admin.hset(LOCK, 'c:9', 1)
    await expect(inspect()).rejects.toThrow('no read-write lock has this name')
  })
})

describe('a lock with many readers', () => {
  const many = (leaseMs: (i: number) => number, count = 300) =>
    Promise.all(Array.from({ length: count }, (_, i) => read(`c:${i}`, { leaseMs: leaseMs(i) })))
  const commandsOf = async (work: () => Promise<unknown>) => {
    await admin.config('RESETSTAT')
    await work()
    const stats = await admin.info('commandstats')
    return [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0)
  }

  test.each([
    ['reads', () => read('d:1', { leaseMs: 30_000 }), () => release('d:1')],
    [
      'fails to write',
      () => write('d:1', { client: 'd' }),
      () => release('d:1:write', { client: 'd' }),
    ],
  ])(
    'an owner that %s for a moment uses fewer than 60 commands, even beside 300 readers',
    async (_, take, leave) => {
      await many((i) => 20_000 + i * 30)
      expect(
        await commandsOf(async () => {
          await take()
          await leave()
        }),
      ).toBeLessThan(60)
      expect(await admin.hlen(LOCK)).toBe(301)
    },
  )

  test('after a much longer lease was released, later releases shorten the expiry of the lock', async () => {
    await many(() => 5_000, 20)
    await read('d:1', { leaseMs: 3_600_000 })
    await release('d:1')
    for (let n = 0; (await admin.pttl(LOCK)) > 11_000; n++) {
      expect(n).toBeLessThan(1_000)
      await read(`e:${n}`, { leaseMs: 5_000 })
      await release(`e:${n}`)
    }
    expect(await admin.hlen(LOCK)).toBe(21)
  })

  test('owners that come and leave remove dead readers', async () => {
    await many(() => 60_000, 20)
    for (let i = 0; i < 10; i++) await admin.del(timeoutOf(`c:${i}`))
    for (let n = 0; (await admin.hlen(LOCK)) > 11; n++) {
      expect(n).toBeLessThan(1_000)
      await read(`e:${n}`, { leaseMs: 60_000 })
      await release(`e:${n}`)
    }
  })

  test('a re-entered reader of Redisson is not removed as dead', async () => {
    const java = '0f8fad5b-d9cb-469f-a165-70867728950e:1'
    await many(() => 60_000, 9)
    await admin.hset(LOCK, java, 2)
    for (let n = 0; n < 50; n++) {
      await read(`e:${n}`, { leaseMs: 60_000 })
      await release(`e:${n}`)
    }
    expect(await admin.hget(LOCK, java)).toBe('2')
  })
})

test('300 releases use few commands each, and the last release wakes the waiting writer', async () => {
  const looks = async () =>
    Number(/cmdstat_pttl:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)
  const readers = Array.from({ length: 300 }, (_, i) => `c:${i}`)
  await Promise.all(readers.map((reader) => read(reader, { leaseMs: 60_000 })))
  const [, , since] = await write('d:1', { client: 'd', waitingMs: 9_000 })
  const before = await looks()
  for (const reader of readers.slice(1)) {
    expect(await release(reader)).toEqual(['freed', 0])
  }
  // If each release checked all other readers, there would be 45,000 checks.
  expect((await looks()) - before).toBeLessThan(5_000)
  expect(await told(() => release('c:0'))).toEqual(['00', since])
  expect((await write('d:1', { client: 'd' }))[0]).toBe('granted')
})

test('a re-entered reader of Redisson holds the lock until the lock expires', async () => {
  // In versions before 4.0, the watchdog of Redisson renews only the key of the lock.
  const java = '0f8fad5b-d9cb-469f-a165-70867728950e:1'
  await admin.hset(LOCK, { mode: 'read', [java]: 2 })
  await admin.pexpire(LOCK, 2_000)
  expect((await write('c:1'))[0]).toBe('held')
  await read('c:2', { leaseMs: 500 })
  await release('c:2')
  expect(await fields()).toEqual({ mode: 'read', [java]: '2' })
  expect(await admin.pttl(LOCK)).toBeGreaterThan(0)
  await eventually(async () => (await write('c:1'))[0] === 'granted')
})

describe('readers that waited while another owner wrote', () => {
  test('waiting readers acquire the lock together before the next writer, and a later reader is refused', async () => {
    const [, token] = await write('c:1')
    await read('d:1', { client: 'd', last: '' })
    await read('e:1', { client: 'e' })
    await write('f:1', { client: 'f' })
    expect(await told(() => release('c:1:write'))).toEqual(['01', '2'])
    expect((await write('f:1', { client: 'f' }))[0]).toBe('held')
    expect(await read('d:1', { client: 'd', last: '' })).toEqual(['granted', token])
    expect(await read('d:2', { client: 'd', last: 1 })).toEqual(['granted', token])
    expect(await read('e:1', { client: 'e' })).toEqual(['granted', token])
    expect((await read('g:1', { client: 'g' }))[0]).toBe('held')
    for (const reader of ['d:1', 'd:2']) await release(reader)
    expect((await told(() => release('e:1'))).length).toBe(2)
    expect((await write('f:1', { client: 'f' }))[0]).toBe('granted')
  })

  test('waiting readers acquire the lock even before a writer that had not waited yet', async () => {
    await write('c:1')
    await read('d:1', { client: 'd' })
    expect(await told(() => release('c:1:write'))).toEqual(['01', '2'])
    expect((await write('f:1', { client: 'f' }))[0]).toBe('held')
    expect((await write('f:2'))[0]).toBe('held')
    expect((await read('d:1', { client: 'd' }))[0]).toBe('granted')
    await release('d:1')
    expect((await write('f:1', { client: 'f' }))[0]).toBe('granted')
  })

  test('waiting readers that leave, or ask to write instead, block no writer', async () => {
    for (const leaves of [true, false]) {
      await write('c:1')
      await read('d:1', { client: 'd' })
      await release('c:1:write', { claimMs: 60_000 })
      if (leaves) await release('d:1', { client: 'd' })
      expect((await write('d:2', { client: 'd' }))[0]).toBe('granted')
      await release('d:2:write')
    }
  })

  test('waiting readers that never come block a writer only for a short time', async () => {
    await write('c:1')
    await read('d:1', { client: 'd' })
    await write('f:1', { client: 'f' })
    await told(() => release('c:1:write', { claimMs: 2_000 }))
    expect((await write('f:1', { client: 'f' }))[0]).toBe('held')
    await eventually(async () => (await write('f:1', { client: 'f' }))[0] === 'granted')
  })
})

describe('a release', () => {
  test('a release with the token of an earlier hold keeps the later hold of the same owner', async () => {
    const [, token] = await write('c:1')
    await release('c:1:write', { token: token as string })
    const [, later] = await write('c:1')
    expect(await release('c:1:write', { token: token as string })).toEqual(['gone'])
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
    expect((await release('c:1:write', { token: later as string }))[0]).toBe('freed')
  })

  test('a release lowers the count, never raises it, and does nothing if it comes too late', async () => {
    await read('c:1')
    await read('c:1', { holds: 3 })
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect(await release('c:1', { holds: 2 })).toEqual(['kept'])
    expect((await release('c:1', { ...late, holds: 1 }))[0]).toBe('late')
    expect(await release('c:1', { ...late, holds: 2 })).toEqual(['kept'])
    expect(await release('c:1', { holds: 3 })).toEqual(['kept'])
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '2' })
  })

  test('a client that stops waiting wakes no waiter while another owner writes', async () => {
    await write('c:1')
    await write('d:1', { client: 'd' })
    await read('e:1', { client: 'e' })
    expect(await told(() => release('d:1:write', { client: 'd' }))).toEqual([])
  })
})

describe('a renewal', () => {
  const renewFor = (leaseMs: number, ...owners: string[]) => {
    const keys = owners.flatMap(() => [LOCK, COUNTER])
    const holds = owners.flatMap((owner) => [owner, '{it}'])
    const { source } = scripts.renewReadWrite
    const counterMs = leaseMs === 0 ? 0 : COUNTER_MS
    return admin.eval(source, keys.length, ...keys, leaseMs, counterMs, ...holds)
  }
  const renew = (...owners: string[]) => renewFor(20_000, ...owners)

  test('a renewal lengthens leases and the counter, shortens none and revives none', async () => {
    await read('c:1', { leaseMs: 5_000, counterMs: 10_000 })
    expect(await renew('c:1')).toEqual([20_000])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(15_000)
    expect(await admin.pttl(COUNTER)).toBeGreaterThan(50_000)
    await read('d:1', { leaseMs: 60_000 })
    await read('e:1')
    await admin.del(timeoutOf('e:1'))
    const before = await admin.keys('*')
    expect(await renew('d:1', 'e:1', 'f:1', 'c:1:write')).toEqual([
      expect.any(Number),
      ...[-2, -2, -2],
    ])
    expect(await admin.pttl(timeoutOf('c:1'))).toBeGreaterThan(15_000)
    expect(await admin.pttl(timeoutOf('d:1'))).toBeGreaterThan(50_000)
    expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
    expect((await admin.keys('*')).sort()).toEqual(before.sort())
  })

  test('a renewal of a writer lengthens the expiry of the lock, and never shortens it', async () => {
    await write('c:1', { leaseMs: 5_000 })
    expect(await renew('c:1:write')).toEqual([20_000])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(15_000)
    expect((await renewFor(1_000, 'c:1:write')) as number[]).not.toEqual([1_000])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(15_000)
  })

  test('a renewal for 0 ms reports the rest of each lease, and changes nothing', async () => {
    await read('c:1', { leaseMs: 5_000 })
    await read('d:1', { leaseMs: 60_000 })
    const expiries = () =>
      Promise.all([LOCK, COUNTER, timeoutOf('c:1')].map((k) => admin.pexpiretime(k)))
    const before = await expiries()
    const [first, second, third] = (await renewFor(0, 'c:1', 'd:1', 'e:1')) as number[]
    expect(first).toBeLessThanOrEqual(5_000)
    expect(second).toBeGreaterThan(50_000)
    expect(third).toBe(-2)
    expect(await expiries()).toEqual(before)
  })

  test('a renewal and a nested release work while the server is full', async () => {
    await read('c:1')
    await read('c:1', { holds: 2 })
    await read('d:1')
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect(await renew('c:1', 'd:1')).toEqual([20_000, 20_000])
      expect(await release('c:1', { holds: 1 })).toEqual(['kept'])
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
    for (const reader of ['c:1', 'd:1']) {
      expect(await admin.pttl(timeoutOf(reader))).toBeGreaterThan(15_000)
    }
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '1', 'd:1': '1' })
  })

  test.each([
    ['read', 'c:1', read],
    ['write', 'c:1:write', write],
  ] as const)(
    'a server that accepts no writes refuses to renew a lock to %s, and the lock is not lost',
    async (_, owner, take) => {
      await take('c:1')
      await admin.config('SET', 'min-replicas-to-write', '1')
      try {
        await expect(renew(owner)).rejects.toThrow('NOREPLICAS')
      } finally {
        await admin.config('SET', 'min-replicas-to-write', '0')
      }
      expect(await renew(owner)).toEqual([20_000])
    },
  )

  test('a renewal counts a key of another type as lost, and renews the other holds', async () => {
    await read('c:1')
    await admin.set('other', 'a text')
    const { source } = scripts.renewReadWrite
    const keys = ['other', 'redisson_lock_token:{other}', LOCK, COUNTER]
    const holds = ['c:1', '{other}', 'c:1', '{it}']
    const left = await admin.eval(source, keys.length, ...keys, 20_000, COUNTER_MS, ...holds)
    expect(left).toEqual([-2, 20_000])
  })
})

test('an owner that writes and reads keeps the lock, and can release it, after the counter was lost', async () => {
  const [, token] = await write('c:1')
  await admin.del(COUNTER)
  const [, lastToken] = await read('c:2', { beside: 'c:1:write' })
  expect(Number(lastToken)).toBeGreaterThanOrEqual(Number(token))
  expect((await write('c:1', { holds: 2, token: String(token) }))[0]).toBe('granted')
  expect((await release('c:1:write', { token: String(token) }))[0]).toBe('freed')
  expect(await fields()).toEqual({ mode: 'read', 'c:2': '1' })
  await release('c:2')
  expect(Number((await write('d:1'))[1])).toBeGreaterThan(Number(lastToken))
})
