// Draws a run as an SVG picture. Time runs from left to right. The faults are on top. Each lock has a row with its
// holders and the number of its waiters. The picture uses the light or dark mode of its viewer.
import { clientOf } from './checkers/disturbances.mjs'
import { faultRows } from './plot/faults.mjs'
import { findingsOf } from './plot/findings.mjs'
import { colourOf, lockRows } from './plot/locks.mjs'
import { picture, rect, text } from './plot/svg.mjs'
import { windowOf } from './plot/window.mjs'

const WIDTH = 1_600
const [LEFT, RIGHT, TOP] = [96, WIDTH - 20, 92]
const STEPS_MS = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]

/** @param report the result of `check`; its findings are drawn in red */
export function plot(history, report) {
  const findings = findingsOf(report)
  const { from, to } = windowOf(history, findings)
  const startedAt = history.about.startedAt ?? from
  const x = (at) =>
    LEFT + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (RIGHT - LEFT)
  const isSeen = (begin, end) => end >= from && begin <= to
  const view = { from, to, x, isSeen, startedAt, left: LEFT, right: RIGHT }

  const faults = faultRows(report.faults, { ...view, top: TOP })
  const rows = lockRows(history, findings, { ...view, top: faults.bottom + 10 })
  const bottom = rows.bottom + 2
  const title = `A run under faults: ${history.about.world}, seed ${history.about.seed}`
  return picture(WIDTH, bottom + 28, title, [
    ...heading(history, report, view),
    ...axis(view, bottom),
    ...faults.parts,
    ...rows.parts,
    ...shades(history, report.faults, view, faults.bottom + 4, bottom),
  ])
}

function heading({ about, attempts, operations }, { convictions }, { from, to, startedAt }) {
  const all = [...attempts.values()].flat()
  const done = Object.values(operations).reduce((sum, count) => sum + count, 0)
  const found = Object.entries(convictions).filter(([, count]) => count > 0)
  const verdict = found.map(([what, count]) => `${what} ${count}`).join(', ')
  const seconds = (time) => ((time - startedAt) / 1_000).toFixed(1)
  const figures =
    `${seconds(from)} to ${seconds(to)} s · ${done.toLocaleString('en')} operations in the run · ` +
    `${verdict === '' ? 'nothing convicted' : `convicted: ${verdict}`}`
  const keys = [...new Set(all.map(colourOf))].sort().map((n) => [`c${n}`, `client ${n + 1}`])
  keys.push(
    ['had faint', 'granted, not inside'],
    ['c0 reads', 'reads'],
    ['out', 'permits out'],
    ['mark', 'counted down'],
    ['waiting', 'waiting'],
    ['shade', 'a server is faulty'],
  )
  keys.push(['taken', 'may be taken away'], ['found', 'convicted'])
  let at = LEFT
  const legend = keys.flatMap(([name, words]) => {
    const begin = at
    at += 36 + words.length * 5.8
    const colour = name === 'had faint' ? 'c0 had' : name
    return [rect(begin, 58, 14, 10, colour), text(begin + 20, 67, words, 'small')]
  })
  return [
    text(LEFT, 24, `${about.world ?? 'history'}, seed ${about.seed ?? '?'}`, 'head'),
    text(LEFT, 44, figures, verdict === '' ? '' : 'bad'),
    ...legend,
  ]
}

function axis({ from, to, x, startedAt }, bottom) {
  const stepMs = STEPS_MS.find((ms) => (to - from) / ms <= 24) ?? 30_000
  const parts = []
  const first = startedAt + Math.ceil((from - startedAt) / stepMs) * stepMs
  for (let at = first; at <= to; at += stepMs) {
    const words = `${Number(((at - startedAt) / 1_000).toFixed(2))} s`
    parts.push(`<path class="grid" d="M${x(at).toFixed(1)},${TOP - 6}V${bottom}"/>`)
    parts.push(text(x(at), bottom + 16, words, 'small middle'))
  }
  return parts
}

/** A time that concerns all locks is drawn through all rows. */
function shades({ windows }, faults, { x, isSeen }, top, bottom) {
  const shade = (name) => (one) =>
    rect(x(one.from), top, x(one.to) - x(one.from), bottom - top, name)
  const isOfAll = (one) => isSeen(one.from, one.to) && one.lock === undefined
  return [
    ...faults.filter((one) => isOfAll(one) && clientOf(one) === undefined).map(shade('shade')),
    ...windows.filter(isOfAll).map(shade('taken')),
  ]
}
