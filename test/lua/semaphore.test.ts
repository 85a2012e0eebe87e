import { setTimeout as pause } from 'node:timers/promises'
import * as scripts from '../../src/servers/redis/scripts/semaphore.generated.ts'
import { leaves } from '../support/leaks.ts'
import { type Arguments, admin, messagesOf, NEVER, notAfter, nowUs, state } from './run-script.ts'

const SEMAPHORE = 'it'
const QUEUE = 'holdfast_permit_queue:{it}'
const ALIVE = 'holdfast_permit_waiters:{it}'
const CHANNEL = 'redisson_sc:{it}'
const TICKETS = 'holdfast_tickets:{it}'
const KIND = 'holdfast_kind:{it}'
const KEPT_MS = 60_000

const requestOf = (id: string) => `holdfast_request:{it}:${id}`

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

/** With the arguments by name, as the header declares them, and the keys of requests that are answered. */
function run(
  script: { readonly args: readonly string[]; readonly source: string },
  id: string | null,
  given: Arguments,
  answered: readonly string[] = [],
): Promise<unknown> {
  const terms: Arguments = {
    notAfterUs: NEVER,
    publish: 'PUBLISH',
    channel: CHANNEL,
    tickets: TICKETS,
    keptMs: KEPT_MS,
    waitingMs: 9_000,
  }
  const keys = [SEMAPHORE, QUEUE, ALIVE, KIND, ...(id === null ? [] : [requestOf(id)]), ...answered]
  const args = script.args.map((name) => {
    const value = given[name] ?? terms[name]
    if (value === undefined) throw new Error(`The script takes ${name}`)
    return value
  })
  return admin.eval(script.source, keys.length, ...keys, ...args)
}

/** One that does not wait, unless `client` is given. */
const acquire = (owner: string, given: Arguments = {}, answered: readonly string[] = []) =>
  run(
    scripts.acquire,
    owner,
    { owner, client: '', last: 1, since: '', waitedMs: 0, ...given },
    answered,
  ) as Promise<[string, ...unknown[]]>

/** One that waits. */
const wait = (owner: string, given: Arguments = {}) =>
  acquire(owner, { client: owner.split(':')[0] as string, ...given })

const giveBack = (owner: string, given: Arguments = {}) =>
  run(scripts.giveBack, owner, { client: '', keptMs: 0, ...given }) as Promise<number>

const release = (id: string, permits: number, given: Arguments = {}) =>
  run(scripts.release, id, { permits, ifExists: '', ...given }) as Promise<[string]>

const change = (id: string, what: string, permits: number, given: Arguments = {}) =>
  run(scripts.set, id, { what, permits, ttlMs: 0, ...given }) as Promise<[string, number]>

const leave = (client: string) => run(scripts.leave, null, { client }) as Promise<number>

const inspect = (most = 10) =>
  run(scripts.inspect, null, { most }) as Promise<[number, number, string, string[], string[]]>

const available = async () => Number(await admin.get(SEMAPHORE))
const waiting = () => admin.zrange(QUEUE, '0', '-1')
const told = (work: () => Promise<unknown>) => messagesOf(work, TICKETS)

