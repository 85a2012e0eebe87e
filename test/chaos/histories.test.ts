import { judgeAsModel } from '../../programs/chaos/checkers/as-a-model.mjs'
import { check, isConvicted } from '../../programs/chaos/checkers/check.mjs'
import { History } from '../../programs/chaos/checkers/history.mjs'
import { historyLines, printReport } from '../../programs/chaos/checkers/print.mjs'
import { judge } from '../../programs/chaos/judge.mjs'

interface Told {
  lock?: string
  token?: number
  /** The times of the request, the entry, the exit and the release. */
  times?: [number, number, number, number]
  validUntil?: number
  released?: boolean | null
  [more: string]: unknown
}

let history: History

beforeEach(() => {
  history = new History()
  history.about = { startedAt: 0, calmAt: 100_000, seed: 7 }
})

const at = (time: number, kind: string, id: string, said = {}) =>
  history.hear({ kind, id, ...said }, time)

/** Returns the events of a holder that requests, enters, writes the cells, leaves and releases. */
function hold(
  id: string,
  { lock = 'lock', token, times, validUntil, released = true, ...more }: Told,
) {
  const [asked, entered, left, done] = times ?? [0, 1, 2, 3]
  const plan: [number, string, object][] = [
    [asked, 'ask', { lock, ...more }],
    [entered, 'enter', { result: 'granted', token, validUntil: validUntil ?? done + 1_000 }],
    [left - 0.1, 'write', { counter: 1 }],
    [left, 'leave', { releasing: true }],
    [done, 'released', { released }],
  ]
  return plan.map(([time, kind, said]) => ({ time, kind, id, said }))
}

/** Adds all events to the history, in the order of their times. */
function tell(...told: ReturnType<typeof hold>[]) {
  for (const { time, kind, id, said } of told.flat().sort((a, b) => a.time - b.time)) {
    at(time, kind, id, said)
  }
}

const convictions = () => {
  const { convictions: found } = check(history)
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0))
}

describe('two holders inside at once', () => {
  const first = hold('client 1.9.1', { token: 1, times: [0, 10, 50, 60] })
  const second = hold('client 2.9.1', { token: 2, times: [15, 20, 40, 45] })

  test('the model and the unfenced cell find two holders inside at once', () => {
    tell(first, second)
    expect(convictions()).toMatchObject({ linearizability: 1, 'unfenced cell': 1 })
  })

  test('two holders inside at once are the shortest part among 200 other holds', () => {
    const others = Array.from({ length: 200 }, (_, i) => {
      const from = 4 * i - 900
      return hold(`client 3.9.${i}`, {
        token: i - 1_000,
        times: [from - 9, from, from + 1, from + 2],
      })
    })
    const waited = hold('client 3.9.999', { token: 3, times: [12, 70, 71, 72] })
    tell(first, second, waited, ...others)
    expect(check(history).attempts).toBe(203)
    const [found] = check(history).unexplained
    expect(found?.shortest.map(({ id }) => id).sort()).toEqual(['client 1.9.1', 'client 2.9.1'])
  })

  test('two holders are accepted if the lease of the first holder has ended', () => {
    tell(
      hold('client 1.9.1', { token: 1, times: [0, 10, 50, 60], validUntil: 12, released: false }),
      second,
    )
    expect(convictions()).toEqual({})
    expect(check(history)).toMatchObject({ cells: { late: 1, refused: 1 } })
  })

  test('two holders are excused if a server forgot the lock meanwhile', () => {
    tell(first, second)
    history.forgets(1, 'lock', 12)
    history.forgot(1, 18)
    expect(convictions()).toEqual({})
    expect(check(history).cells.excused).toBe(1)
  })

  test('two holders are excused if a server forgot the lock before the second holder requested it', () => {
    tell(
      hold('client 1.9.1', { token: 1, times: [0, 1_000, 5_000, 6_000] }),
      hold('client 2.9.1', { token: 2, times: [3_500, 3_600, 4_000, 4_500] }),
    )
    history.forgets(1, 'lock', 1_200)
    history.forgot(1, 1_300)
    expect(convictions()).toEqual({})
    expect(check(history).cells.excused).toBe(1)
  })

  test.each([
    [1, 'another', 12, 18],
    [2, undefined, 200, 300],
  ])(
    'two holders are not excused if a server forgot another lock, or forgot at another time',
    (id, lock, from, to) => {
      tell(first, second)
      history.forgets(id, lock, from)
      history.forgot(id, to)
      expect(convictions()).toMatchObject({ linearizability: 1, 'unfenced cell': 1 })
    },
  )

  test.each([
    [2, { linearizability: 1, 'unfenced cell': 1 }],
    [3, {}],
  ])(
    'two holders are accepted only if the client of the first holder (era 3) closed: era %i closed',
    (era, found) => {
      const closing = { time: 16, kind: 'closes', id: 'client 1.9.7', said: { era } }
      const times: [number, number, number, number] = [0, 10, 50, 60]
      tell(hold('client 1.9.1', { token: 1, times, released: false, era: 3 }), [closing], second)
      expect(convictions()).toEqual(found)
    },
  )
})

