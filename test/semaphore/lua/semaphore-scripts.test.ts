import { setTimeout as pause } from 'node:timers/promises'
import * as scripts from '../../../src/servers/redis/scripts/semaphore.generated.ts'
import {
  type Arguments,
  admin,
  messagesOf,
  NEVER,
  notAfter,
  nowUs,
  type Script,
  state,
} from '../../lua/run-script.ts'
import { leaves } from '../../support/leaks.ts'

const SEMAPHORE = 'it'
const QUEUE = 'holdfast_permit_queue:{it}'
const ALIVE = 'holdfast_permit_waiters:{it}'
const CHANNEL = 'redisson_sc:{it}'
const TICKETS = 'holdfast_tickets:{it}'
const KIND = 'holdfast_kind:{it}'
const KEPT_MS = 60_000

const requestOf = (id: string) => `holdfast_request:{it}:${id}`

beforeEach(() => leaves({ keys: true, why: 'what the scripts make is looked at' }))

/** Runs a script with named arguments, as its header declares them, and with the keys of answered requests. */
function run(
  { script }: { readonly script: Script },
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
    behindPermits: 0,
    behindWaitedMs: 0,
  }
  const keys = [SEMAPHORE, QUEUE, ALIVE, KIND, ...(id === null ? [] : [requestOf(id)]), ...answered]
  const args = script.args.map((name) => {
    const value = given[name] ?? terms[name]
    if (value === undefined) throw new Error(`The script takes ${name}`)
    return value
  })
  return admin.eval(script.source, keys.length, ...keys, ...args)
}

/** Requests permits without waiting, or as a waiter if `client` is given. */
const acquire = (owner: string, given: Arguments = {}, answered: readonly string[] = []) =>
  run(
    scripts.acquire,
    owner,
    { owner, client: '', last: 1, since: '', waitedMs: 0, ...given },
    answered,
  ) as Promise<[string, ...unknown[]]>

/** Requests permits as a waiter. */
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

