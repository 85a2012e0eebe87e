// The part of the panel about the runs of a job. All times are times of the server.
import { element } from './dom.js'
import { count, duration } from './format.js'

/** @returns the nodes about the last run and the runs that have ended; none for other kinds */
export function runsOf({ job }) {
  if (job === null || job.last === null) return []
  const { last, ended, missed } = job
  const facts = {
    state: last.state,
    by: last.by,
    begun: dateOf(last.startedAt),
    took: duration(last.durationMs),
    ...(last.tick !== null && { tick: dateOf(last.tick) }),
    ...(last.result !== null && { result: last.result }),
    ...(last.error !== null && { error: last.error }),
    'missed ticks': count(missed),
  }
  const rows = Object.entries(facts).flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, value),
  ])
  return [
    element('h3', {}, 'Last run'),
    element('dl', { class: 'facts', id: 'detail-run' }, ...rows),
    ...(ended.length === 0 ? [] : [element('h3', {}, 'Ended runs'), tableOf(ended)]),
  ]
}

function tableOf(ended) {
  const rows = ended.map((run) => {
    const error = run.error === null ? {} : { title: run.error }
    return element(
      'tr',
      {},
      element('td', {}, dateOf(run.startedAt)),
      element('td', { class: 'who' }, run.by),
      element('td', { class: 'number' }, duration(run.durationMs)),
      element('td', error, run.state),
    )
  })
  const heads = ['Begun', 'By', 'Took', 'State'].map((name, i) =>
    element('th', { scope: 'col', class: i === 2 ? 'number' : undefined }, name),
  )
  return element(
    'table',
    { class: 'holds', id: 'detail-runs' },
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...rows),
  )
}

const dateOf = (at) => new Date(at).toLocaleString('en-GB')