describe('a release', () => {
  const later = hold('client 2.9.1', { token: 2, times: [100, 101, 102, 103] })

  test('a release with an unknown result may have freed the lock', () => {
    tell(hold('client 1.9.1', { token: 1, released: null }), later)
    expect(convictions()).toEqual({})
    expect(check(history).unknown).toBe(1)
  })

  test('a release that finds the lock gone within its lease is convicted', () => {
    tell(hold('client 1.9.1', { token: 1, released: false }))
    expect(convictions()).toEqual({ linearizability: 1 })
  })

  test.each([
    ['while it was held', 1, {}],
    ['long before it was held', -1_000, { linearizability: 1 }],
    ['long after it was held', 1_000, { linearizability: 1 }],
  ])(
    'a release that finds the lock gone is accepted only if a master was emptied during the hold: %s',
    (_, from, found) => {
      tell(hold('client 1.9.1', { token: 1, released: false }))
      history.emptied.push({ from, to: from + 1 })
      expect(convictions()).toEqual(found)
    },
  )

  test('a release that finds the lock gone does not excuse a holder that entered before that release', () => {
    const first = hold('client 1.9.1', { token: 1, released: false })
    tell(first, hold('client 2.9.1', { token: 2, times: [1, 1.5, 1.7, 1.8] }))
    history.emptied.push({ from: 1, to: 1 })
    expect(convictions()).toMatchObject({ linearizability: 1 })
  })

  describe('a release that finds the lock gone, after its holder received the loss', () => {
    const told = (lostAt: number) => [
      ...hold('client 1.9.1', { token: 1, times: [0, 1, 30, 40], released: false }).filter(
        ({ kind }) => kind !== 'write',
      ),
      { time: lostAt, kind: 'lost', id: 'client 1.9.1', said: { lostAt } },
    ]
    const next = hold('client 2.9.1', { token: 2, times: [5, 20, 25, 28] })
    const overlaps = () => judge(history.holds(), history.windows).overlaps.length

    test('a reported loss lets other holders in from its report on, if a master was emptied', () => {
      tell(told(18), next)
      history.emptied.push({ from: 10, to: 11 })
      expect(convictions()).toEqual({})
      expect(overlaps()).toBe(0)
    })

    test('a reported loss lets no holder in before its report', () => {
      tell(told(27), next)
      history.emptied.push({ from: 10, to: 11 })
      expect(convictions()).toMatchObject({ linearizability: 1 })
      expect(overlaps()).toBe(1)
    })

    test('a reported loss is convicted if no master was emptied', () => {
      tell(told(18), next)
      expect(convictions()).toMatchObject({ linearizability: 1 })
    })
  })

  test('a killed holder does not release: the end of its lease ends the hold', () => {
    const killed = (validUntil: number) =>
      hold('client 1.9.1', { token: 1, validUntil }).filter(({ time }) => time < 2)
    tell(killed(90), later)
    expect(convictions()).toEqual({})
    history = new History()
    tell(killed(150), later)
    expect(convictions()).toEqual({ linearizability: 1 })
  })
})

test('an undecided history is reported, and does not pass', () => {
  tell(hold('client 1.9.1', { token: 1 }))
  const attempts = history.attempts.get('lock') ?? []
  expect(judgeAsModel('lock', attempts, history)).toBeUndefined()
  expect(judgeAsModel('lock', attempts, history, { most: 0 })).toMatchObject({
    verdict: 'undecided',
  })
})