describe('an acquisition', () => {
  beforeEach(() => admin.set(SEMAPHORE, 3))

  test('an acquisition gets as many permits as its owner id says, and is remembered for a while', async () => {
    expect(await acquire('c:1:2')).toEqual(['granted'])
    expect(await available()).toBe(1)
    expect(await admin.get(requestOf('c:1:2'))).toBe('2')
    expect(await admin.pttl(requestOf('c:1:2'))).toBeGreaterThan(KEPT_MS - 5_000)
    expect(await acquire('c:2:2')).toEqual(['held', -1, '', 1, 1])
    expect(await available()).toBe(1)
    expect(await waiting()).toEqual([])
  })

  test('a repeated acquisition gets its permits once', async () => {
    for (let i = 0; i < 3; i++) expect(await acquire('c:1:2')).toEqual(['granted'])
    expect(await available()).toBe(1)
  })

  test('an acquisition gets nothing if there is no semaphore, or if fewer than zero permits are free', async () => {
    await admin.del(SEMAPHORE)
    expect(await acquire('c:1:1')).toEqual(['held', -1, '', 0, 0])
    await admin.set(SEMAPHORE, -1)
    expect(await acquire('c:1:1')).toEqual(['held', -1, '', 1, -1])
    expect(await available()).toBe(-1)
  })

  test('an acquisition keeps the expiry of the semaphore', async () => {
    await admin.pexpire(SEMAPHORE, 50_000)
    await acquire('c:1:1')
    expect(await admin.pttl(SEMAPHORE)).toBeGreaterThan(40_000)
  })

  test('an acquisition that comes too late gets nothing, and leaves no waiter', async () => {
    const notAfterUs = await notAfter(-10, 0)
    expect(await acquire('c:1:1', { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await wait('c:2:9', { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await available()).toBe(3)
    expect(await waiting()).toEqual([])
  })

  test('an acquisition deletes the records of answered requests', async () => {
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
  ] as const)(
    'a request to %s deletes the records of answered requests',
    async (_, script, given) => {
      await acquire('c:1:1')
      await acquire('c:2:1')
      await run(script, 'c:3:1', given, [requestOf('c:1:1'), requestOf('c:2:1')])
      expect(await admin.keys('holdfast_request*')).toEqual([requestOf('c:3:1')])
    },
  )

  test('each script refuses a key of another kind, and changes nothing', async () => {
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
])('%s that is repeated is remembered for the full time again', async (_, ask) => {
  await admin.set(SEMAPHORE, 3)
  await ask('c:1:1')
  await admin.pexpire(requestOf('c:1:1'), 1_000)
  await ask('c:1:1')
  expect(await admin.pttl(requestOf('c:1:1'))).toBeGreaterThan(KEPT_MS - 5_000)
})

describe('a waiter', () => {
  beforeEach(() => admin.set(SEMAPHORE, 0))

  test('the reply to a waiter says when the waiter before it may be dead', async () => {
    await wait('a:1:1', { since: '970', waitingMs: 9_000 })
    const [, ttlMs] = await wait('b:1:1', { since: '980' })
    expect(ttlMs).toBeGreaterThan(5_000)
    expect(ttlMs).toBeLessThanOrEqual(9_002)
    await admin.del(SEMAPHORE)
    expect((await wait('a:1:1', { since: '970' })).slice(3)).toEqual([0, 0])
  })

  test('a waiter gets a place for its client by the start of its wait, and keeps it', async () => {
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

  test('a waiter that began before the clock was set back keeps its place before later waiters', async () => {
    const aheadUs = (await nowUs()) + 3_600_000_000
    const [, , since] = await wait('a:1:1', { since: String(aheadUs), waitedMs: 60_000 })
    expect(Math.abs(Number(since) - (aheadUs - 3_660_000_000))).toBeLessThan(20_000_000)
    await wait('b:1:1', { waitedMs: 10_000 })
    expect(await told(() => release('d:1', 1))).toEqual(['a'])
  })

  test('waiters are served in order, and a release wakes only the client of the first waiter', async () => {
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

  test('each served waiter wakes the next waiter, as long as enough permits are free', async () => {
    await wait('a:1:2', { since: '960' })
    await wait('b:1:1', { since: '970' })
    await wait('c:1:2', { since: '980' })
    await wait('d:1:1', { since: '990' })
    expect(await told(() => release('x:1', 4))).toEqual(['a'])
    expect(await told(() => wait('a:1:2', { since: '960' }))).toEqual(['b'])
    expect(await told(() => wait('b:1:1', { since: '970' }))).toEqual([])
    expect(await available()).toBe(1)
    // A waiter that wants fewer permits does not overtake.
    expect((await wait('d:1:1', { since: '990' }))[0]).toBe('held')
    expect(await told(() => release('x:2', 1))).toEqual(['c'])
  })

  test('a waiter that came earlier is served before a later waiter that wants more permits', async () => {
    await wait('a:1:5', { since: '990' })
    await admin.set(SEMAPHORE, 2)
    expect((await wait('b:1:1', { since: '980' }))[0]).toBe('granted')
    expect((await wait('c:1:1', { since: '1000' }))[0]).toBe('held')
  })

  test('a client keeps its place while another of its waiters is about to ask, and no client is woken', async () => {
    await wait('a:1:1', { since: '970' })
    await wait('b:1:1', { since: '980' })
    await admin.set(SEMAPHORE, 2)
    expect(await told(() => wait('a:1:1', { since: '970', last: '' }))).toEqual([])
    expect(await waiting()).toEqual(['a', 'b'])
    // The next waiter of this client came after the other client. So its turn is later, and the other client gets the
    // message.
    expect(await told(() => wait('a:2:1', { since: '990' }))).toEqual(['b'])
    expect(await waiting()).toEqual(['b', 'a'])
  })

  test('a waiter that sends no request for too long is skipped', async () => {
    await wait('a:1:1', { since: '970', waitingMs: 40 })
    const [, ttlMs] = await wait('b:1:1', { since: '980' })
    expect(ttlMs).toBeLessThanOrEqual(42)
    // The server uses its wall clock, which may be adjusted during the test.
    await pause(100)
    expect(await told(() => release('x:1', 1))).toEqual(['b'])
    expect(await waiting()).toEqual(['b'])
  })

  test('the first waiter wakes the next waiter when it leaves; another waiter that leaves does not', async () => {
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

describe('a give-back', () => {
  beforeEach(() => admin.set(SEMAPHORE, 3))

  test('a give-back returns the permits of its acquisition once, and deletes the record', async () => {
    await acquire('c:1:2')
    expect(await giveBack('c:1:2')).toBe(1)
    expect(await giveBack('c:1:2')).toBe(0)
    expect(await available()).toBe(3)
    expect(await admin.keys('*')).toEqual([SEMAPHORE])
  })

  test('a late copy of the acquisition gets nothing while the give-back is remembered', async () => {
    expect(await giveBack('c:1:2', { keptMs: 5_000 })).toBe(0)
    expect(await acquire('c:1:2')).toEqual(['held', -1, '', 1, 3])
    await acquire('c:2:1')
    expect(await giveBack('c:2:1', { keptMs: 5_000 })).toBe(1)
    expect(await giveBack('c:2:1', { keptMs: 5_000 })).toBe(0)
    expect(await acquire('c:2:1')).toEqual(['held', -1, '', 1, 3])
    expect(await available()).toBe(3)
    expect(await admin.pttl(requestOf('c:2:1'))).toBeGreaterThan(0)
  })

  test('a give-back wakes the next waiter, and publishes the number of free permits for Redisson', async () => {
    await acquire('c:1:3')
    await wait('a:1:1')
    expect(await told(() => giveBack('c:1:3'))).toEqual(['a'])
    await acquire('c:2:3')
    expect(await messagesOf(() => giveBack('c:1:3'), CHANNEL)).toEqual([])
    await wait('a:1:1')
    await acquire('c:3:2')
    expect(await messagesOf(() => giveBack('c:3:2'), CHANNEL)).toEqual(['02'])
  })

  test('a give-back does not create a semaphore that is gone', async () => {
    await acquire('c:1:2')
    await admin.del(SEMAPHORE)
    expect(await giveBack('c:1:2')).toBe(0)
    expect(await admin.exists(SEMAPHORE)).toBe(0)
  })
})

describe('a release', () => {
  test('a release adds its permits once for each request', async () => {
    expect(await release('c:1', 2)).toEqual(['added'])
    expect(await release('c:1', 2)).toEqual(['added'])
    expect(await available()).toBe(2)
    expect(await messagesOf(() => release('c:2', 2), CHANNEL)).toEqual(['04'])
    expect(await available()).toBe(4)
    expect(await admin.pttl(requestOf('c:1'))).toBeGreaterThan(0)
  })

  test('a release with `ifExists` does nothing if there is no semaphore', async () => {
    expect(await release('c:1', 2, { ifExists: 1 })).toEqual(['none'])
    expect(await admin.keys('*')).toEqual([requestOf('c:1')])
    expect(await admin.pttl(requestOf('c:1'))).toBeGreaterThan(0)
    await admin.set(SEMAPHORE, 0)
    expect(await release('c:2', 2, { ifExists: 1 })).toEqual(['added'])
  })

  test('a release that found no semaphore adds nothing to a semaphore that is made before its repeat', async () => {
    expect(await release('c:1', 2, { ifExists: 1 })).toEqual(['none'])
    await admin.set(SEMAPHORE, 3)
    expect(await release('c:1', 2, { ifExists: 1 })).toEqual(['none'])
    expect(await available()).toBe(3)
  })

  test('a release or a change that comes too late does nothing', async () => {
    const notAfterUs = await notAfter(-10, 0)
    expect(await release('c:1', 2, { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await change('c:2', 'add', 2, { notAfterUs })).toEqual(['late', expect.any(String)])
    expect(await admin.keys('*')).toEqual([])
  })

  test('a release wakes no waiter while no permit is free', async () => {
    await admin.set(SEMAPHORE, -3)
    await wait('a:1:1')
    expect(await told(() => release('c:1', 3))).toEqual([])
    expect(await told(() => release('c:2', 1))).toEqual(['a'])
  })
})

describe('a change of the permits', () => {
  test('a new semaphore gets its permits once, with an expiry if requested', async () => {
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

  test('an addition counts once, may be negative, and keeps the expiry', async () => {
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

  test('a change that adds permits publishes the new number for Redisson', async () => {
    expect(await messagesOf(() => change('c:1', 'set', 3), CHANNEL)).toEqual(['03'])
    expect(await messagesOf(() => change('c:2', 'add', 2), CHANNEL)).toEqual(['05'])
    expect(await messagesOf(() => change('c:3', 'add', -4), CHANNEL)).toEqual([])
    expect(await messagesOf(() => change('c:4', 'drain', 0), CHANNEL)).toEqual([])
  })

  test('a drain removes the free permits once, and nothing if none is free', async () => {
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

test('an inspection reports the number and the waiters, but no waiter that counts as dead', async () => {
  await admin.set(SEMAPHORE, -1)
  const [, , since] = await wait('a:1:2', { since: '980' })
  await wait('b:1:1', { since: '970', waitingMs: 20 })
  await wait('c:1:1', { since: '990' })
  await pause(80)
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

test('an inspection reports if there is a semaphore', async () => {
  expect((await inspect()).slice(0, 2)).toEqual([0, 0])
  await admin.set(SEMAPHORE, 0)
  expect((await inspect()).slice(0, 2)).toEqual([1, 0])
})

test('an inspection leaves out waiters that died before the clock was set back', async () => {
  await admin.set(SEMAPHORE, 0)
  await wait('a:1:1', { since: '980' })
  await wait('b:1:2', { since: '990' })
  await admin.hset(ALIVE, 'a', `${Date.now() + 3_600_000} 1`)
  const [, , , clients, wanted] = await inspect()
  expect(clients).toEqual(['b', '990'])
  expect(wanted).toEqual(['b', '2'])
})

describe('a full server', () => {
  beforeEach(() => admin.set(SEMAPHORE, 3))

  /** Some permits are taken and a client waits. Then the server has no free memory. */
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

  test('a full server accepts releases, give-backs, reductions and drains, and clients can leave', async () => {
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

  test('a full server deletes a semaphore, and refuses a new semaphore', async () => {
    await full(async () => {
      expect(await change('c:4', 'delete', 0)).toEqual(['done', 1])
      await expect(change('c:5', 'set', 2)).rejects.toThrow('OOM')
      await expect(acquire('c:6:1')).resolves.toEqual(['held', -1, '', 0, 0])
    })
    expect(await admin.exists(SEMAPHORE)).toBe(0)
  })
})

describe('a delete', () => {
  test('a delete is done once, and reports if a semaphore existed', async () => {
    expect(await change('c:1', 'delete', 0)).toEqual(['done', 0])
    await change('c:2', 'set', 3)
    expect(await change('c:3', 'delete', 0)).toEqual(['done', 1])
    await change('c:4', 'set', 2)
    expect(await change('c:3', 'delete', 0)).toEqual(['done', 1])
    expect(await available()).toBe(2)
  })

  test('a delete wakes the next client, and a later give-back creates no semaphore', async () => {
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
