// The parts of the panel of one lock.
import { commandOf } from './copy.js'
import { element, printable, setText } from './dom.js'
import { askForce, mayForce } from './force.js'
import { count, duration, plural, processOf, time, whoOf } from './format.js'
import { wordsOf } from './kinds.js'
import { endingOf } from './lanes.js'

const MOST_HOLDERS = 20
const MOST_WAITERS = 50
const MOST_HOLDS = 6

export function holdersOf(lock) {
  const { kind, holders, holderCount, hasHolders } = lock
  if (!hasHolders) return []
  const [one, many] = wordsOf(kind).holder
  const head = element('h3', {}, holderCount > 1 ? `${many}: ${count(holderCount)}` : one)
  if (holders.length === 0) return [head, element('p', {}, 'None.')]
  const shown = holders.slice(0, MOST_HOLDERS)
  return [
    head,
    element('ul', { class: 'people' }, ...shown.map((holder) => holderOf(lock, holder))),
    moreOf(holderCount - shown.length),
  ]
}

function holderOf(lock, holder) {
  const { owner, since, until, seenAt } = holder
  const lease =
    until === null
      ? element('span', { class: 'bad' }, 'no expiry')
      : element('span', {}, 'lease ends in ', element('span', { 'data-until': until }))
  const release = { type: 'button', class: 'danger quiet', 'data-force': owner }
  const button = mayForce()
    ? element('button', { ...release, onclick: () => askForce(lock, holder) }, 'Release by force…')
    : null
  const facts = listed(lease, countOf(lock, holder), seenOf(seenAt))
  return element(
    'li',
    {},
    personOf(holder, facts),
    sideOf(since, wordsOf(lock.kind).heldFor, button),
  )
}

function personOf(person, facts) {
  const { owner } = person
  return element(
    'div',
    {},
    element('strong', {}, whoOf(person)),
    element('small', {}, processOf(person)),
    facts,
    whoOf(person) === owner ? null : element('small', {}, element('code', {}, owner)),
  )
}

function sideOf(since, word, button = null) {
  const age =
    since === null ? null : element('span', {}, word, element('span', { 'data-since': since }))
  return element('div', { class: 'side' }, age, button)
}

function countOf({ kind }, { holdCount }) {
  if (holdCount < 2) return null
  const { holdsPermits } = wordsOf(kind)
  return holdsPermits ? plural(holdCount, 'permit') : `acquired ${holdCount} times`
}

const seenOf = (seenAt) =>
  seenAt === null
    ? null
    : element('span', {}, 'last seen ', element('span', { 'data-since': seenAt }), ' ago')

/** Joins the parts that are not null on one line, with commas. Null without parts. */
function listed(...parts) {
  const there = parts.filter((one) => one !== null)
  if (there.length === 0) return null
  return element('small', {}, ...there.flatMap((one, i) => (i === 0 ? [one] : [', ', one])))
}

export function queueOf({ kind, queue, waiting }) {
  const head = element('h3', {}, `${wordsOf(kind).waiting}: ${count(waiting)}`)
  if (queue.length === 0) {
    const text =
      waiting === 0
        ? 'None.'
        : `${plural(waiting, 'client')} ${waiting === 1 ? 'listens' : 'listen'}. The names of these clients are unknown.`
    return [head, element('p', {}, text)]
  }
  const shown = queue.slice(0, MOST_WAITERS)
  const living = queue.filter(({ isDead }) => !isDead).length
  return [
    head,
    element('ol', { class: 'people' }, ...shown.map(waiterOf)),
    moreOf(Math.max(waiting - living, 0) + queue.length - shown.length),
  ]
}

function waiterOf(waiter) {
  const { since, isDead, wants, seenAt } = waiter
  const want = wants === null ? null : `wants ${wants.includes('permit') ? wants : `to ${wants}`}`
  const dead = isDead ? element('span', { class: 'bad' }, 'dead: its heartbeat has stopped') : null
  const facts = listed(want, dead, seenOf(seenAt))
  return element(
    'li',
    { class: isDead ? 'dead' : undefined },
    personOf(waiter, facts),
    sideOf(since, ''),
  )
}

function moreOf(more) {
  return more > 0 ? element('p', { class: 'rest' }, `and ${count(more)} more`) : ''
}

/** Makes the block with the command that frees the lock. `setSentences` adds the sentences. */
export function freeOf({ command, needsPassword }) {
  const parts = [element('div', { class: 'sentences' })]
  if (command !== null) {
    parts.push(commandOf(command, 'By force, from a terminal'))
    if (needsPassword) {
      const name = element('code', {}, 'REDISCLI_AUTH')
      parts.push(element('p', { class: 'rest' }, 'Set ', name, ' to the password first.'))
    }
  }
  return element('div', { class: 'free', id: 'detail-free' }, ...parts)
}

/**
 * Changes the sentences of the block but not the command, because the user may have selected the
 * command.
 */
export function setSentences(free, sentences) {
  const [place] = free.children
  while (place.children.length > sentences.length) place.lastChild.remove()
  while (place.children.length < sentences.length) place.append(element('p'))
  sentences.forEach((one, i) => {
    setText(place.children[i], one)
  })
}

/** Makes a table of the newest holds of the chart, the newest first. */
export function lastHoldsOf(spans, now) {
  const newest = [...spans].sort((a, b) => b.from - a.from).slice(0, MOST_HOLDS)
  const rows = newest.map((span) =>
    element(
      'tr',
      {},
      element('td', {}, time(span.from)),
      element('td', { class: 'who' }, whoOf(span)),
      element(
        'td',
        { class: 'number' },
        span.ending === 'untold' ? '–' : duration((span.to ?? now) - span.from),
      ),
      element('td', {}, endingOf(span)),
    ),
  )
  const heads = ['From', 'Holder', 'Held for', 'End'].map((name, i) =>
    element('th', { scope: 'col', class: i === 2 ? 'number' : undefined }, name),
  )
  return element(
    'table',
    { class: 'holds' },
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...rows),
  )
}

export function factsOf({ kind, stateText, token, votes }) {
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
