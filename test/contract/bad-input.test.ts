import { Holdfast, InvalidArgumentError, type Lease } from '../../src/index.ts'
import { never } from '../support/eventually.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { leaves } from '../support/leaks.ts'
import { describeLocks } from './lock-kinds.ts'

/** Values that are not positive whole numbers, each with the text that the message shows. */
const NO_MILLISECONDS: [value: unknown, shown: string][] = [
  [0, 'got 0'],
  [-1, 'got -1'],
  [Number.NaN, 'got NaN'],
  [Infinity, 'got Infinity'],
  [-Infinity, 'got -Infinity'],
  [1_000.5, 'got 1000.5'],
  ['1000', 'got "1000"'],
  [2 ** 53, 'got 9007199254740992'],
  [true, 'got true'],
  [null, 'got null'],
  [[1_000], 'got an object'],
  [10n, 'got 10'],
]

/** The values without Infinity, which is valid for a wait. */
const FINITE = NO_MILLISECONDS.filter(([value]) => value !== Infinity)

/** Calls without types, like calls of users without TypeScript. */
// biome-ignore lint/suspicious/noExplicitAny: That is the point.
type Any = any

async function refused(work: Promise<unknown>, words: string) {
  const error = await work.then(
    (value) => {
      throw new Error(`It was accepted: ${String(value)}`)
    },
    (error) => error,
  )
  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(error.code).toBe('HOLDFAST_INVALID_ARGUMENT')
  expect(error.message).toContain(words)
}

