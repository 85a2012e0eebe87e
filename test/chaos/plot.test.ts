import { check } from '../../programs/chaos/checkers/check.mjs'
import { History } from '../../programs/chaos/checkers/history.mjs'
import { plot } from '../../programs/chaos/plot.mjs'

/** One lock. One client after another holds it, for a hundred milliseconds each. */
function historyOf(seconds: number): History {
  const history = new History()
  history.about = { world: 'single', seed: 7, startedAt: 1_000, calmAt: 1_000 * seconds }
  for (let i = 0; i < 10 * seconds; i++) hold(history, i, 1_000 + 100 * i, 90)
  return history
}

function hold(history: History, i: number, from: number, ms: number): void {
  const id = `client ${1 + (i % 2)}.9.${i}`
  const tell = (at: number, kind: string, said = {}) => history.hear({ kind, id, ...said }, at)
  tell(from, 'ask', { lock: 'lock <a>', waits: true })
  tell(from + 1, 'enter', { result: 'granted', token: i + 1, validUntil: from + 5_000 })
  tell(from + ms, 'leave', { releasing: true })
  tell(from + ms + 1, 'released', { released: true })
}

const drawn = (history: History) => plot(history, check(history))
const inTheRow = (svg: string) => svg.split('</style>')[1] as string

test('the drawing of a run shows its locks, its faults and the times when a server could forget a lock', () => {
  const history = historyOf(10)
  history.faults.push({ what: 'client paused', where: 'client 2', from: 2_000, to: 4_000 })
  history.faults.push({ what: 'busy', where: '1 of 1 servers', from: 5_000, to: 7_000 })
  history.forgets(1, undefined, 8_000)
  history.forgot(1, 8_500)
  const svg = drawn(history)
  for (const words of [
    'single, seed 7',
    'lock &lt;a&gt;',
    '>paused<',
    '>client 2<',
    '>busy, 1 of 1 servers<',
    'client 1',
    '9.5 s<',
  ]) {
    expect(svg).toContain(words)
  }
  expect(svg).toContain('100 operations in the run · nothing convicted')
  expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  // The legend contains each of these marks once more.
  expect(svg.match(/class="shade"/g)).toHaveLength(2)
  expect(svg.match(/class="taken"/g)).toHaveLength(2)
  expect(svg.match(/class="found"/g)).toHaveLength(1)
})

test('a conviction is drawn in red and named', () => {
  const history = historyOf(10)
  hold(history, 1_000, 5_030, 40)
  const svg = drawn(history)
  expect(svg).toContain('convicted: linearizability 1')
  expect(inTheRow(svg)).toContain('<title>cannot be explained</title>')
  expect(inTheRow(svg)).toMatch(/class="tiny bad">cannot be explained</)
})

test('the drawing of a long run shows the part around a conviction', () => {
  const history = historyOf(200)
  expect(drawn(history)).toMatch(/>[\d.]+ to [\d.]+ s · 2,000 operations/)
  hold(history, 10_000, 151_030, 40)
  expect(drawn(history)).toContain('>145.0 to 165.0 s ·')
  expect(drawn(history).length).toBeLessThan(100_000)
})

test('readers, permits and rounds have their own marks in the drawing', () => {
  const history = new History()
  history.about = { world: 'single', seed: 7, startedAt: 0, calmAt: 1_000 }
  const grant = { result: 'granted', validUntil: 2_000 }
  const tell = (at: number, kind: string, id: string, said = {}) =>
    history.hear({ kind, id, ...said }, at)
  for (const [i, mode] of ['read', 'read', 'write'].entries()) {
    const from = mode === 'write' ? 500 : 100
    tell(from, 'ask', `client 1.9.${i}`, { lock: 'rw', family: 'read-write', mode })
    tell(from + 1, 'enter', `client 1.9.${i}`, { ...grant, token: 1 + from })
    tell(from + 90, 'leave', `client 1.9.${i}`, { releasing: true })
    tell(from + 91, 'released', `client 1.9.${i}`, { released: true })
  }
  for (const i of [10, 11]) {
    const id = `client 2.9.${i}`
    tell(10 * i, 'ask', id, { lock: 'slots', family: 'permits', permits: 2, most: 4 })
    tell(10 * i + 1, 'enter', id, { ...grant, token: i })
    tell(400, 'leave', id, { releasing: true })
    tell(401, 'released', id, { released: true })
  }
  const acts: [string, object, unknown][] = [
    ['set', { count: 2 }, true],
    ['inspect', {}, { count: 2, round: 7 }],
    ['count-down', { round: 7 }, 1],
    ['count-down', { round: 7 }, 0],
    ['await', { round: 7, waitMs: 500 }, true],
  ]
  for (const [i, [act, said, answer]] of acts.entries()) {
    const id = `client 3.9.${i}`
    tell(100 * i, 'ask', id, { lock: 'latch', family: 'latch', act, ...said })
    tell(100 * i + 50, 'settle', id, { result: 'done', answer })
  }
  const svg = inTheRow(drawn(history))
  expect(svg).toContain('nothing convicted')
  for (const name of ['c0 reads', 'out', 'limit', 'mark', 'c0 had']) {
    expect(svg).toContain(`class="${name}"`)
  }
  expect(svg).not.toMatch(/NaN|Infinity|undefined/)
})
