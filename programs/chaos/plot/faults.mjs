// The rows of the faults: one row for the servers, and one row for each client.
import { clientOf } from '../checkers/disturbances.mjs'
import { lanesOf } from './lanes.mjs'
import { rect, text } from './svg.mjs'

const LANE_HEIGHT = 15
const LETTER_WIDTH = 5.1

/** @returns the parts of the picture, and the lower end of the rows */
export function faultRows(faults, { x, top, left, right, isSeen }) {
  const rows = new Map()
  for (const one of faults) {
    if (!isSeen(one.from, one.to)) continue
    const name = clientOf(one) ?? 'servers'
    rows.set(name, [...(rows.get(name) ?? []), one])
  }
  const parts = []
  let y = top
  for (const [name, all] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
    all.sort((a, b) => a.from - b.from)
    const lanes = lanesOf(all.map(({ from, to }) => [from, to]))
    const colour = name === 'servers' ? 'fault' : `c${(Number(name.slice(7)) - 1) % 6} faint`
    parts.push(text(left - 10, y + 10, name, 'small end'))
    for (const [i, one] of all.entries()) {
      const at = y + lanes.of[i] * LANE_HEIGHT
      const words = wordsOf(one)
      const tookMs = (one.to - one.from).toFixed(0)
      const width = x(one.to) - x(one.from)
      parts.push(rect(x(one.from), at, width, LANE_HEIGHT - 3, colour, `${words}, ${tookMs} ms`))
      const next = all.findIndex((_, k) => k > i && lanes.of[k] === lanes.of[i])
      const room = (next === -1 ? right : x(all[next].from)) - x(one.from) - 6
      const label = cut(words, Math.floor(room / LETTER_WIDTH))
      if (label !== '') parts.push(text(x(one.from) + 3, at + 9.5, label, 'tiny'))
    }
    y += lanes.count * LANE_HEIGHT + 3
  }
  return { parts, bottom: y }
}

/** The row shows the client, so the text does not repeat it. */
function wordsOf({ what, where }) {
  const words = where ? `${what}, ${where}` : what
  return words.replace(/,? ?client \d+ ?/, '').replace(/^client |, 1 of 1 ways$/g, '')
}

function cut(words, most) {
  if (words.length <= most) return words
  return most >= 6 ? `${words.slice(0, most - 1)}…` : ''
}
