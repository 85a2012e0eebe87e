import { setTimeout as pause } from 'node:timers/promises'
import { inspect as inspectReadWrite } from '../../src/servers/redis/scripts/read-write.generated.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import * as scripts from '../support/scripts.ts'
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
} from './run-script.ts'

const CHANNEL = 'redisson_rwlock:{it}'
const timeoutOf = (reader: string, n = 1) => `{it}:${reader}:rwlock_timeout:${n}`

const terms = { notAfterUs: NEVER, counterMs: COUNTER_MS, prefix: '{it}', waitingMs: 3_000 }
type Answer = [string, Value, Value?, ...Value[]]

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

/** A waiting client, unless `client` is ''. */
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
    claimMs: 500,
    ...args,
  }) as Promise<Answer>

const told = (work: () => Promise<unknown>) => messagesOf(work, CHANNEL)

describe('to read', () => {
  test('is as Redisson has it: a mode, a hold count, and a key for the lease', async () => {
    const [kind, token] = await read('c:1')
    expect(kind).toBe('granted')
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '1' })
    expect(await admin.pttl(timeoutOf('c:1'))).toBeGreaterThan(9_000)
    expect(await admin.pttl(LOCK)).toBeGreaterThan(9_000)
    expect(await admin.get(COUNTER)).toBe(token)
    expect(await withoutTtl()).toEqual([])
  })

  test('is had by several at once, each with a lease of its own and the token of the last writer', async () => {
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

  test('a repeat changes nothing and is answered the same', async () => {
    const first = await read('c:1')
    const before = await state()
    expect(await read('c:1')).toEqual(first)
    expect(await state()).toEqual(before)
    await read('c:1', { holds: 2 })
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '2' })
    expect((await read('c:1', { holds: 2 }))[0]).toBe('granted')
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '2' })
  })

  test('one re-entered by who has lost it is gone', async () => {
    expect(await read('c:1', { holds: 2 })).toEqual(['gone'])
    await read('c:1')
    await read('c:2')
    await admin.del(timeoutOf('c:1'))
    expect(await read('c:1', { holds: 2 })).toEqual(['gone'])
    expect(await fields()).toEqual({ mode: 'read', 'c:2': '1' })
  })

  test('one that comes too late is refused', async () => {
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect((await read('c:1', late))[0]).toBe('late')
    expect(await admin.keys('*')).toEqual([])
  })

  test('is not to be had while another writes', async () => {
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

  test('makes the lease and the counter last longer, and never shorter', async () => {
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

  test('that comes too late raises no count, and is granted if it has its count', async () => {
    await take('c:1')
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect((await take('c:1', { ...late, holds: 2 }))[0]).toBe('late')
    expect((await take('c:1', { ...late, holds: 1 }))[0]).toBe('granted')
    expect(await count()).toBe('1')
  })
})

test('the lease of a reader has since when it reads, also after a renewal and a re-entry', async () => {
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

describe('who is refused', () => {
  const ageOf = (answer: Answer) => answer.at(-1)

  test('is told for how long one of those who have it has had it', async () => {
    await read('c:1')
    await admin.set(timeoutOf('c:1'), (await nowUs()) - 5_000_000, 'KEEPTTL')
    expect(await write('d:1')).toEqual(['held', expect.any(Number), '', 'c:1', expect.any(Number)])
    expect(ageOf(await write('d:1'))).toBeGreaterThanOrEqual(5_000)
    expect(ageOf(await write('d:1'))).toBeLessThan(60_000)
  })

  test.each(['1', 'text'])(
    'is told no age by a lease with the value %s, as of Redisson',
    async (value) => {
      await read('c:1')
      await admin.set(timeoutOf('c:1'), value, 'KEEPTTL')
      expect((await write('d:1')).slice(2)).toEqual(['', 'c:1', ''])
    },
  )

  test('is not told of its own upgradable lock, but of who keeps it out', async () => {
    await read('c:1:upgradable')
    await read('d:1')
    for (let i = 0; i < 10; i++) {
      expect((await write('c:2', { beside: 'c:1:upgradable' }))[3]).toBe('d:1')
    }
  })

  test.each([
    ['read', (args: Arguments) => read('e:1', args)],
    ['write', (args: Arguments) => write('e:1', args)],
  ])('does not wait to %s where that comes too late', async (_, take) => {
    await write('c:1')
    const late = { client: 'e', notAfterUs: await notAfter(-1_000, 100) }
    expect((await take(late))[0]).toBe('late')
    expect((await admin.keys('holdfast_*')).sort()).toEqual([])
  })
})

describe('to write', () => {
  test('is had by one, alone, under a token above those of all before', async () => {
    const [, first] = await write('c:1')
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
    expect((await write('d:1'))[0]).toBe('held')
    await release('c:1:write', { token: Number(first) })
    const [, second] = await write('d:1')
    expect(Number(second)).toBeGreaterThan(Number(first))
  })

  test('a repeat changes nothing and is answered the same', async () => {
    const first = await write('c:1')
    const before = await state()
    expect(await write('c:1')).toEqual(first)
    expect(await state()).toEqual(before)
  })

  test('is gone for a re-entry by an owner that has lost it, or that names an earlier hold', async () => {
    expect(await write('c:1', { holds: 2 })).toEqual(['gone'])
    const [, token] = await write('c:1')
    expect(await write('c:1', { holds: 2, token: token as string })).toEqual(['granted', ''])
    await release('c:1:write')
    await write('c:1')
    expect(await write('c:1', { holds: 2, token: token as string })).toEqual(['gone'])
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
  })

  test('as an upgrade lasts as long as the longer of the two leases', async () => {
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

  test('is not to be had while others read, and is when the last of them is dead', async () => {
    await read('c:1', { leaseMs: 300 })
    await read('d:1', { leaseMs: 10_000 })
    expect((await write('e:1'))[0]).toBe('held')
    await eventually(async () => (await admin.exists(timeoutOf('c:1'))) === 0)
    await release('d:1')
    expect((await write('e:1'))[0]).toBe('granted')
    expect(await fields()).toEqual({ mode: 'write', 'e:1:write': '1' })
  })

  test('one in Redisson, who looks at the expiry of the lock alone, waits for the longest lease left', async () => {
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

  test('one in Redisson is told when who reads here leaves only dead ones', async () => {
    await read('c:1')
    await read('d:1', { leaseMs: 20_000 })
    await admin.del(timeoutOf('c:1'))
    expect(await told(() => release('d:1'))).toEqual(['00'])
    expect(await admin.exists(LOCK)).toBe(0)
  })

  test('one who writes may read, and goes on reading when it writes no more', async () => {
    const [, token] = await write('c:1')
    expect(await read('c:2', { beside: 'c:1:write' })).toEqual(['granted', token])
    expect((await read('c:3'))[0]).toBe('held')
    expect(await told(() => release('c:1:write'))).toEqual(['01'])
    expect(await fields()).toEqual({ mode: 'read', 'c:2': '1' })
    expect((await read('d:1'))[0]).toBe('granted')
    expect((await write('d:2'))[0]).toBe('held')
  })

  test('one who also reads for less time keeps the lease to write, also when it reads no more', async () => {
    await write('c:1', { leaseMs: 60_000 })
    await read('c:1', { leaseMs: 500, beside: 'c:1:write' })
    expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
    expect(await release('c:1')).toEqual(['freed', 0])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
  })

  test('one who may go on to write does so when it is the only one who reads', async () => {
    await read('c:1:upgradable')
    await read('d:1')
    const going = { beside: 'c:1:upgradable', client: 'c' }
    expect((await write('c:2', going))[0]).toBe('held')
    // Before whoever waits longer.
    await write('e:1', { client: 'e' })
    expect(await told(() => release('d:1'))).toEqual(['3'])
    expect((await write('c:2', going))[0]).toBe('granted')
    expect(await fields()).toEqual({ mode: 'write', 'c:1:upgradable': '1', 'c:2:write': '1' })
    await release('c:2:write')
    expect(await fields()).toEqual({ mode: 'read', 'c:1:upgradable': '1' })
  })
})

test('one at a time may go on to write, beside others who read', async () => {
  await read('c:1:upgradable')
  await read('d:1')
  expect((await read('e:1:upgradable', { client: 'e' }))[0]).toBe('held')
  const [, , since] = await read('e:1:upgradable', { client: 'e' })
  expect(await told(() => release('c:1:upgradable'))).toEqual([since])
  expect((await read('e:1:upgradable', { client: 'e' }))[0]).toBe('granted')
  // One who died is no reason to wait for the others.
  await admin.del(timeoutOf('e:1:upgradable'))
  expect((await read('f:1:upgradable'))[0]).toBe('granted')
})

describe('those who wait for the upgradable lock and to write', () => {
  const upgradable = (client: string) => read(`${client}:1:upgradable`, { client })
  const upgrade = (client: string) =>
    write(`${client}:2`, { client, beside: `${client}:1:upgradable` })

  test('have it in the order in which they came, and who upgrades goes first', async () => {
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

  test('are kept in order also while those are let in who waited to read', async () => {
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

  test('keep nobody from reading while the upgradable lock is the next', async () => {
    await upgradable('a')
    await upgradable('b')
    await write('w:1', { client: 'w' })
    expect((await read('r:1'))[0]).toBe('granted')
    await release('a:1:upgradable')
    expect((await upgradable('b'))[0]).toBe('granted')
    // Now the next one wants to write.
    expect((await read('r:2'))[0]).toBe('held')
  })

  test('are told when those before them leave', async () => {
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

  test('leave a place to the others of their client', async () => {
    await upgradable('a')
    const [, , first] = await upgradable('b')
    await release('b:1:upgradable', { client: '' })
    expect((await upgradable('b'))[2]).toBe(first)
    await release('b:1:upgradable', { client: 'b' })
    expect(await admin.exists('holdfast_writers:{it}', 'holdfast_alive:{it}')).toBe(0)
  })

  test('keep nobody out when they are dead', async () => {
    await upgradable('a')
    await read('b:1:upgradable', { client: 'b', waitingMs: 50 })
    await release('a:1:upgradable')
    expect((await write('w:1', { client: 'w' }))[0]).toBe('held')
    await eventually(async () => (await write('w:1', { client: 'w' }))[0] === 'granted')
  })

  test('who upgrades waits for those who are let in to read, and is told when they have left or given up', async () => {
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

  test('no owner writes by two attempts at once, that go on from one upgradable lock', async () => {
    await upgradable('a')
    expect((await upgrade('a'))[0]).toBe('granted')
    expect((await write('a:3', { beside: 'a:1:upgradable' }))[0]).toBe('held')
  })
})

describe('readers who are dead, and whom nobody has taken out', () => {
  test('leave a lock to write that ends', async () => {
    await read('c:1')
    await admin.del(timeoutOf('c:1'))
    expect((await write('d:1'))[0]).toBe('granted')
    expect(await withoutTtl()).toEqual([])
  })

  test('do not go on to write: somebody else may have written since', async () => {
    await read('c:1:upgradable')
    await read('d:1')
    await admin.del(timeoutOf('c:1:upgradable'))
    const going = { beside: 'c:1:upgradable', client: 'c' }
    expect(await write('c:2', going)).toEqual(['gone'])
    await release('d:1')
    expect(await write('c:2', going)).toEqual(['gone'])
  })
})

describe('a lock of another kind under that name is refused', () => {
  test.each([
    ['to read', () => read('c:1')],
    ['to write', () => write('c:1')],
  ])('%s', async (_, take) => {
    await admin.hset(LOCK, 'c:9', 1)
    await expect(take()).rejects.toThrow('no read-write lock has this name')
  })
})

describe('who waits to write', () => {
  test('keeps new readers out, but none who reads already', async () => {
    await read('c:1')
    await write('d:1', { client: 'd' })
    expect((await read('e:1'))[0]).toBe('held')
    expect((await read('c:1', { holds: 2 }))[0]).toBe('granted')
    await release('c:1')
    expect((await write('d:1', { client: 'd' }))[0]).toBe('granted')
    expect(await withoutTtl()).toEqual([])
  })

  test('is served by how long it has waited, and told alone', async () => {
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

  test('is refused for as long as another that has waited for longer counts, where nobody has the lock', async () => {
    await read('c:1')
    await write('d:1', { client: 'd', waitingMs: 2_000 })
    await release('c:1')
    const [kind, ttlMs] = await write('e:1', { client: 'e' })
    expect(kind).toBe('held')
    expect(Number(ttlMs)).toBeGreaterThan(500)
    expect(Number(ttlMs)).toBeLessThanOrEqual(2_001)
  })

  test('for a short time does not cut short how long others count', async () => {
    await read('c:1')
    await write('d:1', { client: 'd' })
    await write('e:1', { client: 'e', waitingMs: 50 })
    await pause(150)
    expect((await read('f:1'))[0]).toBe('held')
    await release('d:1:write', { client: 'd' })
    expect((await read('f:1'))[0]).toBe('granted')
  })

  test('has a place of its own if it has the upgradable lock, beside that of its client', async () => {
    await read('d:1:upgradable')
    await read('c:1')
    const [, , since] = await write('d:2', { client: 'd' })
    expect((await write('d:1', { client: 'd', beside: 'd:1:upgradable' }))[2]).toBe('3')
    expect((await write('d:2', { client: 'd' }))[2]).toBe(since)
    // It gives up; or it has the upgradable lock no more.
    const places = () => admin.zrange('holdfast_writers:{it}', '0', '-1')
    await release('d:1:write', { client: '' })
    expect(await places()).toEqual(['d'])
    await write('d:1', { client: 'd', beside: 'd:1:upgradable' })
    expect(await places()).toEqual(['d:1:write', 'd'])
    await release('d:1:upgradable')
    expect((await write('d:1', { client: 'd' }))[2]).toBe(since)
    expect(await places()).toEqual(['d'])
  })

  test('is told when it waits for an upgrade and is alone', async () => {
    await read('d:1:upgradable')
    await read('c:1')
    await write('d:2', { client: 'd' })
    await write('d:1', { client: 'd', beside: 'd:1:upgradable' })
    expect(await told(() => release('c:1'))).toEqual(['3'])
  })

  test('and leaves takes nobody of its client out who waits to read by then', async () => {
    await write('c:1')
    await write('d:1', { client: 'd' })
    await read('d:2', { client: 'd' })
    await release('d:1:write', { client: 'd' })
    expect(await told(() => release('c:1:write'))).toEqual(['01', '2'])
  })

  test('keeps nobody out when it is gone: it has left, or died', async () => {
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

test('a reader whose lease has ended reads anew, with a mode and an expiry', async () => {
  await read('c:1')
  await admin.del(timeoutOf('c:1'))
  expect((await read('c:1'))[0]).toBe('granted')
  expect(await fields()).toEqual({ mode: 'read', 'c:1': '1' })
  expect(await withoutTtl()).toEqual([])
})

test('a reader whose lease has ended is taken out by a writer that asks in vain', async () => {
  await read('c:1')
  await read('d:1')
  await admin.del(timeoutOf('c:1'))
  expect((await write('e:1'))[0]).toBe('held')
  expect(await fields()).toEqual({ mode: 'read', 'd:1': '1' })
})

test('a writer that reads no more tells nobody while it writes on', async () => {
  await read('c:1:upgradable')
  await write('c:2', { beside: 'c:1:upgradable' })
  await read('d:1', { client: 'd' })
  expect(await told(() => release('c:1:upgradable'))).toEqual([])
})

test('who died while it waited to write hides nobody behind it', async () => {
  await read('c:1')
  await write('d:1', { client: 'd' })
  const [, , since] = await write('e:1', { client: 'e' })
  await admin.hset('holdfast_alive:{it}', 'd', Date.now() - 1_000)
  expect(await told(() => release('c:1'))).toEqual(['00', since])
  expect(await admin.zrange('holdfast_writers:{it}', '0', '-1')).toEqual(['e'])
  expect(Object.keys(await admin.hgetall('holdfast_alive:{it}'))).toEqual(['e'])
})

test('who died before the clock was set back, while it waited to write, keeps nobody out', async () => {
  await read('c:1')
  await write('d:1', { client: 'd' })
  await admin.hset('holdfast_alive:{it}', 'd', Date.now() + 3_600_000)
  expect((await read('e:1'))[0]).toBe('granted')
})

test.each([
  ['read', (args: Arguments) => read('d:1', args)],
  ['write', (args: Arguments) => write('d:1', args)],
])('the place of a client that waits to %s ends if nothing is heard of it', async (_, take) => {
  await write('c:1')
  await take({ client: 'd', waitingMs: 3_000 })
  expect(await withoutTtl()).toEqual([])
  await take({ client: 'd', waitingMs: 9_000 })
  expect(await admin.pttl('holdfast_alive:{it}')).toBeGreaterThan(9_000)
})

test('a reader whose lease has ended costs the writer that it reads beside nothing of its lease', async () => {
  const beside = 'c:1:write'
  await write('c:1', { leaseMs: 60_000 })
  for (const reader of ['c:2', 'c:3']) await read(reader, { beside, leaseMs: 1_000 })
  await admin.del(timeoutOf('c:2'))
  expect((await read('c:2', { beside, leaseMs: 1_000 }))[0]).toBe('granted')
  expect(await admin.pttl(LOCK)).toBeGreaterThan(50_000)
  expect(await admin.pttl(timeoutOf('c:2'))).toBeGreaterThan(0)
})

describe('to inspect', () => {
  const inspect = (most = 10) =>
    run(inspectReadWrite, { prefix: '{it}', most }) as Promise<(Value | Value[])[]>

  test('tells who reads, whose leases have not ended, and who waits, and changes nothing', async () => {
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

  test('tells who writes, with the lease of the lock, and refuses a lock of another kind', async () => {
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

describe('beside many who read', () => {
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
  ])('one who %s for a moment costs no more than beside a few', async (_, take, leave) => {
    await many((i) => 20_000 + i * 30)
    expect(
      await commandsOf(async () => {
        await take()
        await leave()
      }),
    ).toBeLessThan(60)
    expect(await admin.hlen(LOCK)).toBe(301)
  })

  test('a lease that is much longer than theirs leaves with its owner after some more have left', async () => {
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

  test('the dead are taken out by those who come and go', async () => {
    await many(() => 60_000, 20)
    for (let i = 0; i < 10; i++) await admin.del(timeoutOf(`c:${i}`))
    for (let n = 0; (await admin.hlen(LOCK)) > 11; n++) {
      expect(n).toBeLessThan(1_000)
      await read(`e:${n}`, { leaseMs: 60_000 })
      await release(`e:${n}`)
    }
  })

  test('one of Redisson that has re-entered is not taken for dead', async () => {
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

test('many who read leave in about the time that each takes, and the last lets the one in who waits to write', async () => {
  const looks = async () =>
    Number(/cmdstat_pttl:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0)
  const readers = Array.from({ length: 300 }, (_, i) => `c:${i}`)
  await Promise.all(readers.map((reader) => read(reader)))
  const [, , since] = await write('d:1', { client: 'd', waitingMs: 9_000 })
  const before = await looks()
  for (const reader of readers.slice(1)) {
    expect(await release(reader)).toEqual(['freed', 0])
  }
  // Were each to look at all the others it would be 45,000.
  expect((await looks()) - before).toBeLessThan(5_000)
  expect(await told(() => release('c:0'))).toEqual(['00', since])
  expect((await write('d:1', { client: 'd' }))[0]).toBe('granted')
})

test('a reader of Redisson that has re-entered has the lock for as long as the lock goes on', async () => {
  // Before 4.0 its watchdog renews that alone.
  const java = '0f8fad5b-d9cb-469f-a165-70867728950e:1'
  await admin.hset(LOCK, { mode: 'read', [java]: 2 })
  await admin.pexpire(LOCK, 600)
  expect((await write('c:1'))[0]).toBe('held')
  await read('c:2', { leaseMs: 500 })
  await release('c:2')
  expect(await fields()).toEqual({ mode: 'read', [java]: '2' })
  expect(await admin.pttl(LOCK)).toBeGreaterThan(0)
  await eventually(async () => (await write('c:1'))[0] === 'granted')
})

describe('those who waited to read while somebody wrote', () => {
  test('are let in together, before the next writer, and nobody who comes later', async () => {
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

  test('are let in before a writer too who had not waited yet', async () => {
    await write('c:1')
    await read('d:1', { client: 'd' })
    expect(await told(() => release('c:1:write'))).toEqual(['01', '2'])
    expect((await write('f:1', { client: 'f' }))[0]).toBe('held')
    expect((await write('f:2'))[0]).toBe('held')
    expect((await read('d:1', { client: 'd' }))[0]).toBe('granted')
    await release('d:1')
    expect((await write('f:1', { client: 'f' }))[0]).toBe('granted')
  })

  test('keep no writer waiting when they have left, or ask to write instead', async () => {
    for (const leaves of [true, false]) {
      await write('c:1')
      await read('d:1', { client: 'd' })
      await release('c:1:write', { claimMs: 60_000 })
      if (leaves) await release('d:1', { client: 'd' })
      expect((await write('d:2', { client: 'd' }))[0]).toBe('granted')
      await release('d:2:write')
    }
  })

  test('hold nobody up for long where they do not come', async () => {
    await write('c:1')
    await read('d:1', { client: 'd' })
    await write('f:1', { client: 'f' })
    await told(() => release('c:1:write', { claimMs: 2_000 }))
    expect((await write('f:1', { client: 'f' }))[0]).toBe('held')
    await eventually(async () => (await write('f:1', { client: 'f' }))[0] === 'granted')
  })
})

describe('a release', () => {
  test('by the token of an earlier hold leaves the later one of that owner', async () => {
    const [, token] = await write('c:1')
    await release('c:1:write', { token: token as string })
    const [, later] = await write('c:1')
    expect(await release('c:1:write', { token: token as string })).toEqual(['gone'])
    expect(await fields()).toEqual({ mode: 'write', 'c:1:write': '1' })
    expect((await release('c:1:write', { token: later as string }))[0]).toBe('freed')
  })

  test('lowers a count, raises none, and does nothing if it comes too late', async () => {
    await read('c:1')
    await read('c:1', { holds: 3 })
    const late = { notAfterUs: await notAfter(-1_000, 100) }
    expect(await release('c:1', { holds: 2 })).toEqual(['kept'])
    expect((await release('c:1', { ...late, holds: 1 }))[0]).toBe('late')
    expect(await release('c:1', { ...late, holds: 2 })).toEqual(['kept'])
    expect(await release('c:1', { holds: 3 })).toEqual(['kept'])
    expect(await fields()).toEqual({ mode: 'read', 'c:1': '2' })
  })

  test('by a client that waits no more tells nobody while another writes', async () => {
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

  test('makes leases and the counter last longer, shortens none and revives none', async () => {
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

  test('of a writer makes the lock last longer, and never shorter', async () => {
    await write('c:1', { leaseMs: 5_000 })
    expect(await renew('c:1:write')).toEqual([20_000])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(15_000)
    expect((await renewFor(1_000, 'c:1:write')) as number[]).not.toEqual([1_000])
    expect(await admin.pttl(LOCK)).toBeGreaterThan(15_000)
  })

  test('for 0 ms tells what is left of each lease, and changes nothing', async () => {
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

  test('goes on while the server is full, and counts are lowered', async () => {
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
    'of one who has it to %s is refused, and no loss, by a server that takes no writes',
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

  test('counts a key of another type as lost, and renews the others', async () => {
    await read('c:1')
    await admin.set('other', 'a text')
    const { source } = scripts.renewReadWrite
    const keys = ['other', 'redisson_lock_token:{other}', LOCK, COUNTER]
    const holds = ['c:1', '{other}', 'c:1', '{it}']
    const left = await admin.eval(source, keys.length, ...keys, 20_000, COUNTER_MS, ...holds)
    expect(left).toEqual([-2, 20_000])
  })
})

test('one who writes and reads keeps the lock, and releases it, where the counter was lost', async () => {
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