describeLocks(
  'bad input',
  (stage) => {
    const newLock = (): Any => stage.getLock(stage.world.newClient(), 'it')

    afterEach(async () => {
      expect(await stage.holds('it')).toEqual([])
    })

    describe('a name', () => {
      test.each<[unknown, string]>([
        ['', 'got ""'],
        [undefined, 'got undefined'],
        [null, 'got null'],
        [17, 'got 17'],
        [{}, 'got an object'],
        [Symbol('it'), 'Symbol(it)'],
        ['a{b', '{tag}'],
        ['a{}b', '{tag}'],
        ['{', '{tag}'],
        ['}{', '{tag}'],
        ['half \ud83d', 'surrogate'],
        ['\udd12 half', 'surrogate'],
      ])('getLock() refuses the name %p at once', (name, words) => {
        const client = stage.world.newClient()
        let error: unknown
        try {
          stage.getLock(client, name as string)
        } catch (thrown) {
          error = thrown
        }
        expect(error).toBeInstanceOf(InvalidArgumentError)
        expect((error as Error).message).toContain(words)
      })

      test.each([
        '{order}:1',
        'order:{1}:x{',
        'a}b{c}',
        ' ',
        'two\nlines',
        '🔒 größe',
        '__proto__',
        'x'.repeat(5_000),
      ])('a lock named %p works like any other lock', async (name) => {
        const lock = stage.getLock(stage.world.newClient(), name)
        await lock.using(async () => {
          await lock.lock()
          expect(await stage.holds(name)).toEqual([2])
          await lock.unlock()
        })
        expect(await stage.holds(name)).toEqual([])
      })
    })

    describe('a time in milliseconds', () => {
      const forms: [string, (lock: Any, value: unknown) => Promise<unknown>][] = [
        ['lock({ leaseMs })', (lock, leaseMs) => lock.lock({ leaseMs })],
        ['tryLock(waitMs, leaseMs)', (lock, leaseMs) => lock.tryLock(1_000, leaseMs)],
        ['tryLock({ leaseMs })', (lock, leaseMs) => lock.tryLock({ leaseMs })],
        ['tryLock({ waitMs })', (lock, waitMs) => lock.tryLock({ waitMs })],
        ['using(fn, { leaseMs })', (lock, leaseMs) => lock.using(() => {}, { leaseMs })],
        ['tryUsing(fn, { waitMs })', (lock, waitMs) => lock.tryUsing(() => {}, { waitMs })],
      ]
      test.each(forms)(
        '%s refuses every value that is not a positive whole number',
        async (_, form) => {
          const lock = newLock()
          for (const [value, words] of NO_MILLISECONDS) await refused(form(lock, value), words)
        },
      )

      test.each<[string, (lock: Any, waitMs: unknown) => Promise<unknown>]>([
        ['lock({ waitMs })', (lock, waitMs) => lock.lock({ waitMs })],
        ['using(fn, { waitMs })', (lock, waitMs) => lock.using(() => {}, { waitMs })],
      ])(
        '%s refuses values that are not positive whole numbers, except Infinity',
        async (_, form) => {
          const lock = newLock()
          for (const [value, words] of FINITE) await refused(form(lock, value), words)
          const lease = (await form(lock, Infinity)) as Lease | undefined
          await lease?.release()
        },
      )

      test.each<[string, (lock: Any, value: unknown) => Promise<unknown>]>([
        ['lock(leaseMs)', (lock, leaseMs) => lock.lock(leaseMs)],
        ['tryLock(waitMs)', (lock, waitMs) => lock.tryLock(waitMs)],
      ])('%s refuses a first argument that is not a positive whole number', async (_, form) => {
        const lock = newLock()
        for (const [value, words] of NO_MILLISECONDS) {
          if (!Array.isArray(value)) await refused(form(lock, value), words)
        }
        await refused(form(lock, [1_000]), 'got an object (Array)')
      })

      test('lock() and tryLock() refuse a lease of a few milliseconds', async () => {
        await refused(newLock().lock(9), 'got 9')
        await refused(newLock().tryLock({ leaseMs: 1 }), 'got 1')
      })

      test('extend() refuses values that are not positive whole numbers, and the lease stays valid', async () => {
        const lease = await newLock().lock(60_000)
        for (const [value, words] of NO_MILLISECONDS) await refused(lease.extend(value), words)
        expect(lease.valid).toBe(true)
        await lease.release()
      })

      test('the client refuses a waitMs that is not a positive whole number, except Infinity', async () => {
        for (const [value, words] of FINITE) {
          const make = () => new Holdfast({ redis: {}, waitMs: value as number })
          expect(make).toThrow(words)
        }
        const client = stage.world.newClient({ waitMs: Infinity })
        await stage.getLock(client, 'it').using(() => {})
      })

      test.each(['leaseMs', 'commandTimeoutMs', 'outageMs', 'counterTtlMs'])(
        'the client refuses a value for %s that is not a positive whole number',
        (name) => {
          for (const [value, words] of NO_MILLISECONDS) {
            const make = () => new Holdfast({ redis: {}, [name]: value })
            expect(make).toThrow(InvalidArgumentError)
            expect(make).toThrow(words)
            expect(make).toThrow(name)
          }
        },
      )
    })

    test('the client refuses keepCounters together with counterTtlMs', () => {
      const make = () => new Holdfast({ redis: {}, keepCounters: true, counterTtlMs: 60_000 })
      expect(make).toThrow(InvalidArgumentError)
      expect(make).toThrow('either `keepCounters` or `counterTtlMs`')
    })

    describe('options', () => {
      test.each<[string, (lock: Any) => Promise<unknown>, string]>([
        [
          'lock({ waitMs: 0 })',
          (lock) => lock.lock({ waitMs: 0 }),
          'use tryLock() or tryUsing(fn).',
        ],
        ['lock({ ttl })', (lock) => lock.lock({ ttl: 100 }), 'ttl'],
        ['tryLock({ wait })', (lock) => lock.tryLock({ wait: 100 }), 'wait'],
        ['using(fn, { waitMs: 0 })', (lock) => lock.using(() => {}, { waitMs: 0 }), 'tryUsing(fn)'],
        ['using(fn, { lease })', (lock) => lock.using(() => {}, { lease: 100 }), 'lease'],
        ['lock(null)', (lock) => lock.lock(null), 'null'],
        ['tryLock(null)', (lock) => lock.tryLock(null), 'null'],
        ['using(fn, null)', (lock) => lock.using(() => {}, null), 'null'],
        ['using(fn, 5)', (lock) => lock.using(() => {}, 5), '5'],
      ])('%s is refused, and the error says what is wrong', async (_, form, words) => {
        await refused(form(newLock()), words)
      })

      test.each<[string, object, string]>([
        ['a renew that is not a boolean', { renew: 1 }, '`renew` must be true or false; got 1'],
        ['a renew of null', { renew: null }, 'got null'],
        [
          'a maxHoldMs for a fixed lease',
          { leaseMs: 900, maxHoldMs: 5_000 },
          'got 5000 with a fixed',
        ],
        ['a maxHoldMs that is too short', { maxHoldMs: 9 }, '`maxHoldMs` must be at least 10'],
        ['a maxHoldMs that is not a number', { maxHoldMs: '5000' }, 'got "5000"'],
        [
          'a renewed lease that is longer than any timer',
          { leaseMs: 2 ** 31, renew: true },
          'got 2147483648',
        ],
      ])('lock(), tryLock() and using() refuse %s', async (_, options, words) => {
        const lock = newLock()
        await refused(lock.lock(options), words)
        await refused(lock.tryLock(options), words)
        await refused(
          lock.using(() => {}, options),
          words,
        )
      })

      test.each<[string, unknown, string]>([
        ['a controller', new AbortController(), 'AbortController'],
        ['a string', 'signal', '"signal"'],
        ['an object', {}, 'an object'],
        ['null', null, 'null'],
      ])('%s is refused as a signal', async (_, signal, words) => {
        const lock = newLock()
        for (const form of [lock.lock({ signal }), lock.tryLock({ signal })])
          await refused(form, words)
        await refused(
          lock.using(() => {}, { signal }),
          words,
        )
      })

      test.each<[string, unknown]>([
        ['a string', 'me'],
        ['an object', { id: 'me' }],
        ['a number', 7],
        ['null', null],
      ])('%s is refused as an owner', (_, owner) => {
        const client = stage.world.newClient()
        const make = () => stage.getLock(client, 'it', { owner } as Any)
        expect(make).toThrow(InvalidArgumentError)
        expect(make).toThrow('owner')
      })

      test('getLock() refuses an owner that another client made', () => {
        const [one, two] = [stage.world.newClient(), stage.world.newClient()]
        expect(() => stage.getLock(one, 'it', { owner: two.owner() })).toThrow(InvalidArgumentError)
      })

      test.each<[string, unknown]>([
        ['an unknown option', { ownr: 1 }],
        ['a string in place of its options', 'owner'],
        ['null', null],
      ])('getLock() refuses %s', (_, options) => {
        const client = stage.world.newClient()
        expect(() => stage.getLock(client, 'it', options as Any)).toThrow(InvalidArgumentError)
      })

      test.each<[string, object, string]>([
        ['an unknown option', { retries: 3 }, 'retries'],
        ['a keyPrefix that is not a string', { keyPrefix: 5 }, '5'],
        ['a watchdogThread that is a string', { watchdogThread: 'yes' }, 'watchdogThread'],
        ['a watchdogThread of null', { watchdogThread: null }, 'watchdogThread'],
        ['an unknown option of watchdogThread', { watchdogThread: { silence: 1 } }, 'silence'],
        ['a negative silenceLimitMs', { watchdogThread: { silenceLimitMs: -1 } }, 'got -1'],
      ])('the client refuses %s, and the error says what is wrong', (_, options, words) => {
        const make = () => new Holdfast({ redis: {}, ...options })
        expect(make).toThrow(InvalidArgumentError)
        expect(make).toThrow(words)
      })

      test.each([undefined, null, 'fn', {}])(
        'using(%p) is refused, and the lock stays free',
        async (fn) => {
          await refused(newLock().using(fn), 'function')
          // An acquisition would have left the counter of its token.
          expect(await lastingKeys(stage.world.server.admin)).toEqual([])
        },
      )
    })
  },
  { inOneWorld: true },
)

