import { only } from '../../src/servers/redis/scripts/convert.ts'
import * as fair from '../../src/servers/redis/scripts/fair.generated.ts'
import * as lock from '../../src/servers/redis/scripts/lock.generated.ts'
import * as quorum from '../../src/servers/redis/scripts/quorum.generated.ts'
import { digits, pairs, whole, wholeOrNone } from '../../src/servers/redis/scripts/reading.ts'
import * as semaphore from '../../src/servers/redis/scripts/semaphore.generated.ts'
import type { Terms } from '../../src/servers/redis/scripts/terms.ts'

const terms: Terms = {
  notAfterUs: 17,
  counterMs: 60_000,
  publish: 'PUBLISH',
  runId: 'run',
  birth: 'birth',
  claimMs: 1_500,
  aliveMs: 3_000,
  inbox: 'inbox:',
}
const names = { lock: 'it', counter: 'counter', channel: 'channel' }
const CHANNELS = { channel: 'channel', tickets: 'tickets' }
const first = { owner: 'c:1', leaseMs: 10_000 }

describe('arguments by name', () => {
  test('arguments are sent in the order of the header, and omitted arguments at the end are not sent', () => {
    const usual = ['c:1', 10_000, 17, 60_000]
    expect(lock.acquire.argsOf(first, terms, names)).toEqual(usual)
    expect(lock.acquire.argsOf({ ...first, holds: 1, reserve: 0 }, terms, names)).toEqual(usual)
    expect(lock.acquire.argsOf({ ...first, reserve: 63 }, terms, names)).toEqual([...usual, 1, 63])
    expect(lock.acquire.argsOf({ ...first, holds: 2 }, terms, names)).toEqual([...usual, 2])
    expect(lock.acquire.argsOf({ ...first, holds: 2, token: 5 }, terms, names)).toEqual([
      ...usual,
      2,
      0,
      5,
    ])
  })

  test('an optional term is sent only with the argument before it', () => {
    const release = { owner: 'c:1', token: 5 }
    const usual = ['c:1', 5, 'channel', 'PUBLISH']
    expect(lock.release.argsOf({ ...release, holds: 0 }, terms, names)).toEqual(usual)
    expect(lock.release.argsOf({ ...release, holds: 2 }, terms, names)).toEqual([...usual, 2, 17])
  })

  test('a boolean argument is sent as 1 or as an empty text', () => {
    expect(quorum.enrol.argsOf({ restMs: 20_000, durable: true }, terms, { birth: '' })).toEqual([
      'run',
      20_000,
      1,
    ])
    const attempt = { ...first, ticket: '', label: 'shop' }
    const queue = { ...names, queue: 'queue', waiting: 'waiting' }
    expect(fair.acquire.argsOf({ ...attempt, listens: true }, terms, queue)[4]).toBe(1)
    expect(fair.acquire.argsOf({ ...attempt, listens: false }, terms, queue)[4]).toBe('')
  })

  test('lists are sent last, and a list in a list is sent with its length', () => {
    const owners = ['c:1', 'c:2']
    expect(lock.renew.argsOf({ leaseMs: 5, owners }, terms, { keys: [] })).toEqual([
      5,
      60_000,
      'c:1',
      'c:2',
    ])
    const places = [[{ owner: 'c:1', ticket: '7', claimMs: 9 }], []]
    const beat = { client: 'c', listens: true, label: 'shop', places }
    expect(fair.heartbeat.argsOf(beat, terms, { locks: [] }).slice(8)).toEqual([
      1,
      'c:1',
      '7',
      9,
      0,
    ])
  })
})

describe('keys by name', () => {
  test('keys are sent in the order of the header, an optional key only if it is given, and a list last', () => {
    expect(lock.release.keysOf(names)).toEqual(['it', 'counter'])
    expect(lock.forceRelease.keysOf(names)).toEqual(['it', 'counter'])
    expect(lock.forceRelease.keysOf({ ...names, forced: 'f' })).toEqual(['it', 'counter', 'f'])
    expect(lock.renew.keysOf({ keys: ['a', 'b'] })).toEqual(['a', 'b'])
    const four = { semaphore: 'it', queue: 'queue', alive: 'alive', kind: 'kind' }
    const stored = { ...four, request: 'r', answered: ['a', 'b'], ...CHANNELS }
    expect(semaphore.set.keysOf(stored)).toEqual(['it', 'queue', 'alive', 'kind', 'r', 'a', 'b'])
  })
})

