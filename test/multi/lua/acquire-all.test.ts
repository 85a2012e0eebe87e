import {
  admin,
  COUNTER_MS,
  NEVER,
  notAfter,
  nowUs,
  server,
  state,
  withoutTtl,
} from '../../lua/run-script.ts'
import * as scripts from '../../support/scripts.ts'

const NAMES = ['a', 'b', 'c'] as const
const counterOf = (name: string) => `redisson_lock_token:{${name}}`

interface Asked {
  names?: readonly string[]
  owner?: string
  leaseMs?: number
  notAfterUs?: number
  counterMs?: number
}

type Answer = [kind: string, detail: string | number, n?: number]

function acquireAll({
  names = NAMES,
  owner = 'c:1',
  leaseMs = 10_000,
  notAfterUs = NEVER,
  counterMs = COUNTER_MS,
}: Asked = {}): Promise<Answer> {
  const keys = names.flatMap((name) => [name, counterOf(name)])
  const owners = names.map(() => owner)
  const args = [leaseMs, notAfterUs, counterMs, ...owners]
  return admin.eval(
    scripts.acquireAll.source,
    keys.length,
    ...keys,
    ...args,
  ) as unknown as Promise<Answer>
}

const release = (name: string, token: number | '') =>
  admin.eval(
    scripts.release.source,
    2,
    name,
    counterOf(name),
    'c:1',
    token,
    `redisson_lock__channel:{${name}}`,
    'PUBLISH',
  ) as Promise<[string]>

const tokenOf = async (asked: Asked = {}) => Number((await acquireAll(asked))[1])
const counters = () =>
  Promise.all(NAMES.map(async (name) => Number(await admin.get(counterOf(name)))))
const holders = () => Promise.all(NAMES.map((name) => admin.hgetall(name)))
const OWN = { 'c:1': '1' }

let keepsCounters = false
afterEach(async () => {
  if (!keepsCounters) expect(await withoutTtl()).toEqual([])
  keepsCounters = false
  await server.flush()
})

test('the script acquires all free locks once each, with the requested lease and one token', async () => {
  const before = await nowUs()
  const [kind, token] = await acquireAll()
  expect(kind).toBe('granted')
  expect(Number(token)).toBeGreaterThanOrEqual(before)
  expect(Number(token)).toBeLessThanOrEqual(await nowUs())
  expect(await holders()).toEqual([OWN, OWN, OWN])
  for (const name of NAMES) {
    expect(await admin.pttl(name)).toBeGreaterThan(9_000)
    expect(await admin.pttl(name)).toBeLessThanOrEqual(10_000)
    expect(await admin.pttl(counterOf(name))).toBeGreaterThan(50_000)
  }
})

test('each lock gets its own owner', async () => {
  const keys = ['a', counterOf('a'), 'b', counterOf('b')]
  const args = [10_000, NEVER, COUNTER_MS, 'c:1', 'c:2.1']
  await admin.eval(scripts.acquireAll.source, keys.length, ...keys, ...args)
  expect((await holders()).slice(0, 2)).toEqual([OWN, { 'c:2.1': '1' }])
})

test('the script acquires one lock, or 2,000 locks at once', async () => {
  expect((await acquireAll({ names: ['a'] }))[0]).toBe('granted')
  const many = Array.from({ length: 2_000 }, (_, n) => `many ${n}`)
  expect((await acquireAll({ names: many }))[0]).toBe('granted')
})

test('if a counter is ahead of the clock, all counters get the highest value plus one as the token', async () => {
  const ahead = (await nowUs()) + 60_000_000
  await admin.set(counterOf('b'), ahead, 'PX', COUNTER_MS)
  await admin.set(counterOf('c'), 5, 'PX', COUNTER_MS)
  expect(await tokenOf()).toBe(ahead + 1)
  expect(await counters()).toEqual([ahead + 1, ahead + 1, ahead + 1])
})

test('a token near the largest safe integer is exact to the last digit', async () => {
  const large = Number.MAX_SAFE_INTEGER - 10
  await admin.set(counterOf('a'), String(large), 'PX', COUNTER_MS)
  expect(await tokenOf()).toBe(large + 1)
  expect(await admin.get(counterOf('c'))).toBe(String(large + 1))
})

test('counters have no expiry if `counterMs` is 0', async () => {
  keepsCounters = true
  await acquireAll({ counterMs: 0 })
  expect((await withoutTtl()).sort()).toEqual(NAMES.map(counterOf))
})