describe('a re-entry', () => {
  const outer = hold('client 1.9.1', { token: 1, times: [0, 10, 50, 60] })
  const inner = [
    { time: 12, kind: 'ask', id: 'client 1.9.2', said: { lock: 'lock', within: 'client 1.9.1' } },
    { time: 14, kind: 'settle', id: 'client 1.9.2', said: { result: 'granted', token: 1 } },
    { time: 51, kind: 'releasing', id: 'client 1.9.2', said: {} },
    { time: 55, kind: 'released', id: 'client 1.9.2', said: { released: true } },
  ]

  test('a re-entry belongs to the hold that it re-enters', () => {
    tell(outer, inner, hold('client 2.9.1', { token: 2, times: [70, 71, 72, 73] }))
    expect(convictions()).toEqual({})
  })

  test('a re-entry is not in the shortest part if it does not cause the conviction', () => {
    tell(outer, inner, hold('client 2.9.1', { token: 2, times: [15, 20, 40, 45] }))
    const [found] = check(history).unexplained
    expect(found?.model).toBe('re-entrant fenced mutex')
    expect(found?.shortest.map(({ id }) => id).sort()).toEqual(['client 1.9.1', 'client 2.9.1'])
  })
})

describe('the fenced cell', () => {
  test('the fenced cell refuses a lower token', () => {
    tell(
      hold('client 1.9.1', { token: 1, times: [0, 1, 50, 51], validUntil: 5, released: false }),
      hold('client 2.9.1', { token: 2, times: [10, 11, 12, 13] }),
    )
    expect(check(history)).toMatchObject({ cells: { writes: 2, refused: 1 }, stale: [] })
  })

  test('a fenced cell that accepts a late write of an earlier holder is convicted, even with a higher token', () => {
    tell(
      hold('client 1.9.1', { token: 3, times: [0, 1, 50, 51], validUntil: 5, released: false }),
      hold('client 2.9.1', { token: 2, times: [10, 11, 12, 13] }),
    )
    expect(convictions()).toEqual({ linearizability: 1, 'fenced cell': 1 })
    expect(check(history).unexplained[0]).toMatchObject({ withoutTokens: 'linearizable' })
  })
})

describe('the order of a queue', () => {
  const queued = (id: string, time: number) => [{ time, kind: 'queued', id, said: {} }]
  const fair = { lockKind: 'fair' }
  const first = (token: number, from: number) =>
    hold('client 1.9.1', { ...fair, token, times: [10, from, from + 1, from + 2] })
  const second = (token: number, from: number) =>
    hold('client 2.9.1', { ...fair, token, times: [20, from, from + 1, from + 2] })

  test('the order of a queue is the order of its places', () => {
    tell(first(1, 30), queued('client 1.9.1', 15), second(2, 40))
    expect(check(history)).toMatchObject({ pairs: { judged: 1 }, inversions: [] })
  })

  test('a queue that serves its waiters in another order is convicted', () => {
    tell(first(2, 40), queued('client 1.9.1', 15), second(1, 30))
    expect(convictions()).toEqual({ order: 1 })
  })

  test('the order is unknown if a waiter was not yet seen in the queue when the other waiter requested the lock', () => {
    tell(first(2, 40), queued('client 1.9.1', 25), second(1, 30))
    expect(check(history)).toMatchObject({ pairs: { judged: 0 }, inversions: [] })
  })

  test('a waiter that gave up is no inversion, and a waiter that still waited is an inversion', () => {
    const refused = (time: number) => [
      { time: 10, kind: 'ask', id: 'client 1.9.1', said: { lock: 'lock', ...fair } },
      { time: 15, kind: 'queued', id: 'client 1.9.1', said: {} },
      { time, kind: 'settle', id: 'client 1.9.1', said: { result: 'refused' } },
    ]
    tell(refused(100), second(1, 30))
    expect(convictions()).toEqual({})
    history = new History()
    tell(refused(2_000), second(1, 30))
    expect(convictions()).toEqual({ order: 1 })
  })

  test.each([
    ['client 1 paused', 0],
    ['busy: 1 of 1', 0],
    ['client 2 paused', 1],
    ['client 3 killed', 1],
  ])('the order of a queue during "%s" has %i inversions', (what, count) => {
    tell(first(2, 40), queued('client 1.9.1', 15), second(1, 30))
    history.faults.push({ what, from: 22, to: 24 })
    expect(check(history).inversions).toHaveLength(count)
  })

  test('plain locks have no order of a queue', () => {
    const plain = { lockKind: 'plain' }
    tell(
      hold('client 1.9.1', { ...plain, token: 2, times: [10, 40, 41, 42] }),
      queued('client 1.9.1', 15),
      hold('client 2.9.1', { ...plain, token: 1, times: [20, 30, 31, 32] }),
    )
    expect(check(history)).toMatchObject({ pairs: { judged: 0 }, inversions: [] })
  })
})

