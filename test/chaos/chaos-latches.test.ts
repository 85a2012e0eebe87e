import { judgeAsModel } from '../../programs/chaos/checkers/as-a-model.mjs'
import { check } from '../../programs/chaos/checkers/check.mjs'
import { History } from '../../programs/chaos/checkers/history.mjs'
import { LATCH } from '../../programs/chaos/checkers/latch-model.mjs'
import { linearize } from '../../programs/chaos/checkers/linearizable.mjs'
import { isExplained, numbersBelow } from './brute-force.ts'

interface Op {
  kind: 'set' | 'inspect' | 'count-down' | 'await' | 'delete' | 'forget'
  from: number
  to: number
  count?: number
  round?: number
  answer?: unknown
  calledAt?: number
  isLoose?: boolean
  expiresAt?: number
}

const NEVER = Number.POSITIVE_INFINITY
const verdict = (operations: Op[]) =>
  linearize(LATCH as never, { operations, endings: [] } as never).verdict
const passes = (...operations: Op[]) => expect(verdict(operations)).toBe('linearizable')
const isConvicted = (...operations: Op[]) => expect(verdict(operations)).toBe('convicted')

/** Returns operations that start at 0, 10, 20 … and last 5 ms each. */
const inTurn = (...some: [Op['kind'], Partial<Op>][]): Op[] =>
  some.map(([kind, more], i) => {
    const from = more.from ?? 10 * i
    return { kind, from, calledAt: from, to: 10 * i + 5, ...more }
  })
const set = (answer: boolean, more: Partial<Op> = {}): [Op['kind'], Partial<Op>] => [
  'set',
  { count: 2, answer, ...more },
]
const inspect = (count: number, round: number | null): [Op['kind'], Partial<Op>] => [
  'inspect',
  { answer: { count, round } },
]
const countDown = (
  answer: unknown,
  round?: number,
  more: Partial<Op> = {},
): [Op['kind'], Partial<Op>] => [
  'count-down',
  { answer, ...(round === undefined ? {} : { round }), ...more },
]
const awaited = (answer: boolean, round?: number): [Op['kind'], Partial<Op>] => [
  'await',
  { answer, ...(round === undefined ? {} : { round }) },
]

describe('a latch', () => {
  test('the first call with a number names the round, if no inspect is known', () => {
    passes(...inTurn(set(true), countDown(1, 7), countDown(0, 7)))
    passes(...inTurn(set(true), awaited(false, 7), countDown(1, 7)))
    passes(...inTurn(set(true), countDown(null, 6), awaited(true, 6), countDown(1, 7)))
    isConvicted(...inTurn(set(true), countDown(1, 7), countDown(0, 8)))
    isConvicted(...inTurn(set(true), awaited(false, 7), awaited(false, 8)))
    isConvicted(...inTurn(set(true), awaited(false, 7), countDown(null, 7)))
  })

  test('a latch is open before its count is set, and when its count is zero', () => {
    passes(...inTurn(awaited(true), set(true), awaited(false), countDown(1), countDown(0)))
    passes(...inTurn(set(true), countDown(1), countDown(0), awaited(true), set(true)))
    isConvicted(...inTurn(set(true), set(true)))
    isConvicted(...inTurn(set(true), countDown(1), awaited(true)))
    isConvicted(...inTurn(set(true), countDown(1), countDown(0), awaited(false)))
    isConvicted(...inTurn(set(false)))
  })

  test('each count-down of a latch counts once', () => {
    isConvicted(...inTurn(set(true), countDown(1), countDown(1)))
    isConvicted(...inTurn(set(true), countDown(0)))
  })

  test('a count-down without a reply may have counted, until it expires', () => {
    const lost = { to: NEVER, answer: undefined }
    passes(...inTurn(set(true), countDown(undefined, undefined, lost), countDown(0)))
    passes(...inTurn(set(true), countDown(undefined, undefined, lost), countDown(1)))
    isConvicted(
      ...inTurn(
        set(true),
        countDown(undefined, undefined, { ...lost, expiresAt: 15 }),
        countDown(1),
        awaited(true),
      ),
    )
  })

  test('each round of a latch has its own number, and a call with the number of another round does not count', () => {
    const first = [set(true), inspect(2, 77), countDown(1, 77), countDown(0, 77), set(true)]
    passes(...inTurn(...(first as never[]), inspect(2, 88) as never, countDown(null, 77) as never))
    isConvicted(...inTurn(...(first as never[]), countDown(1, 77) as never))
    isConvicted(...inTurn(...(first as never[]), inspect(2, 77) as never, inspect(2, 88) as never))
    passes(...inTurn(...(first as never[]), awaited(true, 77) as never))
    isConvicted(...inTurn(...(first as never[]), awaited(false, 77) as never))
    isConvicted(...inTurn(set(true), inspect(2, 77), countDown(null, 77)))
  })

  test('a call without a number counts in the round in which the call was made', () => {
    const later = [set(true), countDown(1), countDown(0), set(true)] as const
    const late = (answer: number, more = {}) =>
      countDown(answer, undefined, { from: 12, to: 45, ...more })
    passes(...inTurn(...later, late(0)))
    isConvicted(...inTurn(...later, late(1)))
    // This answer is possible if the request was made before the call, or if the answer was slow.
    passes(...inTurn(...later, late(1, { calledAt: 37 })))
    passes(...inTurn(...later, late(1, { isLoose: true })))
  })

  test('after a server forgot, a latch can have any state until an answer shows the state', () => {
    const forget: [Op['kind'], Partial<Op>] = ['forget', {}]
    passes(...inTurn(set(true), forget, awaited(true)))
    passes(...inTurn(set(true), forget, set(false)))
    passes(...inTurn(set(true), forget, inspect(1, 7), countDown(0, 7)))
    isConvicted(...inTurn(set(true), forget, inspect(1, 7), countDown(1, 7)))
  })
})

