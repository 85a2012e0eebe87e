import { judgeChanges } from '../../programs/chaos/checkers/changes.mjs'
import { check } from '../../programs/chaos/checkers/check.mjs'
import { History } from '../../programs/chaos/checkers/history.mjs'
import { judge } from '../../programs/chaos/judge.mjs'
import { epochMs } from '../../programs/chaos/random.mjs'

interface Told {
  family: string
  lock?: string
  mode?: string
  permits?: number
  most?: number
  within?: string
  token?: number | undefined
  validUntil?: number
  released?: boolean | null
  outlives?: boolean
  /** The times of the request, the entry, the exit and the release. */
  times: [number, number, number, number]
}

let history: History
let number: number

beforeEach(() => {
  history = new History()
  history.about = { startedAt: 0, calmAt: 100_000, seed: 7, epochMs: 0 }
  number = 0
})

/** Adds a hold with all its events. Returns its id. */
function hold(told: Told): string {
  const { times, token, validUntil, released = true, lock = 'name', ...said } = told
  const [asked, entered, left, done] = times
  number += 1
  const id = `client ${number}.9.1`
  const grant = { result: 'granted', token, validUntil: validUntil ?? done + 1_000 }
  history.hear({ kind: 'ask', id, lock, ...said }, asked)
  history.hear({ kind: 'enter', id, ...grant }, entered)
  history.hear({ kind: 'leave', id, releasing: true }, left)
  history.hear({ kind: 'released', id, released }, done)
  return id
}

const verdict = () => judge(history.holds(), history.windows)
const convictions = () => {
  const { convictions: found } = check(history)
  return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0))
}
const between = (from: number, to: number, more = {}) => {
  history.forgets(1, undefined, from)
  history.forgot(1, to)
  Object.assign(history.windows.at(-1) as object, more)
}

describe('a read-write lock', () => {
  const family = 'read-write'
  const first: [number, number, number, number] = [0, 10, 50, 60]
  const second: [number, number, number, number] = [15, 20, 40, 45]

  test.each([
    ['read', 'read', 0],
    ['read', 'upgradable', 0],
    ['upgradable', 'upgradable', 1],
    ['read', 'write', 1],
    ['write', 'read', 1],
    ['upgradable', 'write', 1],
    ['write', 'write', 1],
  ])('one owner holds %s and another owner holds %s: %i overlaps', (one, other, count) => {
    const token = other === 'write' ? 2 : 1
    hold({ family, mode: one, token: 1, times: first })
    hold({ family, mode: other, token, times: second })
    expect(verdict().overlaps).toHaveLength(count)
    expect(convictions()).toEqual(count === 0 ? {} : { linearizability: 1 })
  })

  test('one owner may hold both modes, and a lease that has ended makes no overlap', () => {
    const outer = hold({ family, mode: 'upgradable', token: 1, times: first })
    hold({ family, mode: 'write', token: 2, times: second, within: outer })
    expect(verdict().overlaps).toEqual([])
    expect(convictions()).toEqual({})
    history = new History()
    hold({ family, mode: 'read', token: 1, times: first, validUntil: 12, released: false })
    hold({ family, mode: 'write', token: 2, times: second })
    expect(verdict().overlaps).toEqual([])
    expect(convictions()).toEqual({})
  })

  test.each([
    [8, 12, 1],
    [-60, -55, 0],
  ])(
    'a late reader, with a server that forgot from %i to %i, is excused %i times',
    (from, to, excused) => {
      const tokenAt = (ms: number) => (ms + epochMs()) * 1_000
      hold({ family, mode: 'write', token: tokenAt(90), times: [80, 95, 200, 210] })
      // The token belongs to an earlier writer. The reply was on its way when the server lost its data.
      hold({ family, mode: 'read', token: tokenAt(5), times: [0, 100, 200, 210], released: false })
      between(from, to, { tokensTellTime: true })
      expect(verdict()).toMatchObject({ overlaps: { length: 1 - excused }, excused })
    },
  )

  test('an overlap is excused if a server forgot the reader during its hold, and not if it forgot before', () => {
    hold({ family, mode: 'read', token: 1, times: first, released: false })
    hold({ family, mode: 'write', token: 2, times: second })
    between(12, 18)
    expect(verdict()).toMatchObject({ overlaps: [], excused: 1 })
    history.windows.splice(0)
    between(-200, -100)
    expect(verdict()).toMatchObject({ overlaps: [{ lock: 'name' }], excused: 0 })
  })

  test.each([
    ['write', 5, 1],
    ['write', 6, 0],
    ['read', 5, 0],
    ['read', 4, 1],
    ['upgradable', 4, 1],
  ])('a later %s with the token %i has %i regressions', (mode, token, count) => {
    hold({ family, mode: 'write', token: 5, times: first })
    hold({ family, mode, token, times: [70, 80, 90, 95] })
    expect(verdict().regressions).toHaveLength(count)
    expect(verdict().repeated).toHaveLength(mode === 'write' && token === 5 ? 1 : 0)
  })

  test('after a server forgot, a reader may have a lower token, and a writer may not', () => {
    hold({ family, mode: 'write', token: 5, times: first })
    hold({ family, mode: 'read', token: 4, times: [170, 180, 190, 195] })
    hold({ family, mode: 'write', token: 3, times: [270, 280, 290, 295] })
    between(100, 110)
    expect(convictions()).toEqual({ linearizability: 1 })
    expect(check(history).unexplained[0]?.shortest.map(({ token }) => token)).toContain(3)
  })
})

