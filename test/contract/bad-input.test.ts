import { Holdfast, type HoldfastLock, InvalidArgumentError } from '../../src/index.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { leaves } from '../support/leaks.ts'
import { describeLocks } from './lock-kinds.ts'

/** What a form that asks for a positive whole number must refuse, and how its message shows it. */
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

/** The same where Infinity is a wait without an end. */
const FINITE = NO_MILLISECONDS.filter(([value]) => value !== Infinity)

/** Everything, untyped, as callers without TypeScript write it. */
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

    describe('as a name', () => {
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
      ])('%p is refused at once', (name, words) => {
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
      ])('%p is a lock like any other', async (name) => {
        const lock = stage.getLock(stage.world.newClient(), name)
        await lock.using(async () => {
          await lock.lock()
          expect(await stage.holds(name)).toEqual([2])
          await lock.unlock()
        })
        expect(await stage.holds(name)).toEqual([])
      })
    })

    describe('in place of milliseconds', () => {
      const forms: [string, (lock: Any, value: unknown) => Promise<unknown>][] = [
        ['lock({ leaseMs })', (lock, leaseMs) => lock.lock({ leaseMs })],
        ['tryLock(waitMs, leaseMs)', (lock, leaseMs) => lock.tryLock(1_000, leaseMs)],
        ['tryLock({ leaseMs })', (lock, leaseMs) => lock.tryLock({ leaseMs })],
        ['tryLock({ waitMs })', (lock, waitMs) => lock.tryLock({ waitMs })],
        ['using(fn, { leaseMs })', (lock, leaseMs) => lock.using(() => {}, { leaseMs })],
        ['tryUsing(fn, { waitMs })', (lock, waitMs) => lock.tryUsing(() => {}, { waitMs })],
      ]
      test.each(forms)('%s refuses what is no positive whole number', async (_, form) => {
        const lock = newLock()
        for (const [value, words] of NO_MILLISECONDS) await refused(form(lock, value), words)
      })

      test.each<[string, (lock: Any, waitMs: unknown) => Promise<unknown>]>([
        ['lock({ waitMs })', (lock, waitMs) => lock.lock({ waitMs })],
        ['using(fn, { waitMs })', (lock, waitMs) => lock.using(() => {}, { waitMs })],
      ])('%s does so too, but of Infinity', async (_, form) => {
        const lock = newLock()
        for (const [value, words] of FINITE) await refused(form(lock, value), words)
      })

      test.each<[string, (lock: Any, value: unknown) => Promise<unknown>]>([
        ['lock(leaseMs)', (lock, leaseMs) => lock.lock(leaseMs)],
        ['tryLock(waitMs)', (lock, waitMs) => lock.tryLock(waitMs)],
      ])('%s does so too', async (_, form) => {
        const lock = newLock()
        for (const [value, words] of NO_MILLISECONDS) {
          if (!Array.isArray(value)) await refused(form(lock, value), words)
        }
        await refused(form(lock, [1_000]), '0')
      })

      test('a lease too short to be of use is refused', async () => {
        await refused(newLock().lock(9), 'got 9')
        await refused(newLock().tryLock({ leaseMs: 1 }), 'got 1')
      })

      test('extend() does so too, and the lease stands', async () => {
        const lease = await newLock().lock(60_000)
        for (const [value, words] of NO_MILLISECONDS) await refused(lease.extend(value), words)
        expect(lease.valid).toBe(true)
        await lease.release()
      })

      test('the client refuses it as waitMs, but for Infinity', () => {
        for (const [value, words] of FINITE) {
          const make = () => new Holdfast({ redis: {}, waitMs: value as number })
          expect(make).toThrow(words)
        }
      })

      test.each(['leaseMs', 'commandTimeoutMs', 'outageMs', 'counterTtlMs'])(
        'the client refuses it as %s',
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

    test('two ways to keep counters at once are refused', () => {
      const make = () => new Holdfast({ redis: {}, keepCounters: true, counterTtlMs: 60_000 })
      expect(make).toThrow(InvalidArgumentError)
      expect(make).toThrow('either `keepCounters` or `counterTtlMs`')
    })

    describe('as options', () => {
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
      ])('%s is refused, and named', async (_, form, words) => {
        await refused(form(newLock()), words)
      })

      test.each<[string, object, string]>([
        ['renew that is no choice', { renew: 1 }, '`renew` must be true or false; got 1'],
        ['renew of null', { renew: null }, 'got null'],
        ['maxHoldMs of a fixed lease', { leaseMs: 900, maxHoldMs: 5_000 }, 'got 5000 with a fixed'],
        ['maxHoldMs too short', { maxHoldMs: 9 }, '`maxHoldMs` must be at least 10'],
        ['maxHoldMs that is no number', { maxHoldMs: '5000' }, 'got "5000"'],
        ['a renewed lease beyond all timers', { leaseMs: 2 ** 31, renew: true }, 'got 2147483648'],
      ])('%s is refused', async (_, options, words) => {
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
      ])('%s is no signal', async (_, signal, words) => {
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
      ])('%s is no owner', (_, owner) => {
        const client = stage.world.newClient()
        const make = () => stage.getLock(client, 'it', { owner } as Any)
        expect(make).toThrow(InvalidArgumentError)
        expect(make).toThrow('owner')
      })

      test('the owner of another client is none of this one', () => {
        const [one, two] = [stage.world.newClient(), stage.world.newClient()]
        expect(() => stage.getLock(one, 'it', { owner: two.owner() })).toThrow(InvalidArgumentError)
      })

      test.each<[string, unknown]>([
        ['an unknown one', { ownr: 1 }],
        ['a string', 'owner'],
        ['null', null],
      ])('of getLock %s is refused', (_, options) => {
        const client = stage.world.newClient()
        expect(() => stage.getLock(client, 'it', options as Any)).toThrow(InvalidArgumentError)
      })

      test.each<[string, object, string]>([
        ['an unknown one', { retries: 3 }, 'retries'],
        ['a prefix that is no string', { keyPrefix: 5 }, '5'],
        ['a watchdog thread that is no choice', { watchdogThread: 'yes' }, 'watchdogThread'],
        ['a watchdog thread of null', { watchdogThread: null }, 'watchdogThread'],
        ['an unknown one of the thread', { watchdogThread: { silence: 1 } }, 'silence'],
        ['a bad one of the thread', { watchdogThread: { silenceLimitMs: -1 } }, 'got -1'],
      ])('of the client %s is refused, and named', (_, options, words) => {
        const make = () => new Holdfast({ redis: {}, ...options })
        expect(make).toThrow(InvalidArgumentError)
        expect(make).toThrow(words)
      })

      test.each([undefined, null, 'fn', {}])('using(%p) is refused before it locks', async (fn) => {
        await refused(newLock().using(fn), 'function')
      })
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
      '%s in the place of the lock is refused, and stays as it is',
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

    test('a counter of another type is refused, and nothing is half done', async () => {
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

  test('is refused before anything is sent, also on a lock that is held', async () => {
    const lock: HoldfastLock = newLock()
    const lease = await lock.lock()
    await refused((lock as Any).tryLock(-5), 'got -5')
    expect(await stage.holds('it')).toEqual([1])
    await lease.release()
  })
})