test('a latch gets the verdict that all orders give', () => {
  const below = numbersBelow(5)
  const verdicts = { linearizable: 0, convicted: 0 }
  for (let i = 0; i < 1_500; i++) {
    const operations: Op[] = []
    // One caller runs all operations in order, by the rules. Other callers run operations in between.
    let [left, round] = [0, 0]
    for (let k = 0; k < 3; k++) {
      const from = 6 * k + below(4)
      const to = from + 1 + below(9)
      const named = below(2) === 0 ? { round } : {}
      if (left === 0) {
        operations.push({ kind: 'set', count: 2, answer: true, from, to })
        operations.push({
          kind: 'inspect',
          answer: { count: 2, round: round + 1 },
          from: to,
          to: to + 1 + below(3),
        })
        left = 2
        round += 1
      } else {
        left -= 1
        operations.push({ kind: 'count-down', answer: left, from, to, ...named })
      }
    }
    for (let k = 0; k < 2; k++) {
      const from = below(20)
      const isHeard = below(5) > 0
      const to = isHeard ? from + 1 + below(9) : NEVER
      const named = below(2) === 0 ? { round: 1 + below(2) } : {}
      const kind =
        (['count-down', 'await', 'delete', 'set', 'inspect'] as const)[below(isHeard ? 5 : 1)] ??
        'count-down'
      const answers = {
        'count-down': [0, 1, 'round' in named ? null : 0],
        await: [true, false],
        delete: [true, false],
        set: [true, false],
        inspect: [
          { count: 1, round: 1 },
          { count: 0, round: null },
        ],
      }[kind]
      const answer = isHeard ? answers[below(answers.length)] : undefined
      const more = kind === 'set' || kind === 'inspect' ? {} : named
      const expires = isHeard || below(2) === 0 ? {} : { expiresAt: from + 2 + below(9) }
      const loose = below(6) === 0 ? { isLoose: true } : {}
      operations.push({
        kind,
        answer,
        from,
        to,
        ...more,
        ...expires,
        ...loose,
        ...(kind === 'set' ? { count: 2 } : {}),
      })
    }
    if (below(6) === 0) {
      const from = below(20)
      operations.push({ kind: 'forget', from, to: from + 1 + below(4) })
    }
    for (const one of operations) one.calledAt = one.from + below(4)
    const expected = isExplained(LATCH, operations) ? 'linearizable' : 'convicted'
    verdicts[expected] += 1
    expect({ i, found: verdict(operations), operations }).toEqual({
      i,
      found: expected,
      operations,
    })
  }
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(150)
})

