// The timeline and the view of waits. The visible view requests the past again and again.
import { byId, element, setText } from './dom.js'
import { plural } from './format.js'
import { newChart, updateChart } from './lanes.js'
import { legendOf } from './legend.js'
import { paused } from './stream.js'
import { showWaits } from './waits.js'

const EVERY_MS = 2_000

export async function fetchJson(path, parameters, options) {
  const response = await fetch(`${path}?${new URLSearchParams(parameters)}`, options)
  const body = await response.json().catch(() => ({ error: `the answer was ${response.status}` }))
  if (!response.ok) throw new Error(body.error)
  return body
}

const views = {
  timeline: {
    ask: () => ({ minutes: byId('timeline-minutes').value, filter: byId('timeline-filter').value }),
    show: showTimeline,
  },
  waits: { ask: () => ({ minutes: byId('waits-minutes').value }), show: showWaits },
}

let timer
let turn = 0

/** @param {string} name the view that is visible now */
export function follow(name) {
  clearTimeout(timer)
  const view = views[name]
  const own = ++turn
  if (view === undefined) return
  let isFirst = true
  const again = async () => {
    try {
      if (!document.hidden && (isFirst || !paused())) {
        const past = await fetchJson('api/past', view.ask())
        if (own === turn) view.show(past)
        isFirst = false
      }
    } catch (error) {
      if (own === turn) setText(byId(`${name}-source`), `It could not be asked: ${error.message}`)
    }
    if (own === turn) timer = setTimeout(again, EVERY_MS)
  }
  void again()
}

export function newPast() {
  for (const id of ['timeline-minutes', 'timeline-filter']) {
    byId(id).addEventListener('input', () => follow('timeline'))
  }
  byId('waits-minutes').addEventListener('input', () => follow('waits'))
  new ResizeObserver(() => shown !== undefined && showTimeline(shown)).observe(
    byId('timeline-chart'),
  )
}

function sourceOf({ source, error }) {
  if (error !== null)
    return `The history could not be read: ${error}. The page shows what this dashboard saw.`
  return source === 'history'
    ? 'From the history: all holds that services recorded. Other holds are as this dashboard saw them.'
    : 'As this dashboard saw it, once a second while a page is open: short holds are missing. No history is recorded, or the dashboard does not read it.'
}

let chart
let shown

function showTimeline(past) {
  shown = past
  const more = past.lockCount - past.lanes.length
  const rest =
    more > 0
      ? ` It shows ${past.lanes.length} of ${plural(past.lockCount, 'lock')}: the locks that were held for longest.`
      : ''
  setText(byId('timeline-source'), sourceOf(past) + rest)
  const place = byId('timeline-chart')
  if (past.lanes.length === 0) {
    chart = undefined
    place.replaceChildren(element('p', { class: 'nothing' }, 'Nothing was held in this time.'))
    return
  }
  if (chart === undefined) {
    chart = newChart()
    place.replaceChildren(element('div', { class: 'legend' }), chart.node)
  }
  updateChart(chart, past)
  const legend = legendOf(past)
  if (!legend.isEqualNode(place.firstElementChild)) place.firstElementChild.replaceWith(legend)
}
