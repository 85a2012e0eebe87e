import { linearize } from './checkers/linearizable.mjs'
import { MODELS, mutex, permits } from './checkers/models.mjs'
import { shrink, shrinkFromTheEnd } from './checkers/shrink.mjs'

interface Op {
  kind: 'acquire' | 'release'
  hold: string
  from: number
  to: number
  token?: number
  permits?: number
  held?: boolean
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
  // Of one that never came back it is not known what it found.
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
const all: [string, Model][] = Object.entries(MODELS)

describe.each(all)('a %s', (_, model) => {
  test('is held by one after another', () => {
    passes(model, [acquire('a', 0, 1, 1), release('a', 2, 3), acquire('b', 4, 5, 2)])
  })

  test('is not held by two at once', () => {
    isConvicted(model, [acquire('a', 0, 1, 1), acquire('b', 2, 3, 2)])
    isConvicted(model, [acquire('a', 0, 3, 1), acquire('b', 2, 4, 2), release('a', 5, 6)])
  })

  test('may change hands at any moment of a release', () => {
    passes(model, [acquire('a', 0, 1, 1), release('a', 2, 9), acquire('b', 3, 4, 2)])
    isConvicted(model, [acquire('a', 0, 1, 1), acquire('b', 2, 3, 2), release('a', 4, 9)])
  })

  test('is released by its owner only, and once', () => {
    isConvicted(model, [acquire('a', 0, 1, 1), release('b', 2, 3)])
    isConvicted(model, [acquire('a', 0, 1, 1), release('a', 2, 3), release('a', 4, 5)])
  })

  test('is gone only for a reason', () => {
    const gone = [acquire('a', 0, 1, 1), release('a', 7, 8, false)]
    isConvicted(model, gone)
    passes(model, gone, [{ hold: 'a', from: 5, to: NEVER }])
    isConvicted(model, gone, [{ hold: 'a', from: 9, to: NEVER }])
  })

  test('is another’s when its lease is over, and not before', () => {
    const two = [acquire('a', 0, 1, 1), acquire('b', 4, 5, 2), release('b', 6, 7)]
    passes(model, two, [{ hold: 'a', from: 4, to: NEVER }])
    isConvicted(model, two, [{ hold: 'a', from: 6, to: NEVER }])
    // A grant that was not heard of until its lease was over.
    const late = [acquire('a', 0, 8, 1), acquire('b', 4, 5, 2)]
    passes(model, late, [{ hold: 'a', from: 3, to: NEVER }])
    isConvicted(model, late, [{ hold: 'a', from: 9, to: NEVER }])
    // One that could end from before it was asked for: its client was closing.
    passes(
      model,
      [acquire('a', 4, 8, 1), acquire('b', 5, 6, 2)],
      [{ hold: 'a', from: 2, to: NEVER }],
    )
  })

  test('is taken away between two times, and not after them', () => {
    const two = [acquire('a', 0, 1, 1), acquire('b', 6, 7, 2)]
    passes(model, two, [{ hold: 'a', from: 3, to: 4 }])
    isConvicted(model, [...two, release('a', 8, 9)], [{ hold: 'a', from: 3, to: 4 }])
    passes(model, [...two, release('a', 8, 9, false)], [{ hold: 'a', from: 3, to: 4 }])
  })

  test('is free or not after a release of which nobody knows', () => {
    const two = [acquire('a', 0, 1, 1), release('a', 2, NEVER), acquire('b', 8, 9, 2)]
    passes(model, two)
    passes(model, two.slice(0, 2))
    isConvicted(model, [acquire('a', 0, 1, 1), acquire('b', 5, 6, 2), release('a', 7, NEVER)])
  })

  test('was acquired or not where nobody knows', () => {
    passes(model, [acquire('a', 0, NEVER), acquire('b', 2, 3, 1)])
    passes(model, [acquire('a', 0, NEVER), release('a', 2, 3)])
    isConvicted(model, [acquire('a', 4, NEVER), release('a', 2, 3)])
    isConvicted(model, [acquire('a', 0, NEVER), acquire('b', 2, 3, 1), release('a', 4, 5)])
  })
})

describe('tokens', () => {
  const falling = [acquire('a', 0, 1, 5), release('a', 2, 3), acquire('b', 4, 5, 4)]
  const twice = [acquire('a', 0, 1, 5), release('a', 2, 3), acquire('b', 4, 5, 5)]

  test.each([falling, twice])('must rise in fenced models, and in no other', (...operations) => {
    for (const model of [fenced, reentrantFenced]) isConvicted(model, operations)
    for (const model of [plain, reentrant]) passes(model, operations)
  })

  test('tell the order of those who asked at once', () => {
    const twoAtOnce = [acquire('a', 0, 9, 5), release('a', 10, 11), acquire('b', 0, 3, 4)]
    passes(fenced, [...twoAtOnce, release('b', 4, 5)])
    isConvicted(fenced, [acquire('a', 0, 9, 4), acquire('b', 0, 3, 5), release('b', 4, 5)])
  })

  test('that nobody knows of are any', () => {
    passes(fenced, [acquire('a', 0, 1), release('a', 2, 3), acquire('b', 4, 5, 4)])
  })
})

describe('re-entry', () => {
  const twice = [acquire('a', 0, 1, 1), acquire('a', 2, 3, 1)]

  test('is for re-entrant models', () => {
    for (const model of [plain, fenced]) isConvicted(model, twice)
    for (const model of [reentrant, reentrantFenced]) passes(model, twice)
  })

  test('has a limit where there is one', () => {
    const [first, second] = twice as [Op, Op]
    passes(mutex({ most: 2, fenced: true }), twice)
    isConvicted(mutex({ most: 2, fenced: true }), [first, second, acquire('a', 4, 5, 1)])
  })

  test('is undone as often as it was done', () => {
    const once = [...twice, release('a', 4, 5), acquire('b', 8, 9, 2)]
    for (const model of [reentrant, reentrantFenced]) {
      isConvicted(model, once)
      passes(model, [...once, release('a', 6, 7)])
    }
  })

  test('is under the same token', () => {
    const other = [acquire('a', 0, 1, 1), acquire('a', 2, 3, 2)]
    isConvicted(reentrantFenced, other)
    passes(reentrant, other)
  })
})

describe('permits', () => {
  const some = (hold: string, from: number, to: number, count: number): Op => {
    return { ...acquire(hold, from, to), permits: count }
  }

  test('are held by several, and by no more than there are', () => {
    passes(permits(3), [some('a', 0, 1, 2), some('b', 2, 3, 1)])
    isConvicted(permits(3), [some('a', 0, 1, 2), some('b', 2, 3, 2)])
    passes(
      permits(3),
      [some('a', 0, 1, 2), some('b', 2, 3, 2)],
      [{ hold: 'a', from: 2, to: NEVER }],
    )
  })

  test('are given back by whoever has them', () => {
    passes(permits(1), [acquire('a', 0, 1), release('a', 2, 3), acquire('b', 4, 5)])
    isConvicted(permits(2), [acquire('a', 0, 1), release('b', 2, 3)])
    const half = [some('a', 0, 1, 2), release('a', 2, 3), some('b', 4, 5, 1)]
    passes(permits(2), half)
    isConvicted(permits(2), [...half, some('c', 6, 7, 1)])
  })
})

test('what has too many states is undecided, and not right', () => {
  const many = Array.from({ length: 12 }, (_, i) => acquire(`a${i}`, 0, 100))
  const gone = many.map(({ hold }) => ({ hold, from: 1, to: NEVER }))
  const released = many.map(({ hold }) => release(hold, 200, 201, false))
  expect(verdict(permits(20), [...many, ...released], gone, 50)).toBe('undecided')
})

test('many who waited while locks could be lost are decided', () => {
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

test('what is kept does not grow with the history', () => {
  const operations: Op[] = []
  const endings: Ending[] = []
  for (let i = 0; i < 3_000; i++) {
    const at = 10 * i
    operations.push(acquire(`a${i}`, at - 500, at + 1, i + 1))
    // Of every tenth release nobody knows; every seventh holder dies.
    if (i % 7 === 0) endings.push({ hold: `a${i}`, from: at + 2, to: NEVER })
    else operations.push(release(`a${i}`, at + 2, i % 10 === 0 ? NEVER : at + 3))
    operations.push(acquire(`never${i}`, at, NEVER))
  }
  const found = linearize(fenced as never, { operations, endings } as never)
  expect(found.verdict).toBe('linearizable')
  expect(found.widest).toBeLessThan(50)
})

describe('compared with trying all orders', () => {
  /** Whether some order of some of them explains all, tried one by one. */
  function isExplained(model: Model, operations: Op[], endings: Ending[]): boolean {
    const { step, end } = model as {
      step(state: unknown, op: Op): unknown
      end(state: unknown, hold: string): unknown
    }
    // At any time: the state, what is still to be done, and the earliest moment for it.
    const go = (state: unknown, rest: Op[], at: number): boolean => {
      if (rest.every(({ to }) => to === NEVER)) return true
      const latest = Math.min(...rest.map(({ to }) => to))
      for (const op of rest) {
        const now = Math.max(at, op.from)
        const next = now > latest ? undefined : step(state, op)
        if (
          next !== undefined &&
          go(
            next,
            rest.filter((one) => one !== op),
            now,
          )
        )
          return true
      }
      for (const ending of endings) {
        const now = Math.max(at, ending.from)
        const next = now > latest || now > ending.to ? undefined : end(state, ending.hold)
        if (next !== undefined && go(next, rest, now)) return true
      }
      return false
    }
    return go(model.first, operations, Number.NEGATIVE_INFINITY)
  }

  const models: [string, Model][] = [...all, ['lock of two permits', permits(2)]]
  test.each(models)('a %s is judged the same', (_, model) => {
    let seed = 7
    const below = (n: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((seed / 2 ** 32) * n)
    }
    const verdicts = { linearizable: 0, convicted: 0 }
    for (let i = 0; i < 1_000; i++) {
      const operations: Op[] = []
      const endings: Ending[] = []
      for (const hold of ['a', 'b', 'c']) {
        // One thing after another, as a caller does; the last one may never come back.
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
      const expected = isExplained(model, operations, endings) ? 'linearizable' : 'convicted'
      verdicts[expected] += 1
      const found = verdict(model, operations, endings)
      expect({ i, found, operations, endings }).toEqual({ i, found: expected, operations, endings })
    }
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(50)
  })
})

describe('the shortest part', () => {
  const needs = (some: number[]) => some.includes(17) && some.includes(3)
  const numbers = Array.from({ length: 100 }, (_, i) => i)

  test('has nothing that can be left out', () => {
    expect(shrink(numbers, needs)).toEqual([3, 17])
    expect(shrinkFromTheEnd(numbers, needs)).toEqual([3, 17])
    expect(shrinkFromTheEnd(numbers.slice(0, 18), needs)).toEqual([3, 17])
  })

  test('may be all', () => {
    expect(shrink([1, 2, 3], (some: number[]) => some.length === 3)).toEqual([1, 2, 3])
    expect(shrink([1], () => true)).toEqual([1])
  })
})