test('a reader may have a lower token if it requested before the writer received its token, and a server forgot that token', () => {
  hold({
    family: 'read-write',
    mode: 'write',
    token: 5,
    times: [0, 100, 101, 102],
    released: false,
  })
  hold({ family: 'read-write', mode: 'read', token: 4, times: [90, 180, 190, 195] })
  expect(convictions()).toMatchObject({ linearizability: 1 })
  between(80, 99)
  expect(convictions()).toEqual({})
})

describe('permits', () => {
  const family = 'permits'
  const three = { family, most: 3 }

  test('permits that are held at once never exceed the number of permits', () => {
    hold({ ...three, permits: 2, token: 1, times: [0, 10, 50, 60] })
    hold({ ...three, permits: 1, token: 2, times: [0, 20, 50, 60] })
    expect(verdict().overlaps).toEqual([])
    hold({ ...three, permits: 1, token: 3, times: [0, 30, 50, 60] })
    expect(verdict().overlaps).toHaveLength(1)
    expect(convictions()).toEqual({ linearizability: 1 })
  })

  test('permits are free when a lease has ended, and an excess is excused if a server forgot a holder', () => {
    hold({
      ...three,
      permits: 2,
      token: 1,
      times: [0, 10, 50, 60],
      validUntil: 25,
      released: false,
    })
    hold({ ...three, permits: 2, token: 2, times: [0, 30, 50, 60] })
    expect(verdict().overlaps).toEqual([])
    expect(convictions()).toEqual({})
    history = new History()
    hold({ ...three, permits: 2, token: 1, times: [0, 10, 50, 60], released: false })
    hold({ ...three, permits: 2, token: 2, times: [90, 190, 195, 199] })
    hold({ ...three, permits: 2, token: 3, times: [15, 30, 50, 60] })
    between(12, 18)
    expect(verdict()).toMatchObject({ overlaps: [], excused: 1 })
  })

  test('the tokens of permits rise', () => {
    hold({ ...three, permits: 1, token: 5, times: [0, 10, 50, 60] })
    hold({ ...three, permits: 1, token: 4, times: [15, 20, 50, 60] })
    expect(verdict().regressions).toHaveLength(1)
  })

  test.each([
    [2, 1, {}],
    [3, 0, {}],
    [2, 0, { conservation: 1 }],
    [3, 1, { conservation: 1 }],
  ])(
    'with %i permits available and %i taken at the end, the number of permits is checked',
    (available, taken, found) => {
      hold({ ...three, permits: 1, token: 1, times: [0, 10, 50, 60] })
      history.numbers.set('name', { available, taken })
      expect(convictions()).toEqual(found)
      expect(check(history).counted).toBe(1)
      // A server may have lost the permits.
      between(100, 110)
      expect(check(history).counted).toBe(0)
    },
  )
})

