import { runInNewContext } from 'node:vm'
import { InvalidArgumentError } from '../../src/index.ts'
import { boolean, waitMs, wholeMs } from '../../src/options/input.ts'
import { or, shape } from '../../src/options/shape.ts'
import { createMemoryServer } from '../../src/testing.ts'

const read = shape(
  'The options of it()',
  { waitMs: or(waitMs('Use tryIt().'), Infinity), ttlMs: wholeMs, again: or(boolean, false) },
  'it.',
)

const otherRealm = (code: string): unknown => runInNewContext(`(${code})`)

class Accessors {
  get ttlMs() {
    return 5
  }
}

const nothing = { waitMs: Infinity, ttlMs: undefined, again: false }

test.each<[string, unknown, object]>([
  ['no option', {}, nothing],
  ['some options', { again: true, waitMs: 1 }, { ...nothing, again: true, waitMs: 1 }],
  ['options that are undefined', { waitMs: undefined, ttlMs: undefined }, nothing],
  [
    'an object without a prototype',
    Object.assign(Object.create(null), { ttlMs: 1 }),
    { ...nothing, ttlMs: 1 },
  ],
  ['inherited options', Object.create({ ttlMs: 2, other: 3 }), { ...nothing, ttlMs: 2 }],
  ['accessors of a class', new Accessors(), { ...nothing, ttlMs: 5 }],
  [
    'an option that is not enumerable',
    Object.defineProperty({}, 'ttlMs', { value: 3 }),
    { ...nothing, ttlMs: 3 },
  ],
  [
    'no other name that is not enumerable',
    Object.defineProperty({ ttlMs: 3 }, 'other', { value: 4 }),
    { ...nothing, ttlMs: 3 },
  ],
  ['a proxy', new Proxy({ ttlMs: 4 }, {}), { ...nothing, ttlMs: 4 }],
  ['a frozen object', Object.freeze({ ttlMs: 4 }), { ...nothing, ttlMs: 4 }],
  ['an object of another realm', otherRealm('{ ttlMs: 6 }'), { ...nothing, ttlMs: 6 }],
  [
    'a built-in object with an option',
    Object.assign(new Map(), { ttlMs: 7 }),
    { ...nothing, ttlMs: 7 },
  ],
])('a shape reads %s', (_, options, values) => {
  expect(read(options)).toEqual(values)
})

test('valid options of a plain object are read once', () => {
  let count = 0
  const options = {
    get ttlMs() {
      return ++count
    },
  }
  expect(read(options).ttlMs).toBe(1)
  expect(count).toBe(1)
})

test.each<[string, unknown, string]>([
  ['an array', [], 'an object (Array)'],
  ['an array of values', [5], 'an object (Array)'],
  ['a map', new Map([['ttlMs', 5]]), 'an object (Map)'],
  ['a signal', new AbortController().signal, 'an object (AbortSignal)'],
  ['a function', () => ({ ttlMs: 5 }), 'a function'],
  ['an array of another realm', otherRealm('[]'), 'an object (Array)'],
])('a shape refuses %s', (_, options, shown) => {
  const message = 'The options of it() must be an object with `waitMs`, `ttlMs` or `again`; got '
  expect(() => read(options)).toThrow(new InvalidArgumentError(`${message}${shown}.`))
})

test('a lock or a lease is not an object of options, even though a lease has a signal', async () => {
  const client = createMemoryServer().newClient()
  const lock = client.getLock('it')
  const lease = await lock.lock()
  const readSignal = shape('The options', { signal: (value: unknown) => value })
  for (const handle of [lock, lease]) {
    expect(() => readSignal(handle)).toThrow(/must be an object with `signal`; got an object/)
  }
  await lease.release()
  await client.close()
})

test('each call returns a new object', () => {
  expect(read({})).not.toBe(read({}))
})

test.each<[unknown, string]>([
  [null, 'The options of it() must be an object with `waitMs`, `ttlMs` or `again`; got null.'],
  [5, 'The options of it() must be an object with `waitMs`, `ttlMs` or `again`; got 5.'],
  [{ again: 1 }, '`it.again` must be true or false; got 1.'],
  [
    { waitMs: 0 },
    '`it.waitMs` must be a positive whole number of milliseconds; got 0. Use tryIt().',
  ],
  [
    new (class extends Accessors {
      waitMs = 'x'
    })(),
    '`it.waitMs` must be a positive whole number of milliseconds; got "x".',
  ],
])('a shape refuses %p', (options, message) => {
  expect(() => read(options)).toThrow(new InvalidArgumentError(message))
})

test.each([
  { ttlMs: -1, waitms: 5 },
  { waitms: 5, ttlMs: -1 },
])('an unknown name is the first error, in any order of the options', (options) => {
  const message = 'There is no option `waitms` here. There are: waitMs, ttlMs, again.'
  expect(() => read(options)).toThrow(new InvalidArgumentError(message))
})

test('the error for several invalid options names the option that is declared first', () => {
  expect(() => read({ again: 1, ttlMs: -1 })).toThrow('`it.ttlMs`')
})
