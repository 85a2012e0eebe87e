// The two views of the time before now. What they show is asked for anew while they are seen.
import { byId, element, setText } from './dom.js'
import { count, duration, time } from './format.js'
import { axisOf, lanesOf, legendOf } from './lanes.js'

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

/** @param {string} name of the view that is seen now */
export function follow(name) {
  clearTimeout(timer)
  const view = views[name]
  const own = ++turn
  if (view === undefined) return
  const again = async () => {
    try {
      if (!document.hidden) {
        const past = await fetchJson('api/past', view.ask())
        if (own === turn) view.show(past)
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
}

const HOW =
  "import { recordHistory } from 'holdfast/history'\n\nrecordHistory({ redis: process.env.REDIS_URL })"

function sourceOf({ source, error }) {
  if (error !== null) return `The history could not be read: ${error}. This is what was seen here.`
  return source === 'history'
    ? 'From the history: all that was recorded.'
    : 'As seen here, once a second while somebody looks: short holds are missed. No history is recorded, or it is not read here.'
}

function showTimeline(past) {
  setText(byId('timeline-source'), sourceOf(past))
  const chart = byId('timeline-chart')
  if (past.spans.length === 0) {
    chart.replaceChildren(element('p', { class: 'nothing' }, 'Nothing was held in this time.'))
    return
  }
  chart.replaceChildren(axisOf(past), lanesOf(past), legendOf(past))
}

function showWaits(past) {
  const figures = byId('waits-figures')
  if (past.waits === null) {
    setText(
      byId('waits-source'),
      past.error === null
        ? 'Waits and losses are told by the history, and none is recorded, or it is not read here. Each service that uses locks turns it on, and the dashboard takes it as its option history:'
        : sourceOf(past),
    )
    figures.replaceChildren(past.error === null ? element('pre', { tabindex: 0 }, HOW) : '')
    return
  }
  setText(byId('waits-source'), sourceOf(past))
  figures.replaceChildren(
    totalsOf(past.waits),
    element('h3', {}, 'Waited for longest'),
    past.contended.length === 0
      ? element('p', {}, 'Nobody waited.')
      : tableOf(
          ['Lock', 'Calls', 'Median', '95 %', '99 %', 'Longest'],
          past.contended.map((one) => [
            element('span', { class: 'key' }, one.key),
            count(one.count),
            ...[one.p50Ms, one.p95Ms, one.p99Ms, one.maxMs].map(duration),
          ]),
          1,
        ),
    element('h3', {}, 'Lost, forced, or not acquired'),
    past.losses.length === 0
      ? element('p', {}, 'Nothing.')
      : tableOf(
          ['When', 'Lock', 'What', 'Why', 'Who'],
          past.losses.map((one) => [
            time(one.at),
            element('span', { class: 'key' }, one.key),
            one.event,
            one.reason ?? '–',
            one.label ?? '–',
          ]),
          9,
        ),
  )
}

function totalsOf({ count: all, p50Ms, p95Ms, p99Ms, maxMs }) {
  const facts = {
    'waits ended': count(all),
    median: duration(p50Ms),
    '95 %': duration(p95Ms),
    '99 %': duration(p99Ms),
    longest: duration(maxMs),
  }
  return element(
    'dl',
    { class: 'totals' },
    ...Object.entries(facts).map(([name, value]) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, value)),
    ),
  )
}

function tableOf(heads, rows, numbersFrom) {
  const cell = (tag) => (value, i) =>
    element(
      tag,
      { class: i >= numbersFrom ? 'number' : undefined, scope: tag === 'th' ? 'col' : undefined },
      value,
    )
  return element(
    'table',
    { class: 'plain' },
    element('thead', {}, element('tr', {}, ...heads.map(cell('th')))),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cell('td'))))),
  )
}