describe('a lock that another owner holds', () => {
  test.each(NAMES)(
    'the reply names lock %s and the rest of its lease, and nothing changes',
    async (busy) => {
      await admin.hset(busy, 'other:1', 2)
      await admin.pexpire(busy, 5_000)
      const before = await state()
      const [kind, ttlMs, n] = await acquireAll()
      expect([kind, n]).toEqual(['held', NAMES.indexOf(busy) + 1])
      expect(ttlMs).toBeGreaterThan(4_000)
      expect(ttlMs).toBeLessThanOrEqual(5_000)
      expect(await state()).toEqual(before)
    },
  )

  test('the reply names the first of several held locks', async () => {
    for (const busy of ['c', 'b']) await admin.hset(busy, 'other:1', 1)
    for (const busy of ['c', 'b']) await admin.pexpire(busy, 5_000)
    expect((await acquireAll())[2]).toBe(2)
  })

  test('the reply has -1 for a held lock without an expiry', async () => {
    await admin.hset('b', 'other:1', 1)
    expect(await acquireAll()).toEqual(['held', -1, 2])
    await admin.del('b')
  })
})

describe('a repeated request', () => {
  test('a repeat gets the same token, and changes no holder and no counter', async () => {
    const token = await tokenOf()
    expect(await tokenOf()).toBe(token)
    expect(await holders()).toEqual([OWN, OWN, OWN])
    expect(await counters()).toEqual([token, token, token])
  })

  test('a repeat may lengthen a lease, and never shortens it', async () => {
    await acquireAll()
    await acquireAll({ leaseMs: 50 })
    for (const name of NAMES) expect(await admin.pttl(name)).toBeGreaterThan(9_000)
    await acquireAll({ leaseMs: 30_000 })
    for (const name of NAMES) expect(await admin.pttl(name)).toBeGreaterThan(29_000)
  })

  test('a repeat that comes too late still gets its token', async () => {
    const token = await tokenOf()
    expect(await tokenOf({ notAfterUs: (await nowUs()) - 1 })).toBe(token)
  })

  test('a repeat restores counters that were lost', async () => {
    const token = await tokenOf()
    await admin.del(counterOf('a'), counterOf('c'))
    expect(await tokenOf()).toBe(token)
    expect(await counters()).toEqual([token, token, token])
  })

  test('a repeat gets a greater token if all counters were lost', async () => {
    const token = await tokenOf()
    await admin.del(...NAMES.map(counterOf))
    expect(await tokenOf()).toBeGreaterThan(token)
  })

  test('a repeat does not lower a hold count', async () => {
    await acquireAll()
    await admin.hset('b', 'c:1', 3)
    await acquireAll()
    expect((await holders())[1]).toEqual({ 'c:1': '3' })
  })

  test.each([['a'], ['b'], ['c']])(
    'a repeat acquires nothing if lock %s was released, and the other holds keep their token',
    async (free) => {
      const token = await tokenOf()
      await release(free, token)
      const before = await state()
      expect(await acquireAll()).toEqual(['held', -2, NAMES.indexOf(free as 'a') + 1])
      expect(await state()).toEqual(before)
      for (const name of NAMES.filter((one) => one !== free)) {
        expect((await release(name, token))[0]).toBe('freed')
      }
    },
  )

  test('a repeat acquires nothing if another owner now holds one of the locks', async () => {
    await acquireAll()
    await admin.del('a', 'c')
    await admin.hset('c', 'other:1', 1)
    await admin.pexpire('c', 5_000)
    const before = await state()
    expect((await acquireAll()).filter((_, i) => i !== 1)).toEqual(['held', 3])
    expect(await state()).toEqual(before)
  })

  test('a repeat acquires all locks again with a greater token if all were released', async () => {
    const token = await tokenOf()
    for (const name of NAMES) await release(name, token)
    expect(await tokenOf()).toBeGreaterThan(token)
  })
})

test("a request that comes too late is refused, and the reply has the server's time", async () => {
  const notAfterUs = await nowUs()
  const before = await state()
  const [kind, serverUs] = await acquireAll({ notAfterUs })
  expect(kind).toBe('late')
  expect(Number(serverUs)).toBeGreaterThan(notAfterUs)
  expect(await state()).toEqual(before)
  expect((await acquireAll({ notAfterUs: await notAfter(1_000, 20) }))[0]).toBe('granted')
})

describe('a key of another kind', () => {
  test.each([
    ['lock', 'c', 'SET'],
    ['counter', counterOf('c'), 'LPUSH'],
  ])(
    'a key of another type in place of a %s is an error before anything is written',
    async (_, key, command) => {
      await admin.call(command, key, 'x')
      const before = await state()
      await expect(acquireAll()).rejects.toThrow('WRONGTYPE')
      expect(await state()).toEqual(before)
      await admin.del(key)
    },
  )

  test.each([['c:1'], ['other:1']])(
    'a read-write lock of Redisson that %s holds is refused',
    async (holder) => {
      await admin.hset('b', { mode: 'write', [holder]: '1' })
      await admin.pexpire('b', 5_000)
      const before = await state()
      await expect(acquireAll()).rejects.toThrow('read-write lock')
      expect(await state()).toEqual(before)
    },
  )
})