describe('permits without leases', () => {
  const family = 'semaphore'
  const three = { family, most: 3, validUntil: 1e12, outlives: true }

  test('permits without leases count until a server may have forgotten them', () => {
    hold({ ...three, permits: 2, times: [0, 10, 250, 260] })
    hold({ ...three, permits: 2, times: [0, 220, 250, 260] })
    expect(verdict()).toMatchObject({ overlaps: [{ lock: 'name' }], excused: 0 })
    expect(convictions()).toEqual({ linearizability: 1 })
    // A change of the clock takes no permits away.
    between(100, 110, { isClock: true })
    expect(verdict().overlaps).toHaveLength(1)
    history.windows.splice(0)
    between(100, 110)
    expect(verdict()).toMatchObject({ overlaps: [], excused: 0 })
    expect(convictions()).toEqual({})
  })

  /** Adds a holder whose process was killed after this number of messages. */
  function killed(messages: number, permits: number): void {
    number += 1
    const id = `client ${number}.9.1`
    const told: [string, object][] = [
      ['ask', { lock: 'name', ...three, permits }],
      ['enter', { result: 'granted', validUntil: 1e12 }],
      ['leave', { releasing: true }],
    ]
    for (const [kind, said] of told.slice(0, messages)) history.hear({ kind, id, ...said }, 10)
  }

  test.each([
    ['had them', 2, [false, true, false, false]],
    ['asked for them', 1, [false, true, true, true]],
    ['gave them back', 3, [false, true, true, true]],
  ])(
    'permits of a process that was killed when it %s are lost, certainly or possibly',
    (_, messages, isRight) => {
      hold({ ...three, permits: 1, times: [0, 10, 50, 60] })
      killed(messages, 2)
      for (const [available, right] of isRight.entries()) {
        history.numbers.set('name', { available, taken: 0 })
        expect({ available, found: convictions() }).toEqual({
          available,
          found: right ? {} : { conservation: 1 },
        })
      }
    },
  )

  test('permits may be missing if a wait ended by its time and its process was killed soon after', () => {
    hold({ ...three, permits: 1, times: [0, 10, 50, 60] })
    const id = 'client 7.9.1'
    const wait = { lock: 'name', ...three, permits: 2, waits: true }
    history.hear({ kind: 'ask', id, ...wait }, 10)
    history.hear({ kind: 'settle', id, result: 'refused' }, 500)
    history.numbers.set('name', { available: 1, taken: 0 })
    expect(convictions()).toEqual({ conservation: 1 })
    // The last attempt of the client may be for any lock.
    history.hear({ kind: 'ask', id: 'client 7.9.2', lock: 'other' }, 600)
    expect(convictions()).toEqual({})
  })

  test('permits of an unknown release must be back unless their client closed soon after', () => {
    hold({ ...three, permits: 1, released: null, times: [0, 10, 50, 60] })
    history.numbers.set('name', { available: 2, taken: 0 })
    expect(convictions()).toEqual({ conservation: 1 })
    history.closes.set('client 1.9 undefined', 5_000)
    expect(convictions()).toEqual({})
    history.closes.set('client 1.9 undefined', 50_000)
    expect(convictions()).toEqual({ conservation: 1 })
  })
})

describe('an election', () => {
  test('an election has one leader at a time, and its terms rise', () => {
    hold({ family: 'election', token: 2, times: [0, 10, 50, 60] })
    hold({ family: 'election', token: 1, times: [15, 20, 40, 45] })
    expect(verdict()).toMatchObject({ overlaps: [{}], regressions: [{}] })
    expect(convictions()).toEqual({ linearizability: 1 })
  })

  test('a new leader may be elected when the client of the old leader closes, before the old leader leaves', () => {
    const closed = (at: number) => {
      history = new History()
      history.about = { startedAt: 0, calmAt: 100_000, epochMs: 0 }
      number = 0
      history.hear({ kind: 'ask', id: 'client 1.9.1', lock: 'name', family: 'election', era: 0 }, 0)
      const grant = { result: 'granted', token: 1, validUntil: 1_000 }
      history.hear({ kind: 'enter', id: 'client 1.9.1', ...grant }, 10)
      history.hear({ kind: 'closes', id: 'client 1.9.2', era: 0 }, at)
      history.hear({ kind: 'leave', id: 'client 1.9.1', releasing: true }, 50)
      history.hear({ kind: 'released', id: 'client 1.9.1', released: true }, 60)
      number = 1
      hold({ family: 'election', token: 2, times: [15, 30, 40, 45] })
      return convictions()
    }
    expect(closed(20)).toEqual({})
    expect(closed(35)).toEqual({ linearizability: 1 })
  })

  const told = (token: number | null, owner: string | null, process = 'client 1.9') => {
    return { lock: 'name', process, era: 0, token, owner, at: 1 }
  }

  test.each([
    ['in their order, with no leader between', [told(1, 'a'), told(null, null), told(2, 'b')], []],
    [
      'an older term after a newer term',
      [told(2, 'b'), told(1, 'a')],
      ['an older term was told after a newer one'],
    ],
    [
      'the same term twice',
      [told(1, 'a'), told(null, null), told(1, 'a')],
      ['one term was told twice'],
    ],
    ['an older term in another process', [told(2, 'b'), told(1, 'a', 'client 2.9')], []],
  ])('the reported terms are judged: %s', (_, changes, found) => {
    expect(judgeChanges(changes as never).found.map(({ what }: { what: string }) => what)).toEqual(
      found,
    )
    history.changes = changes as never
    expect(convictions()).toEqual(found.length === 0 ? {} : { 'leaders told': 1 })
  })
})
