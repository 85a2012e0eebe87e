// The panel of one lock: its holders, its waiters, how to free it, and its last holds.
import { stateMark } from './columns.js'
import { concernsOf } from './concerns.js'
import { factsOf, freeOf, holdersOf, lastHoldsOf, queueOf, setSentences } from './detail-parts.js'
import { byId, element, icon } from './dom.js'
import { mayForce } from './force.js'
import { newChart, updateChart } from './lanes.js'
import { legendOf } from './legend.js'
import { fetchJson } from './past.js'
import { runsOf } from './runs.js'
import { paused, serverNow } from './stream.js'
import { onTick, tick } from './ticker.js'

const EVERY_MS = 2_000
const MINUTES = 5

let shown
let timer
let last = ''
let lastCommand = ''
let found
let chart
let onClose = () => {}

/** @param {() => void} listener */
export function newDetail(listener) {
  onClose = listener
  byId('detail').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') onClose()
  })
  onTick(() => found !== undefined && showConcerns())
}

/** @param {string | undefined} key */
export function showDetail(key) {
  clearTimeout(timer)
  shown = key
  last = ''
  found = undefined
  chart = undefined
  const panel = byId('detail')
  panel.hidden = key === undefined
  byId('locks').classList.toggle('open', key !== undefined)
  if (key === undefined) return
  const close = element(
    'button',
    { type: 'button', class: 'close', 'aria-label': 'Close', onclick: () => onClose() },
    '✕',
  )
  panel.replaceChildren(
    element('div', { class: 'title' }, element('h2', { id: 'detail-title' }, key), close),
    element('div', { id: 'detail-body' }, element('p', { class: 'lead' }, 'Looking…')),
  )
  panel.scrollTop = 0
  panel.focus({ preventScroll: true })
  void again(key)
}

/** Reads the lock of the panel again, at once. */
export function refreshDetail() {
  clearTimeout(timer)
  if (shown !== undefined) void again(shown)
}

async function again(key) {
  if (!document.hidden && (last === '' || !paused())) {
    const [lock, past] = await Promise.allSettled([
      fetchJson('api/lock', { key }),
      fetchJson('api/past', { key, minutes: MINUTES }),
    ])
    if (key === shown) {
      if (lock.status === 'fulfilled') fill(lock.value)
      else fillWithout(lock.reason.message)
      if (past.status === 'fulfilled') showPast(past.value)
      tick()
    }
  }
  if (key === shown) {
    clearTimeout(timer)
    timer = setTimeout(() => void again(key), EVERY_MS)
  }
}

function fill({ lock, toFree }) {
  found = lock
  const command = JSON.stringify([toFree.command, toFree.needsPassword])
  const text = JSON.stringify([lock, mayForce(), command])
  const kept = byId('detail-free')
  const free = kept !== null && command === lastCommand ? kept : freeOf(toFree)
  lastCommand = command
  setSentences(free, toFree.sentences)
  if (text !== last) {
    last = text
    const focused = document.activeElement?.dataset?.force
    const body = byId('detail-body')
    if (free !== kept) body.replaceChildren(free)
    // The block with the command is never moved, because a moved node loses its focus and its
    // selection.
    for (const one of [...body.childNodes]) if (one !== free) one.remove()
    free.before(
      element('div', { id: 'detail-lead', class: 'lead' }),
      ...runsOf(lock),
      ...holdersOf(lock),
      element('h3', {}, 'How to free it'),
    )
    free.after(...queueOf(lock), ...pastParts(), element('h3', {}, 'More'), factsOf(lock))
    const wanted = `[data-force="${CSS.escape(focused ?? '')}"]`
    if (focused !== undefined) byId('detail-body').querySelector(wanted)?.focus()
  }
  showConcerns()
}

/**
 * Shows a message instead of a lock that does not exist or could not be read. The panel still shows
 * the past holds.
 */
function fillWithout(message) {
  found = undefined
  if (message === last) return
  last = message
  byId('detail-body').replaceChildren(element('p', { class: 'lead' }, message), ...pastParts())
}

function pastParts() {
  chart = newChart({ isAlone: true })
  return [element('h3', {}, `The last ${MINUTES} minutes`), element('div', { id: 'detail-past' })]
}

let shownConcerns

function showConcerns() {
  const concerns = concernsOf(found, serverNow())
  const lead = byId('detail-lead')
  const text = JSON.stringify([found.stateText, concerns])
  if (lead.firstChild !== null && shownConcerns === text) return
  shownConcerns = text
  const worries = concerns.map(({ level, text }) =>
    element('li', { class: level }, icon(level), element('span', {}, text)),
  )
  lead.replaceChildren(
    element('p', {}, stateMark(found, concerns), element('span', { class: 'kind' }, found.kind)),
    worries.length === 0 ? '' : element('ul', { class: 'concerns' }, ...worries),
  )
}

function showPast(past) {
  const place = byId('detail-past')
  const [lane] = past.lanes
  if (lane === undefined) {
    place.replaceChildren(element('p', {}, 'No holder was seen.'))
    return
  }
  if (chart.node.parentNode !== place)
    place.replaceChildren(chart.node, element('div'), element('div'))
  updateChart(chart, past)
  const [, legend, holds] = place.children
  legend.replaceWith(legendOf(past))
  holds.replaceWith(lastHoldsOf(lane.spans, past.now))
}
