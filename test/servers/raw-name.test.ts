import { Holdfast } from '../../src/index.ts'
import { rawNameOf } from '../../src/servers/raw-name.ts'
import { nameRule } from '../../src/servers/redis/name-rule.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { atEnd } from '../support/lifetime.ts'

/** Returns a client that never connects, and a client without Redis. */
function clients(keyPrefix?: string): Holdfast[] {
  const options = keyPrefix === undefined ? {} : { keyPrefix }
  const all = [
    new Holdfast({ redis: 'redis://127.0.0.1:1', ...options }),
    createMemoryServer().newClient(options),
  ]
  for (const client of all) atEnd(() => client.close())
  return all
}

const GETTERS = [
  'getLock',
  'getFairLock',
  'getReadWriteLock',
  'getCountDownLatch',
  'getSemaphore',
  'getPermitExpirableSemaphore',
  'getLeaderElection',
] as const

test.each(GETTERS)(
  '%s refuses a name that is entirely in braces, and the error names the other form',
  (get) => {
    for (const client of clients()) {
      const make = () => client[get]('{jobs}')
      expect(make).toThrow(
        expect.objectContaining({ code: 'HOLDFAST_INVALID_ARGUMENT', lockName: '{jobs}' }),
      )
      expect(make).toThrow(
        /name "\{jobs\}" is entirely in braces\. .* Use "jobs", .* same cluster slot/,
      )
    }
  },
)

test('masters refuse a name that is entirely in braces', () => {
  const client = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
  atEnd(() => client.close())
  expect(() => client.getLock('{jobs}')).toThrow(/entirely in braces/)
})

test('the key prefix counts as part of the name', () => {
  for (const client of clients('app:')) client.getLock('{jobs}')
  for (const client of clients('{')) {
    expect(() => client.getLock('jobs}')).toThrow(/"\{jobs\}" is entirely in braces.* Use "jobs"/)
  }
})

test.each([
  ['{a}b}', 'a}b'],
  ['{ }', ' '],
])('%p is refused because it has the derived keys of %p', (name, other) => {
  expect(() => rawNameOf(name, '', nameRule(false))).toThrow(`Use ${JSON.stringify(other)}`)
  expect(rawNameOf(other, '', nameRule(false))).toBe(other)
})

test.each(['{a}b', 'a{b}', '{a}{b}', '{a}:{b}', 'a}b{c}', '{a{b}'])(
  '%p has keys of its own and is accepted',
  (name) => {
    expect(rawNameOf(name, '', nameRule(true))).toBe(name)
  },
)
