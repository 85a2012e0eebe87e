import { check } from '../../programs/chaos/checkers/check.mjs'
import { History } from '../../programs/chaos/checkers/history.mjs'
import { randomOf } from '../support/random.ts'

interface Call {
  from: number
  to: number
  /** False if the outcome is unknown. */
  isKnown: boolean
}

/** An arrival with an unknown outcome may count for this long after its call has ended, in milliseconds. */
const MAY_COUNT_MS = 6_000

let history: History
let number: number

beforeEach(() => {
  history = new History()
  history.about = { startedAt: 0, calmAt: 1_000_000 }
  number = 0
})

function act(what: string, said: object, answer: unknown, [asked, done]: [number, number]) {
  number += 1
  const id = `client ${number % 3}.9.${number}`
  history.hear({ kind: 'ask', id, lock: 'it', family: 'barrier', act: what, ...said }, asked)
  const outcome = answer === undefined ? { result: 'rejected' } : { result: 'done', answer }
  history.hear({ kind: 'settle', id, ...outcome }, done)
}

/** Adds a call for three parties. */
const call = (answer: unknown, asked: number, done: number) =>
  act('await', { parties: 3, waitMs: 5_000 }, answer, [asked, done])
const look = (round: number | null, arrived: number, asked: number, done: number) =>
  act('inspect', {}, { round, arrived, parties: round === null ? null : 3 }, [asked, done])

/** Adds a round that ends about 20 ms after `from`. */
function round(from: number) {
  call(true, from, from + 30)
  call(true, from + 10, from + 25)
  call(true, from + 20, from + 26)
}

const found = () => check(history).misrounded.map(({ what }) => what)
const EARLY = 'a party continued before all parties had arrived'

test('rounds one after another are accepted, and each call that passes is an operation', () => {
  round(0)
  round(100)
  call(false, 200, 400)
  expect(found()).toEqual([])
  expect(check(history).rounds).toEqual({ rounds: 2, leftOut: 0, awaited: 6 })
  expect(history.operations).toEqual({ barrier: 6 })
})

test('a party that continues before all parties have arrived is convicted', () => {
  call(true, 0, 15)
  call(true, 10, 25)
  call(true, 20, 26)
  expect(found()).toContain(EARLY)
})

test('a party that was counted, and received another answer, is convicted', () => {
  round(0)
  for (const answer of [false, 'lost']) {
    history.attempts.clear()
    call(answer, 0, 30)
    call(true, 10, 25)
    call(true, 20, 26)
    expect(found()).toContain(EARLY)
  }
})

test('one party cannot be in two rounds', () => {
  round(0)
  call(true, 20, 40)
  call(true, 20, 41)
  expect(found()).toEqual([EARLY, EARLY])
})

test('a call with an unknown outcome may have been counted once, until its lease has ended', () => {
  call(undefined, 0, 10)
  call(true, 1_000, 1_030)
  call(true, 1_010, 1_030)
  expect(found()).toEqual([])
  call(true, 2_000, 2_030)
  call(true, 2_010, 2_030)
  expect(found()).toEqual([EARLY, EARLY])
  history.attempts.clear()
  call(undefined, 0, 10)
  call(true, 9_000, 9_030)
  call(true, 9_010, 9_030)
  expect(found()).toEqual([EARLY, EARLY])
})

test('calls near a time when a server could forget are left out', () => {
  call(true, 100, 130)
  history.forgets(1, undefined, 110)
  history.forgot(1, 120)
  expect(found()).toEqual([])
  expect(check(history).rounds).toMatchObject({ leftOut: 1, awaited: 0 })
  call(true, 9_000, 9_010)
  expect(found()).toEqual([EARLY])
})

test('parties that all wait although their round is complete are convicted, unless a fault is felt', () => {
  for (let i = 0; i < 3; i++) call(false, i, 3_000 + i)
  expect(found()).toContain('all parties waited, and their round did not end')
  history.faults.push({ what: 'listeners killed', where: '1 of 1 servers', from: 30, to: 31 })
  expect(found()).toEqual([])
})

test('an older round that returns is convicted, and so is a complete round that does not end', () => {
  look(7, 1, 0, 5)
  look(null, 0, 10, 15)
  look(8, 2, 20, 25)
  expect(found()).toEqual([])
  look(7, 1, 30, 35)
  expect(found()).toEqual(['an older round came back'])
  look(9, 3, 40, 45)
  expect(found()).toContain('all parties had arrived, and the round was not over')
})

/**
 * Tries all groups of the calls. Returns true if rounds of some calls explain all calls with a known outcome. With
 * `longerMs`, an unknown call may count for this time after its end. All calls of a round must then wait when its first
 * known call returns.
 */
function isExplained(calls: readonly Call[], parties: number, longerMs?: number): boolean {
  const known = calls.filter(({ isKnown }) => isKnown)
  const first = known.sort((a, b) => a.to - b.to)[0]
  if (first === undefined) return true
  const others = calls.filter((one) => one !== first)
  return groupsOf(others, parties - 1).some((group) => {
    const all = [first, ...group]
    const ends = all.map(({ to, isKnown }) => (isKnown ? to : to + (longerMs ?? 0)))
    const at = longerMs === undefined ? Math.min(...ends) : first.to
    if (all.some(({ from }, i) => from > at || (ends[i] ?? 0) < at)) return false
    const left = calls.filter((one) => !all.includes(one))
    return isExplained(left, parties, longerMs)
  })
}

function groupsOf(calls: readonly Call[], count: number): Call[][] {
  if (count === 0) return [[]]
  return calls.flatMap((one, i) =>
    groupsOf(calls.slice(i + 1), count - 1).map((rest) => [one, ...rest]),
  )
}

test('the judge of rounds gives the verdict that all groups of calls give', () => {
  const { below } = randomOf(7)
  const verdicts = { accepted: 0, convicted: 0 }
  for (let i = 0; i < 4_000; i++) {
    history = new History()
    history.about = { startedAt: 0, calmAt: 1_000_000 }
    const parties = 2 + below(2)
    const calls: Call[] = []
    for (let count = 3 + below(5); count > 0; count--) {
      const from = 1_000 * below(20)
      const isKnown = below(10) < 7
      const to = from + 1_000 * (1 + below(5))
      act('await', { parties, waitMs: 60_000 }, isKnown ? true : undefined, [from, to])
      calls.push({ from, to: isKnown ? to : to + MAY_COUNT_MS, isKnown })
    }
    // With this fault, the check compares only the groups.
    history.faults.push({ what: 'busy', where: '1 of 1 servers', from: 0, to: 100_000 })
    const longestMs = Math.max(
      0,
      ...calls.filter(({ isKnown }) => isKnown).map(({ from, to }) => to - from),
    )
    const isAccepted = found().length === 0
    verdicts[isAccepted ? 'accepted' : 'convicted'] += 1
    const shown = { calls, parties, isAccepted }
    expect({ ...shown, isAccepted: isExplained(calls, parties, longestMs) }).toEqual(shown)
    // No correct barrier is convicted.
    if (isExplained(calls, parties)) expect(shown).toMatchObject({ isAccepted: true })
  }
  expect(verdicts.accepted).toBeGreaterThan(200)
  expect(verdicts.convicted).toBeGreaterThan(200)
})
