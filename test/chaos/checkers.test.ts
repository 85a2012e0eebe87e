import { linearize } from '../../programs/chaos/checkers/linearizable.mjs'
import { MODELS, mutex, permits } from '../../programs/chaos/checkers/models.mjs'
import { shrink, shrinkFromTheEnd } from '../../programs/chaos/checkers/shrink.mjs'
import { isExplained, numbersBelow } from './brute-force.ts'

type Mode = 'read' | 'upgradable' | 'write'

interface Op {
  kind: 'acquire' | 'release'
  hold: string
  from: number
  to: number
  token?: number
  permits?: number
  held?: boolean
  mode?: Mode
  owner?: string
  forgottenBelow?: number
}
interface Ending {
  hold: string
  from: number
  to: number
}
type Model = ReturnType<typeof mutex> | ReturnType<typeof permits>

const NEVER = Number.POSITIVE_INFINITY
const acquire = (hold: string, from: number, to: number, token?: number): Op => {
  return { kind: 'acquire', hold, from, to, ...(token === undefined ? {} : { token }) }
}
const release = (hold: string, from: number, to: number, held = true): Op => {
  // A release without a reply has an unknown result.
  return { kind: 'release', hold, from, to, ...(to === NEVER ? {} : { held }) }
}
const verdict = (model: Model, operations: Op[], endings: Ending[] = [], most?: number) =>
  linearize(model as never, { operations, endings } as never, most === undefined ? {} : { most })
    .verdict
const passes = (model: Model, operations: Op[], endings?: Ending[]) =>
  expect(verdict(model, operations, endings)).toBe('linearizable')
const isConvicted = (model: Model, operations: Op[], endings?: Ending[]) =>
  expect(verdict(model, operations, endings)).toBe('convicted')

const { mutex: plain } = MODELS
const fenced = MODELS['fenced mutex']
const reentrant = MODELS['re-entrant mutex']
const reentrantFenced = MODELS['re-entrant fenced mutex']
const all: [string, Model][] = Object.entries(MODELS).filter(([name]) =>
  name.endsWith('mutex'),
) as never

describe.each(all)('a %s', (_, model) => {
  test('two owners can hold the lock one after another', () => {
    passes(model, [acquire('a', 0, 1, 1), release('a', 2, 3), acquire('b', 4, 5, 2)])
  })

  test('two owners cannot hold the lock at once', () => {
    isConvicted(model, [acquire('a', 0, 1, 1), acquire('b', 2, 3, 2)])
    isConvicted(model, [acquire('a', 0, 3, 1), acquire('b', 2, 4, 2), release('a', 5, 6)])
  })

  test('the lock can pass to another owner at any moment of a release', () => {
    passes(model, [acquire('a', 0, 1, 1), release('a', 2, 9), acquire('b', 3, 4, 2)])
    isConvicted(model, [acquire('a', 0, 1, 1), acquire('b', 2, 3, 2), release('a', 4, 9)])
  })

  test('only the owner can release the lock, and only once', () => {
    isConvicted(model, [acquire('a', 0, 1, 1), release('b', 2, 3)])
    isConvicted(model, [acquire('a', 0, 1, 1), release('a', 2, 3), release('a', 4, 5)])
  })

  test('a release can find the lock gone only if its hold could have ended before', () => {
    const gone = [acquire('a', 0, 1, 1), release('a', 7, 8, false)]
    isConvicted(model, gone)
    passes(model, gone, [{ hold: 'a', from: 5, to: NEVER }])
    isConvicted(model, gone, [{ hold: 'a', from: 9, to: NEVER }])
  })

  test('another owner can acquire the lock when the lease has ended, and not before', () => {
    const two = [acquire('a', 0, 1, 1), acquire('b', 4, 5, 2), release('b', 6, 7)]
    passes(model, two, [{ hold: 'a', from: 4, to: NEVER }])
    isConvicted(model, two, [{ hold: 'a', from: 6, to: NEVER }])
    // A grant whose reply came after the end of its lease.
    const late = [acquire('a', 0, 8, 1), acquire('b', 4, 5, 2)]
    passes(model, late, [{ hold: 'a', from: 3, to: NEVER }])
    isConvicted(model, late, [{ hold: 'a', from: 9, to: NEVER }])
    // A hold that could end before its request, because its client was closing.
    passes(
      model,
      [acquire('a', 4, 8, 1), acquire('b', 5, 6, 2)],
      [{ hold: 'a', from: 2, to: NEVER }],
    )
  })

  test('a holder that lost the lock between two times cannot release it after them', () => {
    const two = [acquire('a', 0, 1, 1), acquire('b', 6, 7, 2)]
    passes(model, two, [{ hold: 'a', from: 3, to: 4 }])
    isConvicted(model, [...two, release('a', 8, 9)], [{ hold: 'a', from: 3, to: 4 }])
    passes(model, [...two, release('a', 8, 9, false)], [{ hold: 'a', from: 3, to: 4 }])
  })

  test('after a release without a reply, another owner may acquire the lock, but not before that release', () => {
    const two = [acquire('a', 0, 1, 1), release('a', 2, NEVER), acquire('b', 8, 9, 2)]
    passes(model, two)
    passes(model, two.slice(0, 2))
    isConvicted(model, [acquire('a', 0, 1, 1), acquire('b', 5, 6, 2), release('a', 7, NEVER)])
  })

  test('an acquisition without a reply may or may not have acquired the lock', () => {
    passes(model, [acquire('a', 0, NEVER), acquire('b', 2, 3, 1)])
    passes(model, [acquire('a', 0, NEVER), release('a', 2, 3)])
    isConvicted(model, [acquire('a', 4, NEVER), release('a', 2, 3)])
    isConvicted(model, [acquire('a', 0, NEVER), acquire('b', 2, 3, 1), release('a', 4, 5)])
  })
})

