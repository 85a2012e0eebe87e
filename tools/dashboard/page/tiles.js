// The large numbers above the table. Each number links to the locks that it counts.
import { byId, element, icon, reconcile, setText } from './dom.js'
import { count, plural, seconds } from './format.js'
import { nameOf } from './names.js'
import { hashOf } from './place.js'

/**
 * @param {any} totals as the dashboard sent them
 * @param {{ bad: number, warn: number, waitedFor: number, oldest: { key: string, waitedMs: number, level: string | undefined } | undefined }} survey
 */
export function showTiles(totals, { bad, warn, waitedFor, oldest }) {
  const { waiting, held, locks } = totals
  const tiles = [
    {
      id: 'oldest',
      name: 'Oldest wait',
      value: oldest === undefined ? '–' : seconds(oldest.waitedMs),
      about: oldest?.key ?? 'no waiters',
      isKey: oldest !== undefined,
      level: oldest?.level,
      place: { show: 'waited', sort: 'oldest', isDown: true },
    },
    {
      id: 'waiting',
      name: 'Live waiters',
      value: count(waiting),
      about: waiting === 0 ? 'no waiters' : `for ${plural(waitedFor, 'lock')}`,
      place: { show: 'waited', sort: 'waiting', isDown: true },
    },
    {
      id: 'held',
      name: 'Held',
      value: count(held),
      about: `of ${plural(locks, 'name')}`,
      place: { show: 'held', sort: 'held', isDown: true },
    },
    {
      id: 'attention',
      name: 'Attention',
      value: count(bad + warn),
      about: bad + warn === 0 ? 'no problems' : `${count(bad)} critical`,
      level: bad > 0 ? 'bad' : warn > 0 ? 'warn' : undefined,
      place: { show: 'attention', sort: 'state', isDown: true },
    },
  ]
  reconcile(byId('tiles'), tiles, ({ id }) => id, newTile, updateTile)
}

function newTile({ id, name }) {
  const value = element('span', { class: 'tile-value' })
  const about = element('span', { class: 'tile-about' })
  const words = element('span', { class: 'tile-name' }, element('span', {}, name))
  return element('li', {}, element('a', { id: `tile-${id}` }, words, value, about))
}

function updateTile(node, { value, about, isKey, level = '', place }) {
  const link = node.firstElementChild
  const [words, number, text] = link.children
  link.setAttribute('href', hashOf({ ...place, view: 'locks' }))
  setText(number, value)
  if (text.dataset.text !== about) {
    text.dataset.text = about
    text.replaceChildren(isKey ? nameOf(about) : about)
  }
  if (link.dataset.level === level) return
  link.dataset.level = level
  words.querySelector('.icon')?.remove()
  if (level !== '') words.prepend(icon(level))
}
