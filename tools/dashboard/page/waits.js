// The view of waits: current waits, the durations of past waits, and losses.

import { holdersOf, listedAt, stateMark } from './columns.js'
import { isWaitedFor } from './concerns.js'
import { byId, element, icon, setText } from './dom.js'
import { count, duration, plural, seconds, time } from './format.js'
import { commonPrefix, nameOf } from './names.js'
import { hashOf } from './place.js'
import { seen, serverNow } from './stream.js'

const MOST_NOW = 20

const NO_HISTORY =
  'These figures need a history. No history is recorded, or the dashboard does not read it. Turn on the history in each service that uses locks, and give it to the dashboard as the option history:'

const HOW =
  "import { recordHistory } from 'holdfast/history'\n\nrecordHistory({ redis: process.env.REDIS_URL })"

const WHAT = {
  lost: 'lost',
  forced: 'taken by force',
  timeout: 'gave up',
  aborted: 'aborted',
  outage: 'outage',
  failed: 'failed',
  dropped: 'not recorded',
}

let shownNow = ''

/** Shows the current waits, the oldest first. */
export function showWaitsNow() {
  const now = serverNow()
  const waited = [...seen.rows.values()]
    .filter(isWaitedFor)
    .sort((a, b) => (a.waitingSince ?? Infinity) - (b.waitingSince ?? Infinity))
  const waiters = waited.reduce((sum, { waiting }) => sum + waiting, 0)
  const listed = waited.slice(0, MOST_NOW).map((row) => listedAt(row, now))
  const text = JSON.stringify([
    waiters,
    listed.map(({ row, concerns }) => [row, concerns.map(({ level, about }) => level + about)]),
  ])
  if (text === shownNow) return
  shownNow = text
  const prefix = commonPrefix(listed.map(({ row }) => row.key))
  const lead =
    waiters === 0
      ? 'No client waits.'
      : `${plural(waiters, 'waiter')} for ${plural(waited.length, 'lock')}.`
  byId('waits-now').replaceChildren(
    element('h3', { class: 'title' }, 'Waiting now'),
    element('p', { class: 'source' }, lead),
    listed.length === 0
      ? ''
      : tableOf(
          [
            ['Lock'],
            ['State'],
            ['Held by'],
            ['Held for', 'number'],
            ['Waiting', 'number'],
            ['Oldest wait', 'number'],
          ],
          listed.map((one) => cellsOf(one, prefix)),
        ),
  )
}

function cellsOf({ row, concerns }, prefix) {
  const [holder] = row.holders
  const level = concerns.find(({ about }) => about === 'oldest')?.level
  const since = (at) =>
    at == null ? '–' : element('span', { 'data-since': at }, seconds(serverNow() - at))
  return [
    linkTo(row.key, prefix),
    stateMark(row, concerns),
    holdersOf(row),
    since(holder?.since),
    count(row.waiting),
    level === undefined
      ? since(row.waitingSince)
      : element('strong', { class: level }, icon(level), since(row.waitingSince)),
  ]
}

const linkTo = (key, prefix) => nameOf(key, prefix, 'a', { href: hashOf({ view: 'locks', key }) })

export function showWaits(past) {
  const figures = byId('waits-figures')
  if (past.waits === null) {
    setText(
      byId('waits-source'),
      past.error === null ? NO_HISTORY : `The history could not be read: ${past.error}.`,
    )
    figures.replaceChildren(past.error === null ? element('pre', { tabindex: 0 }, HOW) : '')
    return
  }
  setText(byId('waits-source'), 'From the history: all calls that services recorded.')
  const prefix = commonPrefix(past.contended.map(({ key }) => key))
  const lossPrefix = commonPrefix(past.losses.map(({ key }) => key))
  figures.replaceChildren(
    totalsOf(past.waits),
    element('h3', {}, 'Waited for longest'),
    past.contended.length === 0
      ? element('p', {}, 'No client waited.')
      : tableOf(
          [
            ['Lock'],
            ['Calls', 'number'],
            ['Median', 'number'],
            ['95 %', 'number'],
            ['99 %', 'number'],
            ['Longest', 'number'],
          ],
          past.contended.map((one) => [
            linkTo(one.key, prefix),
            count(one.count),
            ...[one.p50Ms, one.p95Ms, one.p99Ms, one.maxMs].map(duration),
          ]),
        ),
    element('h3', {}, 'Lost, forced, or not acquired'),
    past.losses.length === 0
      ? element('p', {}, 'Nothing.')
      : tableOf(
          [['When'], ['Lock'], ['What'], ['Why'], ['Who']],
          past.losses.map((one) => [
            time(one.at),
            one.key === '' ? '–' : linkTo(one.key, lossPrefix),
            WHAT[one.event] ?? one.event,
            one.reason ?? (one.waitedMs === null ? '–' : `waited ${duration(one.waitedMs)}`),
            one.label || '–',
          ]),
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
    { class: 'figures' },
    ...Object.entries(facts).map(([name, value]) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, value)),
    ),
  )
}

/**
 * Makes a table. On a narrow screen each row is a card without column heads, so each cell has its
 * head as an attribute.
 */
function tableOf(heads, rows) {
  const headOf = ([name, kind]) => element('th', { class: kind, scope: 'col' }, name)
  const cellOf = (value, i) => {
    const [name, kind] = heads[i]
    return element('td', { class: kind, 'data-head': name }, value)
  }
  return element(
    'table',
    { class: 'plain' },
    element('thead', {}, element('tr', {}, ...heads.map(headOf))),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cellOf)))),
  )
}