describe('tokens', () => {
  const falling = [acquire('a', 0, 1, 5), release('a', 2, 3), acquire('b', 4, 5, 4)]
  const twice = [acquire('a', 0, 1, 5), release('a', 2, 3), acquire('b', 4, 5, 5)]

  test.each([falling, twice])(
    'tokens must rise in fenced models, and in no other model',
    (...operations) => {
      for (const model of [fenced, reentrantFenced]) isConvicted(model, operations)
      for (const model of [plain, reentrant]) passes(model, operations)
    },
  )

  test('tokens decide the order of two requests at once', () => {
    const twoAtOnce = [acquire('a', 0, 9, 5), release('a', 10, 11), acquire('b', 0, 3, 4)]
    passes(fenced, [...twoAtOnce, release('b', 4, 5)])
    isConvicted(fenced, [acquire('a', 0, 9, 4), acquire('b', 0, 3, 5), release('b', 4, 5)])
  })

  test('an unknown token can have any value', () => {
    passes(fenced, [acquire('a', 0, 1), release('a', 2, 3), acquire('b', 4, 5, 4)])
  })
})

describe('re-entry', () => {
  const twice = [acquire('a', 0, 1, 1), acquire('a', 2, 3, 1)]

  test('re-entry is possible in re-entrant models only', () => {
    for (const model of [plain, fenced]) isConvicted(model, twice)
    for (const model of [reentrant, reentrantFenced]) passes(model, twice)
  })

  test('re-entry has a limit if the model sets a limit', () => {
    const [first, second] = twice as [Op, Op]
    passes(mutex({ most: 2, fenced: true }), twice)
    isConvicted(mutex({ most: 2, fenced: true }), [first, second, acquire('a', 4, 5, 1)])
  })

  test('each re-entry needs its own release', () => {
    const once = [...twice, release('a', 4, 5), acquire('b', 8, 9, 2)]
    for (const model of [reentrant, reentrantFenced]) {
      isConvicted(model, once)
      passes(model, [...once, release('a', 6, 7)])
    }
  })

  test('re-entry keeps the token in fenced models', () => {
    const other = [acquire('a', 0, 1, 1), acquire('a', 2, 3, 2)]
    isConvicted(reentrantFenced, other)
    passes(reentrant, other)
  })
})

describe('permits', () => {
  const some = (hold: string, from: number, to: number, count: number): Op => {
    return { ...acquire(hold, from, to), permits: count }
  }

  test('several holders share the permits, and never hold more permits than exist', () => {
    passes(permits(3), [some('a', 0, 1, 2), some('b', 2, 3, 1)])
    isConvicted(permits(3), [some('a', 0, 1, 2), some('b', 2, 3, 2)])
    passes(
      permits(3),
      [some('a', 0, 1, 2), some('b', 2, 3, 2)],
      [{ hold: 'a', from: 2, to: NEVER }],
    )
  })

  test('only a holder gives permits back, and only as many as its release says', () => {
    passes(permits(1), [acquire('a', 0, 1), release('a', 2, 3), acquire('b', 4, 5)])
    isConvicted(permits(2), [acquire('a', 0, 1), release('b', 2, 3)])
    const half = [some('a', 0, 1, 2), release('a', 2, 3), some('b', 4, 5, 1)]
    passes(permits(2), half)
    isConvicted(permits(2), [...half, some('c', 6, 7, 1)])
  })
})