describe('a waiter', () => {
  const waiting = (id: string, from: number, to: number) => [
    { time: from, kind: 'ask', id, said: { lock: 'lock', waits: true } },
    { time: to, kind: 'settle', id, said: { result: 'refused' } },
  ]
  const killed = { what: 'client 1 killed', from: 10_000, to: 11_000 }

  test('a waiter that does not acquire the lock within the bound after a fault is convicted', () => {
    history.faults.push(killed)
    tell(waiting('client 2.9.1', 11_000, 21_000))
    expect(convictions()).toEqual({ liveness: 1 })
    const [stuck] = check(history).liveness.stuck
    expect(stuck).toMatchObject({ lock: 'lock', waitedMs: 10_000, after: ['client 1 killed'] })
  })

  test('the time in which a process did not run does not count', () => {
    history.faults.push(killed)
    tell(waiting('client 2.9.1', 11_000, 21_000))
    expect(convictions()).toEqual({ liveness: 1 })
    for (let from = 11_000; from < 15_000; from += 500) {
      const what = 'client 3 is late'
      history.faults.push({ what, process: 'client 3', from, to: from + 600, measured: true })
    }
    expect(convictions()).toEqual({})
  })

  test('a waiter is accepted if the lock moved on, the wait was short, or another fault came', () => {
    history.faults.push(killed)
    tell(
      waiting('client 2.9.1', 11_000, 21_000),
      hold('client 3.9.1', { token: 1, times: [12_000, 16_000, 16_001, 16_002] }),
    )
    expect(convictions()).toEqual({})
    history = new History()
    history.about = { startedAt: 0, calmAt: 100_000 }
    history.faults.push(killed)
    tell(waiting('client 2.9.1', 11_000, 14_000), waiting('client 2.9.2', 30_000, 33_000))
    expect(convictions()).toEqual({})
    tell(waiting('client 2.9.3', 50_000, 65_000))
    history.faults.push({ what: 'asleep: 1 of 1', from: 50_500, to: 60_000 })
    expect(convictions()).toEqual({})
    expect(check(history).liveness.stretches).toBeGreaterThan(1)
  })
})

test('a history that was written and read again gets the same verdict', () => {
  tell(
    hold('client 1.9.1', { token: 1, times: [0, 10, 50, 60] }),
    hold('client 2.9.1', { token: 2, times: [15, 20, 40, 45], released: null, era: 0 }),
  )
  at(5, 'closes', 'client 2.9.3', { era: 0 })
  at(7, 'late', 'client 2.9.4', { ms: 3 })
  history.forgets(1, 'another', 12)
  const read = new History()
  for (const line of history.lines()) read.read(line)
  const { tookMs, ...told } = check(history)
  const { tookMs: _, ...again } = check(read)
  expect(tookMs).toBeGreaterThan(0)
  expect(JSON.parse(JSON.stringify(again))).toEqual(JSON.parse(JSON.stringify(told)))
})

test('the report has the seed, the shortest part and the faults near it', () => {
  tell(
    hold('client 1.9.1', { token: 1, times: [50_000, 50_010, 50_050, 50_060] }),
    hold('client 2.9.1', { token: 2, times: [50_015, 50_020, 50_040, 50_045] }),
  )
  history.faults.push({ what: 'busy', where: 'one', from: 49_000, to: 49_500 })
  history.faults.push({ what: 'long ago', from: 0, to: 10 })
  const lines: string[] = []
  const report = check(history)
  printReport(report, (line: string) => lines.push(line))
  expect(isConvicted(report)).toBe(true)
  const text = lines.join('\n')
  expect(text).toContain('CONVICTED, seed 7: linearizability 1, unfenced cell 1')
  expect(text).toContain(
    'lock: cannot be explained as a fenced mutex; the shortest part that cannot:',
  )
  expect(text).toContain(
    '50.0000 to 50.0100  client 1.9.1  acquire, plain  granted token 1, valid until 51.0600',
  )
  expect(text).toContain('fault 49.0000 to 49.5000  busy, one')
  expect(text).not.toContain('long ago')
})

test('a call of a killed process without a result is reported as unknown', () => {
  at(10, 'ask', 'client 1.9.1', { lock: 'lock', caller: 2 })
  expect(historyLines([...history.attempts.values()].flat(), 0)).toEqual([
    '0.0100 to ?  client 1.9.1 (caller 2)  acquire, plain  unknown',
  ])
})
