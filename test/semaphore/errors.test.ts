import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastError } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { faultRig } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'

const errorOf = async (call: () => unknown): Promise<HoldfastError> => {
  try {
    await call()
  } catch (error) {
    return error as HoldfastError
  }
  throw new Error('It did not fail')
}

/** Returns a client whose server does not exist. */
function cutOff(): Holdfast {
  const client = new Holdfast({
    redis: 'redis://127.0.0.1:1',
    outageMs: 60,
    commandTimeoutMs: 60,
  })
  atEnd(() => client.close())
  return client
}

function inMemory(): Holdfast {
  const client = createMemoryServer().newClient()
  atEnd(() => client.close())
  return client
}

const KINDS = [
  ['getSemaphore', 'semaphore'],
  ['getPermitExpirableSemaphore', 'semaphore'],
  ['getCountDownLatch', 'latch'],
  ['getLeaderElection', 'leader election'],
] as const

test.each(KINDS)('an invalid name is refused by %s as the name of a %s', async (get, thing) => {
  const make = (name: unknown) => errorOf(() => inMemory()[get](name as string))
  expect((await make('')).message).toMatch(new RegExp(`^The name of a ${thing} must be`))
  expect((await make('a{b')).message).toMatch(new RegExp(`^The ${thing} name .* of the ${thing} `))
  expect((await make('\ud83d')).message).toMatch(new RegExp(`^The ${thing} name `))
})

test.each([...KINDS.map(([get]) => get), 'getFairLock' as const, 'getReadWriteLock' as const])(
  '%s is refused with independent masters, and the error has the name',
  async (get) => {
    const client = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
    atEnd(() => client.close())
    expect(await errorOf(() => client[get]('it'))).toMatchObject({
      code: 'HOLDFAST_INVALID_ARGUMENT',
      lockName: 'it',
    })
  },
)

test.each([
  ['getSemaphore', 3, 'trySetPermits()'],
  ['getCountDownLatch', 3, 'trySetCount()'],
] as const)(
  'a number given to %s is refused, and the error names the method for it',
  async (get, given, how) => {
    const make = inMemory() as unknown as Record<string, (...args: unknown[]) => unknown>
    const { code, message } = await errorOf(() => make[get]?.('it', given))
    expect(code).toBe('HOLDFAST_INVALID_ARGUMENT')
    expect(message).toContain(`${get}(name) takes only a name`)
    expect(message).toContain(how)
  },
)

test.each<[string, (client: Holdfast) => unknown]>([
  ['acquire', (client) => client.getSemaphore('it').acquire()],
  // The wait is longer than `outageMs`: a shorter wait may end before the client knows that it has no connection.
  ['tryAcquire for a time', (client) => client.getSemaphore('it').tryAcquire({ waitMs: 2_000 })],
  ['release', (client) => client.getSemaphore('it').release()],
  ['trySetPermits', (client) => client.getSemaphore('it').trySetPermits(2)],
  ['inspect', (client) => client.getSemaphore('it').inspect()],
  ['acquire, with leases', (client) => client.getPermitExpirableSemaphore('it').acquire()],
  ['setPermits', (client) => client.getPermitExpirableSemaphore('it').setPermits(2)],
  ['inspect, with leases', (client) => client.getPermitExpirableSemaphore('it').inspect()],
])('an outage is reported for a semaphore, and not for a lock: %s', async (_, call) => {
  const client = cutOff()
  const { code, message } = await errorOf(() => call(client))
  expect(code).toBe('HOLDFAST_UNAVAILABLE')
  expect(message).toMatch(/^Semaphore "it": /)
  expect(message).toContain('It is unknown how many permits are available.')
  expect(message).not.toMatch(/lock/i)
  await client.close()
})

test('an error uses the singular for one permit, and says that a change without a request was not made', async () => {
  const client = cutOff()
  const one = await errorOf(() => client.getSemaphore('it').trySetPermits(1))
  expect(one.message).toContain('1 permit was not set: ')
  const more = await errorOf(() => client.getSemaphore('it').addPermits(-2))
  expect(more.message).toContain('-2 permits were not added: ')
})

test('errors of lost or released permits name the semaphore', async () => {
  const client = inMemory()
  const semaphore = client.getPermitExpirableSemaphore('it')
  await semaphore.setPermits(1)
  const lost = await errorOf(() => semaphore.using(() => pause(30), { leaseMs: 10 }))
  expect(lost.code).toBe('HOLDFAST_LEASE_LOST')
  expect(lost.message).toMatch(/^The lease of semaphore "it" \(token \d+\) was lost: /)
  const permit = await semaphore.acquire()
  await permit.release()
  for (const error of [
    await errorOf(() => permit.assertValid()),
    await errorOf(() => permit.extend(100)),
  ]) {
    expect(error.code).toBe('HOLDFAST_INVALID_ARGUMENT')
    expect(error.message).toMatch(/^The lease of semaphore "it" was released/)
  }
})

