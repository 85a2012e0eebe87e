// One lock: who has it, who waits, what it would take to free it.
import { byId, element, printable } from './dom.js'
import { askForce, mayForce } from './force.js'
import { plural, whoOf } from './format.js'
import { axisOf, laneOf } from './lanes.js'
import { fetchJson } from './past.js'
import { tick } from './ticker.js'

const EVERY_MS = 2_000
const MINUTES = 5

let shown
let timer
let last = ''
let onClose = () => {}

/** @param {() => void} listener */
export function newDetail(listener) {
  onClose = listener
  byId('detail').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') onClose()
  })
}

/** @param {string | undefined} key */
export function showDetail(key) {
  clearTimeout(timer)
  shown = key
  last = ''
  const panel = byId('detail')
  panel.hidden = key === undefined
  if (key === undefined) return
  const close = element(
    'button',
    { type: 'button', 'aria-label': 'Close', onclick: () => onClose() },
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

/** Asks at once, as something was done to it. */
export function refreshDetail() {
  clearTimeout(timer)
  if (shown !== undefined) void again(shown)
}

async function again(key) {
  if (!document.hidden) {
    try {
      const [found, past] = await Promise.all([
        fetchJson('api/lock', { key }),
        fetchJson('api/past', { key, minutes: MINUTES }),
      ])
      if (key === shown) fill(found, past)
    } catch (error) {
      if (key === shown) {
        last = ''
        byId('detail-body').replaceChildren(element('p', { class: 'lead' }, error.message))
      }
    }
  }
  if (key === shown) {
    clearTimeout(timer)
    timer = setTimeout(() => void again(key), EVERY_MS)
  }
}

function fill({ lock, toFree }, past) {
  const body = byId('detail-body')
  const lane = element('div', { id: 'detail-lane' }, ...laneParts(past))
  const text = JSON.stringify([lock, mayForce()])
  if (text === last) {
    byId('detail-lane').replaceWith(lane)
    byId('detail-free').replaceWith(freeOf(toFree))
    return
  }
  last = text
  const focused = document.activeElement?.dataset?.force
  body.replaceChildren(
    element(
      'p',
      { class: 'lead' },
      element('span', { class: `mark mark-${lock.state}` }, lock.state),
    ),
    element('h3', {}, lock.holderCount === 1 ? 'Holder' : 'Holders'),
    lock.holders.length === 0
      ? element('p', {}, 'Nobody.')
      : element('ul', { class: 'people' }, ...lock.holders.map((holder) => holderOf(lock, holder))),
    element('h3', {}, `Waiting: ${lock.waiting}`),
    queueOf(lock),
    element('h3', {}, 'What it would take to free it'),
    freeOf(toFree),
    element('h3', {}, `Who held it, ${MINUTES} minutes`),
    lane,
    element('h3', {}, 'More'),
    factsOf(lock),
  )
  if (focused !== undefined) body.querySelector(`[data-force="${CSS.escape(focused)}"]`)?.focus()
  tick()
}

const freeOf = ({ sentences, command }) =>
  element(
    'ul',
    { class: 'free', id: 'detail-free' },
    ...[...sentences, command === null ? [] : `By force: ${command}`]
      .flat()
      .map((one) => element('li', {}, one)),
  )

function laneParts(past) {
  if (past.spans.length === 0) return [element('p', {}, 'Nothing was seen.')]
  return [element('div', {}, laneOf(past.spans, past.from, past.now)), axisOf(past)]
}

function holderOf(lock, holder) {
  const { owner, host, pid, isRedisson, since, until, holdCount } = holder
  const of =
    host === null ? (isRedisson ? 'Redisson' : 'process not known') : `${host}, process ${pid}`
  const canForce = mayForce() && ['lock', 'read-write', 'permits'].includes(lock.kind)
  return element(
    'li',
    {},
    element(
      'span',
      { class: 'side' },
      since === null ? '' : element('span', { 'data-since': since }),
    ),
    whoOf(holder),
    element('small', {}, of),
    element('small', {}, element('code', {}, owner)),
    element(
      'small',
      {},
      'lease: ',
      until === null
        ? element('span', { class: 'never' }, 'no expiry')
        : element('span', { 'data-until': until }),
      holdCount > 1 ? `, held ${holdCount} times` : '',
    ),
    canForce
      ? element(
          'button',
          { type: 'button', 'data-force': owner, onclick: () => askForce(lock, holder) },
          'Release by force…',
        )
      : null,
  )
}

function queueOf({ queue, waiting }) {
  if (queue.length === 0) {
    return element(
      'p',
      {},
      waiting === 0 ? 'Nobody.' : `${plural(waiting, 'client')} listens; who they are is not told.`,
    )
  }
  const people = queue.map((waiter) =>
    element(
      'li',
      {},
      element(
        'span',
        { class: 'side' },
        waiter.since === null ? '' : element('span', { 'data-since': waiter.since }),
      ),
      whoOf(waiter),
      element(
        'small',
        { class: waiter.isDead ? 'error' : undefined },
        waiter.isDead
          ? 'its heartbeat has stopped'
          : waiter.host === null
            ? waiter.owner
            : `${waiter.host}, process ${waiter.pid}`,
      ),
    ),
  )
  const more = waiting > queue.length ? element('p', {}, `and ${waiting - queue.length} more`) : ''
  return element('div', {}, element('ol', { class: 'people' }, ...people), more)
}

function factsOf({ kind, stateText, token, votes }) {
  const facts = { kind, state: stateText, 'last token': token ?? 'not remembered' }
  if (votes !== null) facts.votes = votes
  return element(
    'dl',
    { class: 'facts' },
    ...Object.entries(facts).flatMap(([name, value]) => [
      element('dt', {}, printable(name)),
      element('dd', {}, value),
    ]),
  )
}