test('a history with too many states is undecided, not linearizable', () => {
  const many = Array.from({ length: 12 }, (_, i) => acquire(`a${i}`, 0, 100))
  const gone = many.map(({ hold }) => ({ hold, from: 1, to: NEVER }))
  const released = many.map(({ hold }) => release(hold, 200, 201, false))
  expect(verdict(permits(20), [...many, ...released], gone, 50)).toBe('undecided')
})

test('the checker decides a history in which many calls waited while locks could be lost', () => {
  const count = 40
  const operations: Op[] = []
  const endings: Ending[] = []
  for (let i = 0; i < count; i++) {
    const at = 100 + 10 * i
    operations.push(acquire(`a${i}`, 0, at, i + 1), release(`a${i}`, at + 1, at + 2))
    endings.push({ hold: `a${i}`, from: 1, to: 50 })
  }
  const last = (token: number) => acquire('last', 600, 601, token)
  const judge = (more: Op) =>
    linearize(fenced as never, { operations: [...operations, more], endings } as never)
  expect(judge(last(count + 1))).toMatchObject({ verdict: 'linearizable' })
  expect(judge(last(count + 1)).widest).toBeLessThan(3 * count)
  expect(judge(last(count))).toMatchObject({ verdict: 'convicted' })
})

test('the kept states do not grow with the length of the history', () => {
  const operations: Op[] = []
  const endings: Ending[] = []
  for (let i = 0; i < 3_000; i++) {
    const at = 10 * i
    operations.push(acquire(`a${i}`, at - 500, at + 1, i + 1))
    // Every tenth release has an unknown result, and every seventh holder dies.
    if (i % 7 === 0) endings.push({ hold: `a${i}`, from: at + 2, to: NEVER })
    else operations.push(release(`a${i}`, at + 2, i % 10 === 0 ? NEVER : at + 3))
    operations.push(acquire(`never${i}`, at, NEVER))
  }
  const found = linearize(fenced as never, { operations, endings } as never)
  expect(found.verdict).toBe('linearizable')
  expect(found.widest).toBeLessThan(50)
})

describe('a comparison with all orders', () => {
  const models: [string, Model][] = [
    ...all,
    ['lock of two permits', permits(2)],
    ['lock of two permits with tokens', permits(2, { fenced: true })],
  ]
  test.each(models)('a %s gets the verdict that all orders give', (_, model) => {
    const below = numbersBelow(7)
    const verdicts = { linearizable: 0, convicted: 0 }
    for (let i = 0; i < 1_000; i++) {
      const { operations, endings } = randomHistory(below)
      const expected = isExplained(model, operations, endings) ? 'linearizable' : 'convicted'
      verdicts[expected] += 1
      const found = verdict(model, operations, endings)
      expect({ i, found, operations, endings }).toEqual({ i, found: expected, operations, endings })
    }
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(50)
  })

  const readWrites: [string, Model][] = [
    ['read-write lock', MODELS['read-write lock'] as never],
    ['fenced read-write lock', MODELS['fenced read-write lock'] as never],
  ]
  test.each(readWrites)('a %s with modes gets the verdict that all orders give', (_, model) => {
    const below = numbersBelow(11)
    const verdicts = { linearizable: 0, convicted: 0 }
    for (let i = 0; i < 800; i++) {
      const { operations, endings } = randomHistory(below)
      for (const one of operations) {
        if (one.kind === 'release') continue
        one.mode = (['read', 'read', 'upgradable', 'write'] as const)[below(4)] as Mode
        // Two operations sometimes have the same owner, which runs one operation after another.
        const isLater = one.hold === 'c' && one.from > (operations[0]?.to ?? NEVER)
        one.owner = isLater && below(2) === 0 ? 'a' : one.hold
        const forgottenBelow = below(5)
        const isFlagged = one.mode === 'read' && one.to < NEVER && (one.token ?? 0) < forgottenBelow
        if (isFlagged && below(3) === 0) one.forgottenBelow = forgottenBelow
      }
      const expected = isExplained(model, operations, endings) ? 'linearizable' : 'convicted'
      verdicts[expected] += 1
      const found = verdict(model, operations, endings)
      expect({ i, found, operations, endings }).toEqual({ i, found: expected, operations, endings })
    }
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(50)
  })

  /** Three holders. Each holder acquires and mostly releases. */
  function randomHistory(below: (n: number) => number) {
    const operations: Op[] = []
    const endings: Ending[] = []
    for (const hold of ['a', 'b', 'c']) {
      // A caller does one thing after another. Its last call may never return.
      let at = below(6)
      let to = at + 1 + below(6)
      const isHeard = below(8) > 0
      operations.push(acquire(hold, at, isHeard ? to : NEVER, 1 + below(4)))
      if (below(3) === 0)
        endings.push({ hold, from: at - 1 + below(12), to: below(2) ? NEVER : to + 12 })
      if (!isHeard || below(4) === 0) continue
      at = to + 1 + below(5)
      to = at + 1 + below(5)
      operations.push(release(hold, at, below(6) > 0 ? to : NEVER, below(5) > 0))
    }
    return { operations, endings }
  }
})