describeLocks('bad input for the server', (stage) => {
  const newLock = (): Any => stage.getLock(stage.world.newClient(), 'it')

  afterEach(async () => {
    expect(await stage.holds('it')).toEqual([])
  })

  const inRedis = () => {
    const types: [string, () => Promise<unknown>][] = [
      ['a string', () => stage.world.server.admin.set(stage.world.rawName('it'), 'precious')],
      ['a list', () => stage.world.server.admin.rpush(stage.world.rawName('it'), 'precious')],
    ]
    test.each(types)(
      'every call rejects when %s has the key of the lock, and the key stays unchanged',
      async (_, put) => {
        leaves({ keys: true, why: 'the key of another type must still be there' })
        await put()
        const { admin } = stage.world.server
        const before = await admin.dump(stage.world.rawName('it'))
        const lock = newLock()
        const calls: Promise<unknown>[] = [
          lock.lock(),
          lock.tryLock(),
          lock.tryLock(5_000),
          lock.using(() => {}),
          lock.inspect(),
          lock.isLocked(),
          lock.forceUnlock(),
        ]
        const errors = await Promise.all(calls.map((call): Promise<Any> => call.catch((e) => e)))
        for (const error of errors) {
          expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED', lockName: 'it' })
          expect(error.message).toContain('WRONGTYPE')
        }
        expect(await admin.dump(stage.world.rawName('it'))).toBe(before)
        expect(await admin.pttl(stage.world.rawName('it'))).toBe(-1)
        expect(await lastingKeys(admin)).toEqual([stage.world.rawName('it')])
        await admin.del(stage.world.rawName('it'))
        await lock.using(() => {})
      },
    )

    test('lock(), tryLock() and inspect() reject when the counter has another type, and no other key is made', async () => {
      leaves({ keys: true, why: 'the key of another type must still be there' })
      const { admin } = stage.world.server
      const counter = `redisson_lock_token:{${stage.world.rawName('it')}}`
      await admin.rpush(counter, 'precious')
      const lock = newLock()
      for (const call of [lock.lock, lock.tryLock, lock.inspect]) {
        const error: Any = await call.call(lock).catch((error: Any) => error)
        expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
        expect(error.message).toContain('WRONGTYPE')
      }
      expect(await lastingKeys(admin)).toEqual([counter])
    })
  }
  // In memory there are no keys of other types.
  if (!stage.inMemory) describe('in Redis', inRedis)

  test('a bad waitMs is refused on a lock that is held, without a request, and the hold stays unchanged', async () => {
    const client = stage.world.newClient({ presence: false })
    const lock = stage.getLock(client, 'it', { owner: client.owner() })
    const lease = await lock.lock()
    const before = await stage.settledRequests()
    await refused((lock as Any).tryLock(-5), 'got -5')
    await never(async () => (await stage.requests()) !== before, 50, { everyMs: 25 })
    expect(await stage.holds('it')).toEqual([1])
    await lease.release()
  })
})
