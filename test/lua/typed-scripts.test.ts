import * as fair from '../../src/servers/redis/scripts/fair.generated.ts'
import * as lock from '../../src/servers/redis/scripts/lock.generated.ts'
import * as quorum from '../../src/servers/redis/scripts/quorum.generated.ts'
import { digits, pairs, whole, wholeOrNone } from '../../src/servers/redis/scripts/reading.ts'
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
const names = { channel: 'channel' }
const first = { owner: 'c:1', leaseMs: 10_000 }

describe('arguments by name', () => {
  test('arguments are sent in the order of the header, and omitted arguments at the end are not sent', () => {
    const usual = ['c:1', 10_000, 17, 60_000]
    expect(lock.acquireArgs(first, terms)).toEqual(usual)
    expect(lock.acquireArgs({ ...first, holds: 1, reserve: 0 }, terms)).toEqual(usual)
    expect(lock.acquireArgs({ ...first, reserve: 63 }, terms)).toEqual([...usual, 1, 63])
    expect(lock.acquireArgs({ ...first, holds: 2 }, terms)).toEqual([...usual, 2])
    expect(lock.acquireArgs({ ...first, holds: 2, token: 5 }, terms)).toEqual([...usual, 2, 0, 5])
  })

  test('an optional term is sent only with the argument before it', () => {
    const release = { owner: 'c:1', token: 5 }
    const usual = ['c:1', 5, 'channel', 'PUBLISH']
    expect(lock.releaseArgs({ ...release, holds: 0 }, terms, names)).toEqual(usual)
    expect(lock.releaseArgs({ ...release, holds: 2 }, terms, names)).toEqual([...usual, 2, 17])
  })

  test('a boolean argument is sent as 1 or as an empty text', () => {
    expect(quorum.enrolArgs({ restMs: 20_000, durable: true }, terms)).toEqual(['run', 20_000, 1])
    const attempt = { ...first, ticket: '', label: 'shop' }
    expect(fair.acquireArgs({ ...attempt, listens: true }, terms)[4]).toBe(1)
    expect(fair.acquireArgs({ ...attempt, listens: false }, terms)[4]).toBe('')
  })

  test('lists are sent last, and a list in a list is sent with its length', () => {
    const owners = ['c:1', 'c:2']
    expect(lock.renewArgs({ leaseMs: 5, owners }, terms)).toEqual([5, 60_000, 'c:1', 'c:2'])
    const places = [[{ owner: 'c:1', ticket: '7', claimMs: 9 }], []]
    const beat = { client: 'c', listens: true, label: 'shop', places }
    expect(fair.heartbeatArgs(beat, terms).slice(8)).toEqual([1, 'c:1', '7', 9, 0])
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
    expect(lock.readAcquire(['granted', '17', 3])).toEqual({
      kind: 'granted',
      token: 17,
      reserved: 3,
    })
    expect(lock.readAcquire(['granted', ''])).toEqual({ kind: 'granted', token: 0, reserved: 0 })
    expect(lock.readAcquire(['held', -1, 'c:1', 9])).toEqual({
      kind: 'held',
      ttlMs: Infinity,
      holder: 'c:1',
      ageMs: 9,
    })
    expect(lock.readAcquire(['held', 1, 'c:1', ''])).toMatchObject({ ageMs: null })
    expect(quorum.readVote(['forgot', ''])).toEqual({ kind: 'forgot', sinceUs: null })
    expect(fair.readAcquire(['queued', '9', '', -1, 1, '', '', 3])).toEqual({
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
    expect(fair.readHeartbeat(['done', answers]).answers).toEqual([
      { ttlMs: 'gone', lastToken: 0, first: '', granted: 'c:1', missing: 0, holder: 'c:1' },
      'WRONGTYPE',
    ])
    expect(lock.readPeek(['', '0', -2, ''])).toEqual({
      holder: null,
      holds: 0,
      ttlMs: 'gone',
      token: null,
    })
    expect(lock.readRenew([7, -1, -2, 'x', -3])).toEqual([
      7,
      Infinity,
      'gone',
      undefined,
      undefined,
    ])
    expect(quorum.readAgree(1)).toBe(true)
  })

  test.each<[string, (reply: unknown) => unknown, unknown[]]>([
    [
      'acquire',
      lock.readAcquire,
      [
        ['granted', '17', 3, 4],
        ['granted', 0],
        ['held', -2],
      ],
    ],
    [
      'acquire',
      lock.readAcquire,
      [
        ['forgot', ''],
        ['late', '5'],
        ['gone', 1],
        ['granted', '1.5'],
      ],
    ],
    ['vote', quorum.readVote, [['forgot'], ['forgot', -1], ['queued', '9', '', -1, 1]]],
    ['release', lock.readRelease, [['freed'], ['freed', -1], ['kept', 1], ['granted', 'c:1', 1]]],
    [
      'handOver',
      lock.readHandOver,
      [
        ['yielded', 0],
        ['granted', ''],
        ['granted', '17', -1],
      ],
    ],
    [
      'acquireAll',
      lock.readAcquireAll,
      [
        ['held', -3, 1],
        ['held', 5, 0],
        ['granted', '17', 1],
      ],
    ],
    [
      'inspect',
      lock.readInspect,
      [
        ['', '0', -2, ''],
        ['', '0', -2, '', 0, 0, [], ['c'], 0],
      ],
    ],
    [
      'peek',
      lock.readPeek,
      [
        ['', '0', -2],
        ['', '0', -3, ''],
        ['c:1', '1', 5, '17', 0],
      ],
    ],
    ['forceRelease', lock.readForceRelease, [2, -1, [1], 'yes']],
    [
      'fair acquire',
      fair.readAcquire,
      [
        ['queued', '0', '', -1, 1],
        ['queued', '9', '', -1, 2],
      ],
    ],
    ['heartbeat', fair.readHeartbeat, [['done', [[-2, '', '', '']]], ['done', 'x'], ['done']]],
    ['fair release', fair.readRelease, [['granted', '', 5], ['granted', 'c:1'], ['kept']]],
    ['restore', quorum.readRestore, [['granted', 1], ['held', 1], 'held']],
    ['agree', quorum.readAgree, [2, [1]]],
    ['enrol', quorum.readEnrol, ['', 'soon', [5], -1]],
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