describe('to acquire', () => {
  beforeEach(() => admin.set(SEMAPHORE, 3))

  test('takes as many as the name of the owner says, and remembers them for a while', async () => {
    expect(await acquire('c:1:2')).toEqual(['granted'])
    expect(await available()).toBe(1)
    expect(await admin.get(requestOf('c:1:2'))).toBe('2')
    expect(await admin.pttl(requestOf('c:1:2'))).toBeGreaterThan(KEPT_MS - 5_000)
    expect(await acquire('c:2:2')).toEqual(['held', -1, '', 1, 1])
    expect(await available()).toBe(1)
    expect(await waiting()).toEqual([])
  })

  test('takes them once, however often it is run', async () => {
    for (let i = 0; i < 3; i++) expect(await acquire('c:1:2')).toEqual(['granted'])
    expect(await available()).toBe(1)
  })

  test('finds none where there is no semaphore, and none below zero', async () => {
    await admin.del(SEMAPHORE)
    expect(await acquire('c:1:1')).toEqual(['held', -1, '', 0, 0])
    await admin.set(SEMAPHORE, -1)
    expect(await acquire('c:1:1')).toEqual(['held', -1, '', 1, -1])
    expect(await available()).toBe(-1)
  })

  test('keeps the expiry of the semaphore', async () => {
    await admin.pexpire(SEMAPHORE, 50_000)
    await acquire('c:1:1')
    expect(await admin.pttl(SEMAPHORE)).toBeGreaterThan(40_000)
  })

  test('takes nothing when it is late, and makes no place for who has given up', async () => {
    const notAfterUs = await notAfter(-10, 0)
    expect(await acquire('c:1:1', { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await wait('c:2:9', { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await available()).toBe(3)
    expect(await waiting()).toEqual([])
  })

  test('forgets what was answered', async () => {
    await acquire('c:1:1')
    await acquire('c:2:1')
    await acquire('c:3:1', {}, [requestOf('c:1:1'), requestOf('c:2:1')])
    expect(await admin.keys('holdfast_request*')).toEqual([requestOf('c:3:1')])
    expect(await available()).toBe(0)
  })

  test.each([
    ['give back', scripts.giveBack, { client: '' }],
    ['release', scripts.release, { permits: 1, ifExists: '' }],
    ['set', scripts.set, { what: 'add', permits: 1, ttlMs: 0 }],
  ] as const)('so does %s', async (_, script, given) => {
    await acquire('c:1:1')
    await acquire('c:2:1')
    await run(script, 'c:3:1', given, [requestOf('c:1:1'), requestOf('c:2:1')])
    expect(await admin.keys('holdfast_request*')).toEqual([requestOf('c:3:1')])
  })

  test('refuses what is no semaphore, and changes nothing', async () => {
    for (const make of [
      () => admin.hset(SEMAPHORE, 'c:1', 1),
      () => admin.set(SEMAPHORE, 'text'),
      () => admin.set(SEMAPHORE, '1.5'),
    ]) {
      await admin.del(SEMAPHORE)
      await make()
      const before = await state()
      const refused = [
        () => acquire('c:1:1'),
        () => giveBack('c:1:1'),
        () => release('c:2', 1),
        () => change('c:3', 'add', 1),
        () => leave('c'),
        () => inspect(),
      ]
      for (const one of refused) await expect(one()).rejects.toThrow('WRONGTYPE')
      expect(await state()).toEqual(before)
    }
  })
})

test.each([
  ['an acquisition', (id: string) => acquire(id)],
  ['a release', (id: string) => release(id, 1)],
  ['a change', (id: string) => change(id, 'add', 1)],
])('%s that is repeated is remembered for as long as it may be repeated again', async (_, ask) => {
  await admin.set(SEMAPHORE, 3)
  await ask('c:1:1')
  await admin.pexpire(requestOf('c:1:1'), 1_000)
  await ask('c:1:1')
  expect(await admin.pttl(requestOf('c:1:1'))).toBeGreaterThan(KEPT_MS - 5_000)
})

describe('who waits', () => {
  beforeEach(() => admin.set(SEMAPHORE, 0))

  test('is told when to ask again: when the one before it may be dead', async () => {
    await wait('a:1:1', { since: '970', waitingMs: 9_000 })
    const [, ttlMs] = await wait('b:1:1', { since: '980' })
    expect(ttlMs).toBeGreaterThan(5_000)
    expect(ttlMs).toBeLessThanOrEqual(9_002)
    await admin.del(SEMAPHORE)
    expect((await wait('a:1:1', { since: '970' })).slice(3)).toEqual([0, 0])
  })

  test('has a place for its client, since it has waited, which it keeps', async () => {
    const before = await nowUs()
    const [kind, , since] = await wait('a:1:2', { waitedMs: 5_000 })
    expect(kind).toBe('held')
    expect(Math.abs(Number(since) - (before - 5_000_000))).toBeLessThan(2_000_000)
    expect(await admin.zscore(QUEUE, 'a')).toBe(since)
    expect(await wait('a:1:2', { waitedMs: 9_000, since: since as string })).toEqual([
      'held',
      -1,
      since,
      1,
      0,
    ])
    expect(await admin.hget(ALIVE, 'a')).toMatch(/^\d+ 2$/)
    expect(await admin.pttl(QUEUE)).toBeGreaterThan(0)
    expect(await admin.pttl(ALIVE)).toBeGreaterThan(0)
  })

  test('and began before the clock was set back is not behind all who come since', async () => {
    const aheadUs = (await nowUs()) + 3_600_000_000
    const [, , since] = await wait('a:1:1', { since: String(aheadUs), waitedMs: 60_000 })
    expect(Math.abs(Number(since) - (aheadUs - 3_660_000_000))).toBeLessThan(20_000_000)
    await wait('b:1:1', { waitedMs: 10_000 })
    expect(await told(() => release('d:1', 1))).toEqual(['a'])
  })

  test('is served in the order in which they came, and told alone by its client', async () => {
    await wait('a:1:1', { since: '970' })
    await wait('b:1:1', { since: '980' })
    await wait('c:1:1', { since: '990' })
    expect(await told(() => release('d:1', 1))).toEqual(['a'])
    expect(await acquire('e:1:1')).toEqual(['held', -1, '', 1, 1])
    expect((await wait('b:1:1', { since: '980' }))[0]).toBe('held')
    expect(await told(() => wait('a:1:1', { since: '970' }))).toEqual([])
    expect(await waiting()).toEqual(['b', 'c'])
    expect(await available()).toBe(0)
  })

  test('is told in a chain, as far as the permits go', async () => {
    await wait('a:1:2', { since: '960' })
    await wait('b:1:1', { since: '970' })
    await wait('c:1:2', { since: '980' })
    await wait('d:1:1', { since: '990' })
    expect(await told(() => release('x:1', 4))).toEqual(['a'])
    expect(await told(() => wait('a:1:2', { since: '960' }))).toEqual(['b'])
    expect(await told(() => wait('b:1:1', { since: '970' }))).toEqual([])
    expect(await available()).toBe(1)
    // Who wants fewer does not overtake.
    expect((await wait('d:1:1', { since: '990' }))[0]).toBe('held')
    expect(await told(() => release('x:2', 1))).toEqual(['c'])
  })

  test('who asks for the first time goes in before those who came later, who wait for more', async () => {
    await wait('a:1:5', { since: '990' })
    await admin.set(SEMAPHORE, 2)
    expect((await wait('b:1:1', { since: '980' }))[0]).toBe('granted')
    expect((await wait('c:1:1', { since: '1000' }))[0]).toBe('held')
  })

  test('keeps the place of its client where another of it is about to ask, and nobody is told', async () => {
    await wait('a:1:1', { since: '970' })
    await wait('b:1:1', { since: '980' })
    await admin.set(SEMAPHORE, 2)
    expect(await told(() => wait('a:1:1', { since: '970', last: '' }))).toEqual([])
    expect(await waiting()).toEqual(['a', 'b'])
    // The next of it came after the other client: its turn is later, and that one is told.
    expect(await told(() => wait('a:2:1', { since: '990' }))).toEqual(['b'])
    expect(await waiting()).toEqual(['b', 'a'])
  })

  test('is passed over when nothing was heard of it for so long', async () => {
    await wait('a:1:1', { since: '970', waitingMs: 40 })
    const [, ttlMs] = await wait('b:1:1', { since: '980' })
    expect(ttlMs).toBeLessThanOrEqual(42)
    await pause(60)
    expect(await told(() => release('x:1', 1))).toEqual(['b'])
    expect(await waiting()).toEqual(['b'])
  })

  test('who was first and leaves has the next one told; another does not', async () => {
    await wait('a:1:3', { since: '970' })
    await wait('b:1:1', { since: '980' })
    await wait('c:1:1', { since: '990' })
    await admin.set(SEMAPHORE, 2)
    expect(await told(async () => expect(await leave('b')).toBe(0))).toEqual([])
    expect(await told(async () => expect(await leave('a')).toBe(1))).toEqual(['c'])
    expect(await told(() => giveBack('c:1:1', { client: 'c' }))).toEqual([])
    expect(await waiting()).toEqual([])
    await wait('a:2:3', { since: '970' })
    await wait('b:2:1', { since: '980' })
    expect(await told(() => giveBack('a:2:3', { client: 'a' }))).toEqual(['b'])
  })
})

describe('to give back', () => {
  beforeEach(() => admin.set(SEMAPHORE, 3))

  test('gives back what was taken in that name once, and forgets it', async () => {
    await acquire('c:1:2')
    expect(await giveBack('c:1:2')).toBe(1)
    expect(await giveBack('c:1:2')).toBe(0)
    expect(await available()).toBe(3)
    expect(await admin.keys('*')).toEqual([SEMAPHORE])
  })

  test('lets nothing be taken by a request that comes later, as long as that is remembered', async () => {
    expect(await giveBack('c:1:2', { keptMs: 500 })).toBe(0)
    expect(await acquire('c:1:2')).toEqual(['held', -1, '', 1, 3])
    await acquire('c:2:1')
    expect(await giveBack('c:2:1', { keptMs: 500 })).toBe(1)
    expect(await giveBack('c:2:1', { keptMs: 500 })).toBe(0)
    expect(await acquire('c:2:1')).toEqual(['held', -1, '', 1, 3])
    expect(await available()).toBe(3)
    expect(await admin.pttl(requestOf('c:2:1'))).toBeGreaterThan(0)
  })

  test('tells who is next, and those of Redisson with a number that ours take no notice of', async () => {
    await acquire('c:1:3')
    await wait('a:1:1')
    expect(await told(() => giveBack('c:1:3'))).toEqual(['a'])
    await acquire('c:2:3')
    expect(await messagesOf(() => giveBack('c:1:3'), CHANNEL)).toEqual([])
    await wait('a:1:1')
    await acquire('c:3:2')
    expect(await messagesOf(() => giveBack('c:3:2'), CHANNEL)).toEqual(['02'])
  })

  test('makes no semaphore that is gone', async () => {
    await acquire('c:1:2')
    await admin.del(SEMAPHORE)
    expect(await giveBack('c:1:2')).toBe(0)
    expect(await admin.exists(SEMAPHORE)).toBe(0)
  })
})

describe('to release', () => {
  test('adds permits once for each request, whoever had taken them', async () => {
    expect(await release('c:1', 2)).toEqual(['added'])
    expect(await release('c:1', 2)).toEqual(['added'])
    expect(await available()).toBe(2)
    expect(await messagesOf(() => release('c:2', 2), CHANNEL)).toEqual(['04'])
    expect(await available()).toBe(4)
    expect(await admin.pttl(requestOf('c:1'))).toBeGreaterThan(0)
  })

  test('does nothing where there is no semaphore, if so asked', async () => {
    expect(await release('c:1', 2, { ifExists: 1 })).toEqual(['none'])
    expect(await admin.keys('*')).toEqual([requestOf('c:1')])
    expect(await admin.pttl(requestOf('c:1'))).toBeGreaterThan(0)
    await admin.set(SEMAPHORE, 0)
    expect(await release('c:2', 2, { ifExists: 1 })).toEqual(['added'])
  })

  test('that found no semaphore adds nothing to one that is made before its repeat', async () => {
    expect(await release('c:1', 2, { ifExists: 1 })).toEqual(['none'])
    await admin.set(SEMAPHORE, 3)
    expect(await release('c:1', 2, { ifExists: 1 })).toEqual(['none'])
    expect(await available()).toBe(3)
  })

  test('does nothing when it is late', async () => {
    const notAfterUs = await notAfter(-10, 0)
    expect(await release('c:1', 2, { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await change('c:2', 'add', 2, { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await admin.keys('*')).toEqual([])
  })

  test('tells nobody as long as fewer than none are available', async () => {
    await admin.set(SEMAPHORE, -3)
    await wait('a:1:1')
    expect(await told(() => release('c:1', 3))).toEqual([])
    expect(await told(() => release('c:2', 1))).toEqual(['a'])
  })
})

describe('to set', () => {
  test('gives a new semaphore permits, once; with an expiry if so asked', async () => {
    await wait('a:1:1')
    expect(await told(() => change('c:1', 'set', 3, { ttlMs: 50_000 }))).toEqual(['a'])
    expect(await admin.pttl(SEMAPHORE)).toBeGreaterThan(40_000)
    expect(await change('c:1', 'set', 3, { ttlMs: 50_000 })).toEqual(['done', 1])
    expect(await change('c:2', 'set', 9)).toEqual(['done', 0])
    expect(await available()).toBe(3)
    await admin.del(SEMAPHORE)
    expect(await change('c:3', 'set', 2)).toEqual(['done', 1])
    expect(await admin.pttl(SEMAPHORE)).toBe(-1)
  })

  test('adds more and fewer, once, and keeps the expiry', async () => {
    await admin.set(SEMAPHORE, 1, 'PX', 50_000)
    expect(await change('c:1', 'add', 2)).toEqual(['done', 3])
    expect(await change('c:1', 'add', 2)).toEqual(['done', 3])
    expect(await change('c:2', 'add', -5)).toEqual(['done', -2])
    expect(await change('c:2', 'add', -5)).toEqual(['done', -2])
    expect(await available()).toBe(-2)
    expect(await admin.pttl(SEMAPHORE)).toBeGreaterThan(40_000)
    await wait('a:1:1')
    expect(await told(() => change('c:3', 'add', 3))).toEqual(['a'])
  })

  test('tells those of Redisson how many there are', async () => {
    expect(await messagesOf(() => change('c:1', 'set', 3), CHANNEL)).toEqual(['03'])
    expect(await messagesOf(() => change('c:2', 'add', 2), CHANNEL)).toEqual(['05'])
    expect(await messagesOf(() => change('c:3', 'add', -4), CHANNEL)).toEqual([])
    expect(await messagesOf(() => change('c:4', 'drain', 0), CHANNEL)).toEqual([])
  })

  test('drains what is available, once, and nothing of what is not', async () => {
    await admin.set(SEMAPHORE, 4, 'PX', 50_000)
    expect(await change('c:1', 'drain', 0)).toEqual(['done', 4])
    expect(await admin.pttl(SEMAPHORE)).toBeGreaterThan(40_000)
    await admin.set(SEMAPHORE, 2)
    expect(await change('c:1', 'drain', 0)).toEqual(['done', 4])
    expect(await available()).toBe(2)
    await admin.set(SEMAPHORE, -2)
    expect(await change('c:2', 'drain', 0)).toEqual(['done', 0])
    expect(await available()).toBe(-2)
    await admin.del(SEMAPHORE)
    expect(await change('c:3', 'drain', 0)).toEqual(['done', 0])
    expect(await admin.exists(SEMAPHORE)).toBe(0)
  })
})

test('to inspect tells how many there are and who waits, but not who is taken for dead', async () => {
  await admin.set(SEMAPHORE, -1)
  const [, , since] = await wait('a:1:2', { since: '980' })
  await wait('b:1:1', { since: '970', waitingMs: 20 })
  await wait('c:1:1', { since: '990' })
  await pause(30)
  const before = await state()
  const [isSet, count, now, clients, wanted] = await inspect()
  expect([isSet, count]).toEqual([1, -1])
  expect(Math.abs(Number(now) - (await nowUs()))).toBeLessThan(5_000_000)
  expect(clients).toEqual(['a', since, 'c', expect.any(String)])
  expect(wanted).toEqual(['a', '2', 'c', '1'])
  expect((await inspect(2))[3]?.length).toBe(2)
  expect((await inspect(0)).slice(3)).toEqual([[], []])
  expect(await state()).toEqual(before)
})

test('to inspect tells whether there is a semaphore', async () => {
  expect((await inspect()).slice(0, 2)).toEqual([0, 0])
  await admin.set(SEMAPHORE, 0)
  expect((await inspect()).slice(0, 2)).toEqual([1, 0])
})

test('to inspect tells of none that died before the clock was set back', async () => {
  await admin.set(SEMAPHORE, 0)
  await wait('a:1:1', { since: '980' })
  await wait('b:1:2', { since: '990' })
  await admin.hset(ALIVE, 'a', `${Date.now() + 3_600_000} 1`)
  const [, , , clients, wanted] = await inspect()
  expect(clients).toEqual(['b', '990'])
  expect(wanted).toEqual(['b', '2'])
})

describe('while the server is full', () => {
  beforeEach(() => admin.set(SEMAPHORE, 3))

  /** What is taken and waits before, and then no memory is left. */
  async function full(work: () => Promise<unknown>): Promise<void> {
    await acquire('c:1:2')
    await wait('a:1:9')
    await admin.config('SET', 'maxmemory', '1')
    try {
      await work()
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
  }

  test('permits are released, given back and taken out of the count, and clients leave', async () => {
    await full(async () => {
      expect(await release('c:2', 2)).toEqual(['added'])
      expect(await giveBack('c:1:2')).toBe(1)
      expect(await giveBack('c:3:1', { keptMs: 500 })).toBe(0)
      expect(await change('c:4', 'add', -1)).toEqual(['done', 4])
      expect(await change('c:5', 'drain', 0)).toEqual(['done', 4])
      expect(await leave('a')).toBe(1)
    })
    expect(await available()).toBe(0)
  })

  test('a semaphore is deleted, and no new one is made', async () => {
    await full(async () => {
      expect(await change('c:4', 'delete', 0)).toEqual(['done', 1])
      await expect(change('c:5', 'set', 2)).rejects.toThrow('OOM')
      await expect(acquire('c:6:1')).resolves.toEqual(['held', -1, '', 0, 0])
    })
    expect(await admin.exists(SEMAPHORE)).toBe(0)
  })
})

describe('to delete', () => {
  test('is done once, and tells whether there was one', async () => {
    expect(await change('c:1', 'delete', 0)).toEqual(['done', 0])
    await change('c:2', 'set', 3)
    expect(await change('c:3', 'delete', 0)).toEqual(['done', 1])
    await change('c:4', 'set', 2)
    expect(await change('c:3', 'delete', 0)).toEqual(['done', 1])
    expect(await available()).toBe(2)
  })

  test('makes nothing of what is given back later, and tells the client that is next', async () => {
    await change('c:1', 'set', 3)
    await acquire('c:2:3')
    await wait('a:1:1')
    expect(await told(() => change('c:3', 'delete', 0))).toEqual(['a'])
    expect(await giveBack('c:2:3')).toBe(0)
    expect(await release('c:4', 3, { ifExists: 1 })).toEqual(['none'])
    expect(await admin.exists(SEMAPHORE, KIND)).toBe(0)
    expect(await waiting()).toEqual(['a'])
  })
})