describe('the rounds of a latch', () => {
  let history: History
  let number: number

  beforeEach(() => {
    history = new History()
    history.about = { startedAt: 0, calmAt: 100_000 }
    number = 0
  })

  /** Adds one call of a process, with the times of its request and its answer. */
  function act(kind: string, said: object, answer: unknown, [asked, done]: [number, number]) {
    number += 1
    const id = `client 1.9.${number}`
    const told: [number, string, object][] = [
      [asked, 'ask', { lock: 'latch', family: 'latch', act: kind, ...said }],
      [
        done,
        'settle',
        answer === undefined ? { result: 'rejected' } : { result: 'done', answer, calledAt: asked },
      ],
    ]
    for (const [at, what, more] of told) history.hear({ kind: what, id, ...more }, at)
    return id
  }

  /** Adds a round of three count-downs that ends at 60. */
  function round(id: number, from: number) {
    act('set', { count: 3 }, true, [from, from + 2])
    act('inspect', {}, { count: 3, round: id }, [from + 4, from + 6])
    act('count-down', { round: id }, 2, [from + 10, from + 12])
    act('count-down', { round: id }, 1, [from + 20, from + 22])
    act('count-down', { round: id }, 0, [from + 30, from + 32])
    act('await', { round: id, waitMs: 500 }, true, [from + 15, from + 40])
  }

  const convictions = () => {
    const { convictions: found } = check(history)
    return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0))
  }

  test('rounds one after another are accepted', () => {
    round(7, 0)
    round(8, 100)
    expect(convictions()).toEqual({})
    expect(check(history)).toMatchObject({ rounds: { rounds: 2, leftOut: 0, awaited: 2 } })
    // A count-down and a round are operations.
    expect(history.operations).toEqual({ latch: 8 })
  })

  test('a round that ends before its last count-down is convicted', () => {
    round(7, 0)
    act('set', { count: 3 }, true, [100, 101])
    act('inspect', {}, { count: 3, round: 8 }, [102, 103])
    act('count-down', { round: 8 }, 2, [104, 105])
    act('await', { round: 8, waitMs: 500 }, true, [106, 140])
    expect(convictions()).toEqual({ linearizability: 1, rounds: 1 })
  })

  test('a round may end early if a count-down is unknown, or if the latch was deleted', () => {
    act('set', { count: 2 }, true, [0, 1])
    act('inspect', {}, { count: 2, round: 8 }, [2, 3])
    act('count-down', { round: 8 }, 1, [4, 5])
    act('count-down', { round: 8 }, undefined, [6, 20])
    act('await', { round: 8, waitMs: 500 }, true, [7, 30])
    act('set', { count: 2 }, true, [40, 41])
    act('inspect', {}, { count: 2, round: 9 }, [42, 43])
    act('delete', { round: 9 }, true, [44, 45])
    act('await', { round: 9, waitMs: 500 }, true, [46, 50])
    expect(convictions()).toEqual({})
  })

  test('a round counts each count-down once, and no count-down after its end', () => {
    round(7, 0)
    act('count-down', { round: 7 }, 1, [50, 51])
    expect(convictions()).toMatchObject({ linearizability: 1 })
    const found = check(history).misrounded.map(({ what }) => what)
    expect(found).toContain('two count-downs left the same number')
    expect(found).toContain('a count-down counted after the end of its round')
  })

  test('a call that awaits a round and misses its end is convicted', () => {
    round(7, 0)
    act('await', { round: 7, waitMs: 3_000 }, false, [10, 3_010])
    expect(convictions()).toEqual({ linearizability: 1, rounds: 1 })
  })

  test('a call may miss the end of a round for a while if a message may be lost', () => {
    round(7, 0)
    act('await', { round: 7, waitMs: 3_000 }, false, [10, 3_010])
    history.faults.push({ what: 'listeners killed', where: '1 of 1 servers', from: 30, to: 31 })
    expect(convictions()).toEqual({})
  })

  test('rounds are not judged if a server could forget them', () => {
    act('set', { count: 3 }, true, [0, 1])
    act('inspect', {}, { count: 3, round: 8 }, [2, 3])
    history.forgets(1, undefined, 20)
    history.forgot(1, 30)
    act('await', { round: 8, waitMs: 500 }, true, [4, 140])
    act('set', { count: 3 }, true, [200, 201])
    expect(convictions()).toEqual({})
    expect(check(history).rounds).toMatchObject({ rounds: 0, leftOut: 1 })
    // A change of the clock does not change the count.
    Object.assign(history.windows[0] as object, { isClock: true })
    expect(convictions()).toMatchObject({ rounds: 1 })
  })

  test('a refused set needs another set that began the round, even if a server could forget afterwards', () => {
    round(7, 0)
    const begins = () => act('set', { count: 3 }, true, [100, 240])
    begins()
    act('set', { count: 3 }, false, [110, 120])
    expect(convictions()).toEqual({})
    history.forgets(1, undefined, 220)
    history.forgot(1, 260)
    expect(convictions()).toEqual({})
    // No call began the round.
    history.attempts.get('latch')?.splice(-2, 1)
    expect(convictions()).toEqual({ linearizability: 1 })
  })

  test('a convicted latch is reported with the calls of its round', () => {
    round(7, 0)
    act('await', { round: 7, waitMs: 3_000 }, false, [10, 3_010])
    const attempts = history.attempts.get('latch') ?? []
    const found = judgeAsModel('latch', attempts, history)
    expect(found).toMatchObject({ model: 'latch', verdict: 'convicted' })
    expect(found?.shortest.length).toBeGreaterThan(5)
  })
})
