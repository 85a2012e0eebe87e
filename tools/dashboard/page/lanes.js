// The timeline: a lane for each lock, a bar for each hold, a colour for each holder.
import { newAxis, updateAxis } from './axis.js'
import { element, printable, reconcile, setText } from './dom.js'
import { duration, plural, time, whoOf } from './format.js'
import { wordsOf } from './kinds.js'
import { commonPrefix, nameOf } from './names.js'
import { hashOf } from './place.js'

const COLOURS = 8
/**
 * Holds at the same time are drawn one below the other, in at most this many rows. Further holds
 * are only counted.
 */
const MOST_ROWS = 6
/** A part of a bar that is shorter than this, in pixels, has no label. */
const LABEL_ROOM = 44

/**
 * Sets the colour of a holder. The colour depends only on the name, so a holder has the same colour
 * in all charts.
 */
export function paint(node, who) {
  let hash = 0
  for (const mark of who) hash = (hash * 31 + mark.codePointAt(0)) % 65_521
  node.style.setProperty('--bar', `var(--bar-${hash % COLOURS})`)
  return node
}

/** @param {{ isAlone?: boolean }} options with `isAlone`, the chart has one lane without a name */
export function newChart({ isAlone = false } = {}) {
  const axis = newAxis()
  const space = element('span', {})
  const lanes = element('ul', { class: 'lanes' })
  const head = element('div', { class: 'chart-head' }, ...(isAlone ? [axis] : [space, axis]))
  const node = element('div', { class: isAlone ? 'chart alone' : 'chart' }, head, lanes)
  return { node, axis, lanes, isAlone }
}

export function updateChart({ axis, lanes, isAlone }, past) {
  const marks = updateAxis(axis, past)
  const inOrder = [...past.lanes].sort((a, b) =>
    a.key.localeCompare(b.key, 'en', { numeric: true }),
  )
  const prefix = commonPrefix(inOrder.map(({ key }) => key))
  const width = axis.clientWidth
  reconcile(
    lanes,
    inOrder,
    ({ key }) => key,
    () => newLane(isAlone),
    (node, lane) => {
      if (!isAlone) showName(node, lane.key, prefix)
      const [told, grid, bars] = node.lastElementChild.children
      setText(told, inWords(lane.spans, past.now))
      reconcile(
        grid,
        marks,
        String,
        () => element('i', {}),
        (line, part) => {
          line.style.left = `${100 * part}%`
        },
      )
      updateBars(bars, lane.spans, past, width)
    },
  )
}

function newLane(isAlone) {
  const lane = element(
    'div',
    { class: 'lane' },
    element('span', { class: 'unseen' }),
    element('div', { class: 'grid', 'aria-hidden': true }),
    element('div', { class: 'bars', 'aria-hidden': true }),
  )
  return isAlone ? element('li', {}, lane) : element('li', {}, element('span', {}), lane)
}

function showName(node, key, prefix) {
  const before = node.firstElementChild
  if (before.dataset.prefix === prefix) return
  const link = nameOf(key, prefix, 'a', {
    href: hashOf({ view: 'locks', key }),
    'data-prefix': prefix,
  })
  before.replaceWith(link)
}

/** Describes the lane in words, for screen readers. */
function inWords(spans, now) {
  const names = [...new Set(spans.map(whoOf))].slice(0, 5).join(', ')
  const held = spans.filter(({ to }) => to === null)
  const [first] = held
  const state =
    first === undefined
      ? 'free'
      : `held by ${[...new Set(held.map(whoOf))].slice(0, 5).join(', ')} for ${duration(now - first.from)}`
  return `${plural(spans.length, 'hold')}, by ${names}; now ${state}`
}

function updateBars(node, spans, { from, now }, width) {
  const ends = []
  const placed = []
  let left = 0
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const start = Math.max(span.from, from)
    const end = span.to ?? now
    const free = ends.findIndex((one) => one <= start)
    const row = free === -1 ? ends.length : free
    if (row >= MOST_ROWS) left++
    else {
      ends[row] = end
      placed.push({ span, start, end, row })
    }
  }
  const rows = String(Math.max(1, ends.length))
  node.dataset.rows = rows
  node.style.setProperty('--rows', rows)
  const whole = now - from
  if (left > 0) placed.push({ more: left })
  reconcile(node, placed, idOf, newBar, (bar, one) => {
    if (one.more !== undefined)
      return setText(bar, `and ${plural(one.more, 'more hold')} at the same time`)
    const { span, start, end, row } = one
    const share = (100 * (end - start)) / whole
    bar.style.left = `${(100 * (start - from)) / whole}%`
    bar.style.width = `${share}%`
    bar.style.setProperty('--row', String(row))
    bar.dataset.ending = span.ending ?? 'held'
    bar.title = printable(titleOf(span, now))
    const sure =
      end === start ? 1 : Math.max(0, Math.min(end, span.sureUntil) - start) / (end - start)
    const [solid, tail] = bar.children
    solid.style.width = `${100 * sure}%`
    tail.hidden = sure >= 1 && span.ending !== 'unrecorded'
    const px = (share / 100) * width
    const who = whoOf(span)
    setText(solid, px * sure >= LABEL_ROOM ? who : '')
    setText(tail, px * sure < LABEL_ROOM && px * (1 - sure) >= LABEL_ROOM ? who : '')
  })
}

const idOf = ({ span, more }) =>
  more === undefined ? `${span.owner} ${span.token} ${span.from}` : 'more'

function newBar({ span, more }) {
  if (more !== undefined) return element('p', { class: 'more' })
  const parts = [element('span', { class: 'sure' }), element('span', { class: 'tail' })]
  return paint(element('div', { class: 'bar' }, ...parts), whoOf(span))
}

/** Returns in a few words how a hold ended. */
export function endingOf({ ending, to, sureUntil, kind }) {
  if (ending === null) return 'still held'
  if (ending === 'untold') return 'a permit without a lease: its end is unknown'
  if (ending !== 'unrecorded') return ending === 'seen' ? 'over' : ending
  const { it } = wordsOf(kind)
  if (to === null) return `not known whether the ${it} still held; held at ${time(sureUntil)}`
  return `no end recorded: held at ${time(sureUntil)}, over by ${time(to)}`
}

function titleOf(span, now) {
  const { from, to } = span
  const lasted = span.ending === 'untold' ? '' : `, for ${duration((to ?? now) - from)}`
  return `${whoOf(span)}: ${time(from)}${lasted}, ${endingOf(span)}`
}
