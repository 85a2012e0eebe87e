// The time labels above a chart: as many as fit, at round times such as full minutes.
import { element, reconcile, setText } from './dom.js'

/** The shortest distance between two time labels, in pixels. */
const ROOM = 84
const STEPS_S = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200]

/**
 * @returns `marks`: the moments at round times in the time zone of the viewer, the earliest first.
 * `step`: the time between two marks in milliseconds
 */
function marksOf({ from, now }, width) {
  const whole = now - from
  const least = (whole * ROOM) / Math.max(width, ROOM)
  const step = 1_000 * (STEPS_S.find((one) => one * 1_000 >= least) ?? 86_400)
  const zone = new Date(now).getTimezoneOffset() * 60_000
  const marks = []
  for (let at = Math.ceil((from - zone) / step) * step + zone; at < now; at += step) marks.push(at)
  return { step, marks }
}

export function newAxis() {
  return element('div', { class: 'axis', 'aria-hidden': true })
}

/** @returns the positions of the marks, from 0 to 1, for the lines in the lanes below */
export function updateAxis(axis, past) {
  const width = axis.clientWidth
  const { step, marks } = marksOf(past, width)
  const partOf = (at) => (at - past.from) / (past.now - past.from)
  const edge = ROOM / 2 / Math.max(width, 1)
  const options = { hour: '2-digit', minute: '2-digit' }
  const format = step < 60_000 ? { ...options, second: '2-digit' } : options
  const labels = marks
    .filter((at) => partOf(at) >= edge && partOf(at) <= 1 - edge - 0.5 * edge)
    .map((at) => ({ at, text: new Date(at).toLocaleTimeString('en-GB', format) }))
  labels.push({ at: past.now, text: 'now' })
  reconcile(
    axis,
    labels,
    ({ text }) => text,
    ({ text }) => element('span', { class: text === 'now' ? 'now' : undefined }),
    (node, { at, text }) => {
      setText(node, text)
      node.style.left = `${100 * partOf(at)}%`
    },
  )
  return marks.map(partOf)
}