describe('a read-write lock', () => {
  const model = MODELS['fenced read-write lock'] as never
  const unfenced = MODELS['read-write lock'] as never
  const enter = (hold: string, mode: Mode, from: number, to: number, token: number, owner = hold) =>
    ({ ...acquire(hold, from, to, token), mode, owner }) as Op

  test('many owners can read beside one owner of the upgradable lock', () => {
    passes(model, [
      enter('a', 'read', 0, 1, 1),
      enter('b', 'read', 2, 3, 1),
      enter('c', 'upgradable', 4, 5, 1),
    ])
    isConvicted(model, [enter('a', 'upgradable', 0, 1, 1), enter('b', 'upgradable', 2, 3, 1)])
  })

  test.each<[Mode, Mode]>([
    ['read', 'write'],
    ['write', 'read'],
    ['write', 'write'],
    ['write', 'upgradable'],
    ['upgradable', 'write'],
  ])('two owners cannot hold %s and %s at once, but one owner can', (first, second) => {
    const two = [enter('a', first, 0, 1, 1), enter('b', second, 3, 4, 2)]
    isConvicted(model, two)
    passes(model, two, [{ hold: 'a', from: 2, to: NEVER }])
    passes(model, [...two, release('a', 2, 5)])
    // One owner may hold both.
    const token = second === 'write' ? 2 : 1
    passes(model, [enter('a', first, 0, 1, 1), enter('b', second, 3, 4, token, 'a')])
  })

  test('after a writer has released and still reads, readers can enter, and writers cannot', () => {
    const downgraded = [
      enter('a', 'write', 0, 1, 5),
      enter('a too', 'read', 2, 3, 5, 'a'),
      release('a', 4, 5),
      enter('b', 'read', 6, 7, 5),
    ]
    passes(model, downgraded)
    isConvicted(model, [...downgraded, enter('c', 'write', 8, 9, 6)])
  })

  test('a writer has a higher token; a reader has the token of the last writer or a higher token', () => {
    const write = [enter('a', 'write', 0, 1, 5), release('a', 2, 3)]
    for (const [mode, token, isRight] of [
      ['read', 5, true],
      ['read', 6, true],
      ['read', 4, false],
      ['write', 5, false],
      ['write', 6, true],
    ] as const) {
      const both = [...write, enter('b', mode, 4, 5, token)]
      if (isRight) passes(model, both)
      else isConvicted(model, both)
      passes(unfenced, both)
    }
  })

  test('a reader can have an older token if a server forgot the last writer', () => {
    const reader = { ...enter('b', 'read', 4, 5, 4), forgottenBelow: 6 }
    const all = [enter('a', 'write', 0, 1, 5), release('a', 2, 3), reader, release('b', 6, 7)]
    passes(model, all)
    isConvicted(model, [...all, enter('c', 'write', 8, 9, 5)])
    isConvicted(model, [...all.slice(0, 2), { ...reader, forgottenBelow: 5 }])
  })
})

describe('the shortest part', () => {
  const needs = (some: number[]) => some.includes(17) && some.includes(3)
  const numbers = Array.from({ length: 100 }, (_, i) => i)

  test('the shortest part has nothing that can be left out', () => {
    expect(shrink(numbers, needs)).toEqual([3, 17])
    expect(shrinkFromTheEnd(numbers, needs)).toEqual([3, 17])
    expect(shrinkFromTheEnd(numbers.slice(0, 18), needs)).toEqual([3, 17])
  })

  test('the shortest part can be the whole', () => {
    expect(shrink([1, 2, 3], (some: number[]) => some.length === 3)).toEqual([1, 2, 3])
    expect(shrink([1], () => true)).toEqual([1])
  })
})
