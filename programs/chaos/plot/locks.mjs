// The rows of the locks: the holders and the number of waiters of each lock.
import { clientOf } from '../checkers/disturbances.mjs'
import { endOf } from './findings.mjs'
import { lanesOf } from './lanes.mjs'
import { latchParts, permitParts } from './numbers.mjs'
import { bars, rect, text } from './svg.mjs'

const [BAR_HEIGHT, WAITING_HEIGHT, GAP] = [11, 12, 8]
const MOST_ROWS = 30
const MOST_LANES = 4
const MOST_LETTERS = 14

export const colourOf = ({ process }) =>
  (Number(/\d+/.exec(clientOf({ process }) ?? '1')[0]) - 1) % 6

/** @returns the parts of the picture, and the lower end of the rows */
export function lockRows({ attempts, windows }, findings, view) {
  const parts = []
  let y = view.top
  for (const lock of rowsOf(attempts, findings)) {
    const row = lockRow(attempts.get(lock), { ...view, top: y })
    parts.push(rect(view.left, y - 3, view.right - view.left, row.height + 4, 'row'))
    parts.push(text(view.left - 10, y + 10, shortened(lock), 'name'))
    for (const one of windows) {
      if (one.lock !== lock || !view.isSeen(one.from, one.to)) continue
      parts.push(rect(view.x(one.from), y, view.x(one.to) - view.x(one.from), row.height, 'taken'))
    }
    parts.push(...row.parts)
    for (const { lock: where, what, from, to } of findings) {
      if (where !== lock || !view.isSeen(from, to)) continue
      const at = view.x(from)
      parts.push(rect(at - 1, y - 2, view.x(to) - at + 2, row.height + 2, 'found', what))
    }
    parts.push(...words(findings, lock, view, y + row.height - 2))
    y += row.height + GAP
  }
  return { parts, bottom: y }
}

/** The end of a long name, because names differ there. */
const shortened = (name) => (name.length > MOST_LETTERS ? `…${name.slice(1 - MOST_LETTERS)}` : name)

/** Locks with findings come first. If there are too many locks, only the busiest locks have rows. */
function rowsOf(attempts, findings) {
  const found = new Set(findings.map(({ lock }) => lock))
  const names = [...attempts.keys()].sort()
  if (names.length <= MOST_ROWS) return names
  const rank = (lock) => (found.has(lock) ? Infinity : attempts.get(lock).length)
  return names.sort((a, b) => rank(b) - rank(a)).slice(0, MOST_ROWS)
}

/** The texts of the findings, one text for each kind of finding. */
function words(findings, lock, { x, isSeen }, y) {
  const kinds = new Map()
  for (const one of findings) {
    if (one.lock === lock && isSeen(one.from, one.to) && !kinds.has(one.what))
      kinds.set(one.what, one)
  }
  if (kinds.size === 0) return []
  const from = Math.min(...[...kinds.values()].map((one) => one.from))
  return [text(x(from) + 4, y, [...kinds.keys()].join(', '), 'tiny bad')]
}

/** The kinds whose rows show numbers instead of holders. */
const NUMBERS = { permits: permitParts, semaphore: permitParts, latch: latchParts }

function lockRow(all, view) {
  const { x, left, right, top } = view
  const partsOf = NUMBERS[all[0]?.family]
  const { parts, height } = partsOf === undefined ? holderParts(all, view) : partsOf(all, view)
  const whole = height + WAITING_HEIGHT
  const base = top + whole - 1
  return { parts: [...parts, ...waiting(all, { x, left, right, base })], height: whole }
}

/** A bar for each holder. Readers are side by side, and pale. */
function holderParts(all, { x, top, isSeen }) {
  const held = all
    .filter((one) => one.result === 'granted' && (one.within === undefined || one.mode === 'write'))
    .filter((one) => isSeen(one.settledAt, endOf(one)))
    .sort((a, b) => a.settledAt - b.settledAt)
  const inside = held.map((one) => [one.enteredAt ?? one.settledAt, one.leftAt ?? endOf(one)])
  const lanes = lanesOf(inside)
  const count = Math.min(lanes.count, MOST_LANES)
  const groups = new Map()
  const add = (name, bar) => {
    const group = groups.get(name) ?? []
    groups.set(name, group)
    const last = group.at(-1)
    // Bars that are too close together become one bar.
    if (last !== undefined && last[1] === bar[1] && bar[0] - (last[0] + last[2]) < 0.3) {
      last[2] = Math.max(last[2], bar[0] + bar[2] - last[0])
    } else group.push(bar)
  }
  for (const [i, one] of held.entries()) {
    const y = top + Math.min(lanes.of[i], count - 1) * BAR_HEIGHT
    const [from, to] = inside[i]
    const isReader = one.mode === 'read' || one.mode === 'upgradable'
    const colour = `c${colourOf(one)}${isReader ? ' reads' : ''}`
    const height = BAR_HEIGHT - 1
    add(`${colour} had`, [x(one.settledAt), y, x(endOf(one)) - x(one.settledAt), height])
    add(colour, [x(from), y, x(to) - x(from), height])
  }
  const shown = [...groups].sort(([a], [b]) => b.includes('had') - a.includes('had'))
  return { parts: shown.flatMap(([name, some]) => bars(some, name)), height: count * BAR_HEIGHT }
}

/** The number of waiters as an area, at most as high as its strip. */
function waiting(all, { x, left, right, base }) {
  const counts = new Array(Math.ceil(right - left) + 2).fill(0)
  for (const { waits, act, askedAt, settledAt } of all) {
    if (!(waits || act === 'await') || settledAt === undefined || x(settledAt) - x(askedAt) < 1)
      continue
    counts[Math.round(x(askedAt) - left)] += 1
    counts[Math.round(x(settledAt) - left)] -= 1
  }
  let now = 0
  const heights = counts.map((change) => {
    now += change
    return now
  })
  const most = Math.max(8, ...heights)
  let d = `M${left},${base}`
  let last = 0
  for (const [i, count] of heights.entries()) {
    if (count === last || i > right - left) continue
    last = count
    d += `H${left + i}V${(base - (count / most) * (WAITING_HEIGHT - 2)).toFixed(1)}`
  }
  return [`<path class="waiting" d="${d}H${right}V${base}z"/>`]
}