test('the error of a term that is over names the term, and no lock', async () => {
  const election = inMemory().getLeaderElection('it')
  const term = await election.lead((own) => own)
  const { message } = await errorOf(() => term.assertValid())
  expect(message).toMatch(/^The term of "it" is over: /)
  expect(message).not.toMatch(/lock|using/)
})

// biome-ignore lint/suspicious/noExplicitAny: As callers without TypeScript write it.
type Any = any

test.each<[string, (client: Any) => unknown, RegExp]>([
  [
    'a number of permits in the place of options',
    (client) => client.getSemaphore('it').tryAcquire(2),
    /an object with `permits`, `waitMs` or `signal`; got 2\.$/,
  ],
  [
    'no number of permits',
    (client) => client.getSemaphore('it').acquire(null),
    /^acquire\(permits, options\), or acquire\(options\): .* got null\.$/,
  ],
  [
    'a misspelt option of acquire',
    (client) => client.getSemaphore('it').acquire({ permit: 2 }),
    /no option `permit` here\. There are: permits, waitMs, signal/,
  ],
  [
    'a bad number of permits in the options of acquire',
    (client) => client.getSemaphore('it').acquire({ permits: null }),
    /^acquire\(options\): the permits must be a whole number .* got null\.$/,
  ],
  [
    'options of acquire in two places',
    (client) => client.getSemaphore('it').acquire({ permits: 2 }, { waitMs: 5 }),
    /^Too many arguments; got an object .* come first, or after a number\.$/,
  ],
  [
    'no options for permits with leases',
    (client) => client.getPermitExpirableSemaphore('it').acquire(null),
    /an object with `permits`, .*; got null\.$/,
  ],
  [
    'a lifetime in the place of options',
    (client) => client.getSemaphore('it').trySetPermits(3, 5_000),
    /an object with `ttlMs`; got 5000\.$/,
  ],
  [
    'a number in the place of the options of a semaphore with leases',
    (client) => client.getPermitExpirableSemaphore('it', 3),
    /^getPermitExpirableSemaphore\(name, options\): the options must be an object with `permits`; got 3\.$/,
  ],
  [
    'a bad number of permits of a semaphore',
    (client) => client.getPermitExpirableSemaphore('it', { permits: -1 }),
    /must be a whole number from 0 to 2147483647; got -1\.$/,
  ],
  [
    'a misspelt option of a semaphore',
    (client) => client.getPermitExpirableSemaphore('it', { limit: 3 }),
    /no option `limit` here\. There are: permits\./,
  ],
  [
    'no wait at all for permits with leases',
    (client) => client.getPermitExpirableSemaphore('it').tryAcquire({ waitMs: 0 }),
    /`waitMs` .* got 0\. To ask once without waiting, leave it out\.$/,
  ],
  [
    'a step of a latch',
    (client) => client.getCountDownLatch('it').countDown(2),
    /Too many arguments; got 2 as well\. It counts down by one\.$/,
  ],
  [
    'no wait at all for a latch',
    (client) => client.getCountDownLatch('it').await({ waitMs: 0 }),
    /`waitMs` .* got 0\. To ask once without waiting, use count\(\)\.$/,
  ],
  [
    'a time in the place of options of a latch',
    (client) => client.getCountDownLatch('it').await(500),
    /an object with `round`, `waitMs` or `signal`; got 500\.$/,
  ],
])('%s is refused, and the error says what is valid', async (_, call, words) => {
  const { code, message } = await errorOf(() => call(inMemory()))
  expect(code).toBe('HOLDFAST_INVALID_ARGUMENT')
  expect(message).toMatch(words)
})

describe('in Redis', () => {
  const rig = faultRig()

  test('a name that another kind uses is refused, and the error says what to do', async () => {
    const client = rig.client()
    await client.getLock('it').using(async () => {
      const semaphore = await errorOf(() => client.getSemaphore('it').tryAcquire())
      const latch = await errorOf(() => client.getCountDownLatch('it').count())
      const side = await errorOf(() => client.getReadWriteLock('it').readLock().tryLock())
      expect([semaphore.message, latch.message, side.message]).toEqual([
        expect.stringMatching(/^Semaphore "it": not acquired: /),
        expect.stringMatching(/^Latch "it": /),
        expect.stringMatching(/^Lock "it": /),
      ])
      for (const { code, message } of [semaphore, latch, side]) {
        expect(code).toBe('HOLDFAST_REFUSED')
        expect(message).toMatch(
          /: a lock (that is no read-write lock )?has this name \(WRONGTYPE\)\. Use another name for one of the two\.$/,
        )
      }
    })
  })
})