describe('a reply', () => {
  test.each(['0x10', '0b1', '1e3', '1.5e3', ' 5 ', '5\n', '+5', '5.0', '', '--5'])(
    'a number written as %j is refused',
    (text) => {
      expect(() => whole(text, -2)).toThrow('This is not a valid answer of a script.')
      expect(wholeOrNone(text, -2)).toBeUndefined()
      expect(() => digits(text)).toThrow('This is not a valid answer of a script.')
    },
  )

  test.each([
    ['17', 17],
    ['-2', -2],
    ['1790012345678912', 1_790_012_345_678_912],
    ['1.7e+15', 1_700_000_000_000_000],
  ])('a number written as %j is read', (text, number) => {
    expect(whole(text, -2)).toBe(number)
    expect(wholeOrNone(text, -2)).toBe(number)
  })

  test('a time with an exponent is kept as plain digits', () => {
    expect(digits('1.7e+15')).toBe('1700000000000000')
  })

  test('a reply is read as the header declares it', () => {
    expect(lock.acquire.read(['granted', '17', 3])).toEqual({
      kind: 'granted',
      token: 17,
      reserved: 3,
    })
    expect(lock.acquire.read(['granted', ''])).toEqual({ kind: 'granted', token: 0, reserved: 0 })
    expect(lock.acquire.read(['held', -1, 'c:1', 9])).toEqual({
      kind: 'held',
      ttlMs: Infinity,
      holder: 'c:1',
      ageMs: 9,
    })
    expect(lock.acquire.read(['held', 1, 'c:1', ''])).toMatchObject({ ageMs: null })
    expect(quorum.vote.read(['forgot', ''])).toEqual({ kind: 'forgot', sinceUs: null })
    expect(fair.acquire.read(['queued', '9', '', -1, 1, '', '', 3])).toEqual({
      kind: 'queued',
      ticket: '9',
      lastToken: 0,
      ttlMs: Infinity,
      first: true,
      holder: '',
      ageMs: null,
      position: 3,
    })
    const answers = [[-2, '', '', 'c:1', 0, 'c:1'], ['WRONGTYPE']]
    expect(fair.heartbeat.read(['done', answers]).answers).toEqual([
      { ttlMs: 'gone', lastToken: 0, first: '', granted: 'c:1', missing: 0, holder: 'c:1' },
      'WRONGTYPE',
    ])
    expect(lock.peek.read(['', '0', -2, ''])).toEqual({
      holder: null,
      holds: 0,
      ttlMs: 'gone',
      token: null,
    })
    expect(lock.renew.read([7, -1, -2, 'x', -3])).toEqual([
      7,
      Infinity,
      'gone',
      undefined,
      undefined,
    ])
    expect(quorum.agree.read(1)).toBe(true)
  })

  test('a narrowed binding refuses the answers that its caller cannot get', () => {
    const { read } = only(lock.release, 'freed', 'gone')
    expect(read(['freed', 2])).toEqual({ kind: 'freed', listeners: 2 })
    expect(read(['gone'])).toEqual({ kind: 'gone' })
    expect(() => read(['kept'])).toThrow('This is not a valid answer of a script.')
  })

  test.each<[string, (reply: unknown) => unknown, unknown[]]>([
    [
      'acquire',
      lock.acquire.read,
      [
        ['granted', '17', 3, 4],
        ['granted', 0],
        ['held', -2],
      ],
    ],
    [
      'acquire',
      lock.acquire.read,
      [
        ['forgot', ''],
        ['late', '5'],
        ['gone', 1],
        ['granted', '1.5'],
      ],
    ],
    ['vote', quorum.vote.read, [['forgot'], ['forgot', -1], ['queued', '9', '', -1, 1]]],
    ['release', lock.release.read, [['freed'], ['freed', -1], ['kept', 1], ['granted', 'c:1', 1]]],
    [
      'handOver',
      lock.handOver.read,
      [
        ['yielded', 0],
        ['granted', ''],
        ['granted', '17', -1],
      ],
    ],
    [
      'acquireAll',
      lock.acquireAll.read,
      [
        ['held', -3, 1],
        ['held', 5, 0],
        ['granted', '17', 1],
      ],
    ],
    [
      'inspect',
      lock.inspect.read,
      [
        ['', '0', -2, ''],
        ['', '0', -2, '', 0, 0, [], ['c'], 0],
      ],
    ],
    [
      'peek',
      lock.peek.read,
      [
        ['', '0', -2],
        ['', '0', -3, ''],
        ['c:1', '1', 5, '17', 0],
      ],
    ],
    ['forceRelease', lock.forceRelease.read, [2, -1, [1], 'yes']],
    [
      'fair acquire',
      fair.acquire.read,
      [
        ['queued', '0', '', -1, 1],
        ['queued', '9', '', -1, 2],
      ],
    ],
    ['heartbeat', fair.heartbeat.read, [['done', [[-2, '', '', '']]], ['done', 'x'], ['done']]],
    ['fair release', fair.release.read, [['granted', '', 5], ['granted', 'c:1'], ['kept']]],
    ['restore', quorum.restore.read, [['granted', 1], ['held', 1], 'held']],
    ['agree', quorum.agree.read, [2, [1]]],
    ['enrol', quorum.enrol.read, ['', 'soon', [5], -1]],
  ])('a reply of %s that the header does not declare is refused', (_, read, replies) => {
    for (const reply of [...replies, null, undefined, 'what', {}, [], [null], ['maybe', 1]]) {
      expect(() => read(reply)).toThrow(TypeError)
    }
  })
})

test.each([
  ['a symbol', Symbol('1')],
  ['an object without a prototype', Object.create(null)],
  ['a list', [1]],
])('a reply that is %s in place of a number or a text is refused', (_, value) => {
  expect(() => whole(value, 0)).toThrow('This is not a valid answer of a script.')
  expect(() => pairs([['owner', value]])).toThrow('This is not a valid answer of a script.')
})
