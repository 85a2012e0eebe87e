// The rows that show numbers: the acquired permits as steps, and the rounds of a latch.
import { actsUntil } from '../checkers/acts-until.mjs'
import { bars, text } from './svg.mjs'

const HEIGHT = 24

/** The number of acquired permits, with a line at the number of all permits. */
export function permitParts(all, { x, top, left, right, isSeen }) {
  const most = all[0].most ?? 1
  const base = top + HEIGHT
  const changes = []
  for (const one of all) {
    const { enteredAt, permits = 1 } = one
    if (enteredAt === undefined) continue
    // A killed process keeps its permits, and nothing ends them.
    const end = Math.min(one.leftAt ?? Infinity, actsUntil(one))
    if (end > enteredAt && isSeen(enteredAt, end))
      changes.push([enteredAt, permits], [end, -permits])
  }
  changes.sort(([a], [b]) => a - b)
  let [out, highest] = [0, most]
  /** For each column of pixels: the largest number, and the number at the end of the column. */
  const steps = []
  for (const [at, change] of changes) {
    const from = Math.round(x(at))
    if (steps.at(-1)?.from !== from) steps.push({ from, count: out + change })
    out += change
    steps.at(-1).count = Math.max(steps.at(-1).count, out)
    steps.at(-1).left = out
    highest = Math.max(highest, out)
  }
  const y = (count) => Math.round(base - (count / highest) * (HEIGHT - 3))
  let d = `M${left},${base}`
  let last = base
  const go = (at, count) => {
    if (y(count) === last) return
    last = y(count)
    d += `H${at}V${last}`
  }
  for (const { from, count, left: after } of steps) {
    go(from, count)
    go(from + 1, after)
  }
  const parts = [
    `<path class="out" d="${d}H${right}V${base}z"/>`,
    `<path class="limit" d="M${left},${y(most)}H${right}"/>`,
    text(right + 3, y(most) + 3, `${most}`, 'tiny'),
  ]
  return { parts, height: HEIGHT }
}

/** A bar from the first inspection of each round to its end, and a mark for each count-down. */
export function latchParts(all, { x, top, isSeen }) {
  const rounds = new Map()
  const marks = []
  for (const { act, round, answer, result, askedAt, settledAt } of all) {
    if (result !== 'done') continue
    const id = act === 'inspect' ? answer.round : round
    if (act === 'count-down' && typeof answer === 'number' && isSeen(askedAt, settledAt)) {
      marks.push([x(settledAt), top, 0.7, HEIGHT - 2])
    }
    if (!id) continue
    const seen = rounds.get(id) ?? { from: askedAt, to: settledAt, isOver: false }
    rounds.set(id, seen)
    if (!seen.isOver) seen.to = settledAt
    if ((act === 'count-down' && !answer) || (act !== 'inspect' && answer === true))
      seen.isOver = true
  }
  const shown = [...rounds.values()].filter(({ from, to }) => isSeen(from, to))
  const ofParity = (parity) =>
    shown
      .filter((_, i) => i % 2 === parity)
      .map(({ from, to }) => [x(from), top + 4, x(to) - x(from), HEIGHT - 10])
  const parts = [
    ...bars(ofParity(0), 'c0 had'),
    ...bars(ofParity(1), 'c1 had'),
    ...bars(marks, 'mark'),
  ]
  return { parts, height: HEIGHT }
}
