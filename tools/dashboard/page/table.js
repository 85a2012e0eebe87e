// The table of all locks. Only visible rows are in the page, so ten thousand rows cost as much as
// thirty.
import { columns, inOrder, isShown, listedAt, matches } from './columns.js'
import { byId, element, say, setText } from './dom.js'
import { count, plural } from './format.js'
import { commonPrefix } from './names.js'
import { place, replacePlace } from './place.js'
import { seen, serverNow } from './stream.js'
import { surveyAt } from './survey.js'
import { onTick, tick } from './ticker.js'
import { showTiles } from './tiles.js'

/**
 * The height of a row in pixels, for each form: one line, or a card of two lines. The style sheet
 * has the same numbers.
 */
const ROWS = { wide: 37, narrow: 37, small: 37, cards: 63 }
const MARGIN = 8
/** The least width of each form, in pixels. */
const FORMS = [
  ['wide', 1_000],
  ['narrow', 800],
  ['small', 640],
  ['cards', 0],
]

let listed = []
/**
 * The levels of all rows in one text, as `surveyAt` returns it. If a level changes with time, the
 * list is made again.
 */
let levels = ''
let prefix = ''
let active
let opened
let open = () => {}
const drawnRows = new Map()
const above = spacer()
const below = spacer()

const row = () => ROWS[byId('scroller').dataset.form ?? 'wide']

/** @param {(key: string) => void} onOpen */
export function newTable(onOpen) {
  open = onOpen
  // If the style sheet shows rows as cards, screen readers see no table. With explicit roles, they
  // still see the table.
  byId('head').setAttribute('role', 'row')
  for (const part of [byId('head').parentNode, byId('body')]) part.setAttribute('role', 'rowgroup')
  byId('head').append(...columns.map(headOf))
  byId('sort').append(...columns.map(({ id, name }) => element('option', { value: id }, name)))
  byId('table').setAttribute('aria-colcount', String(columns.length))
  byId('table').tabIndex = 0
  byId('table').addEventListener('keydown', onKey)
  byId('body').addEventListener('click', ({ target }) => {
    const key = target.closest('tr[data-key]')?.dataset.key
    if (key === undefined) return
    active = key
    open(key)
  })
  byId('scroller').addEventListener('scroll', () => requestAnimationFrame(draw))
  new ResizeObserver(resized).observe(byId('scroller'))
  byId('filter').addEventListener('input', () => list(true))
  byId('sort').addEventListener('change', ({ target }) => sortBy(target.value))
  for (const radio of document.querySelectorAll('input[name=show]')) {
    radio.addEventListener('change', () => {
      replacePlace({ show: radio.value })
      list(true)
    })
  }
  onTick((now) => {
    const survey = surveyAt(now)
    if (survey.levels === levels) showTiles(seen.totals, survey)
    else list()
  })
}

/** Shows what the address names: the list, its order and the open lock. */
export function showPlace() {
  const { key, show } = place
  opened = key
  active = key ?? active
  document.querySelector(`input[name=show][value=${show}]`).checked = true
  byId('sort').value = place.sort
  for (const [i, column] of columns.entries()) {
    byId('head').children[i].setAttribute('aria-sort', sortOf(column.id))
  }
  list()
}

/** @param {boolean} [isAsked] true if the user has just acted, and should hear the result */
export function list(isAsked = false) {
  const now = serverNow()
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = []
  for (const one of seen.rows.values()) {
    const entry = listedAt(one, now)
    if (isShown(one, entry.concerns, place.show) && matches(one, words)) found.push(entry)
  }
  listed = inOrder(found, place.sort, place.isDown)
  const survey = surveyAt(now)
  levels = survey.levels
  const shared = commonPrefix(listed.map((one) => one.row.key))
  if (shared !== prefix) forgetRows()
  prefix = shared
  const hidden = seen.totals.locks - seen.totals.shown
  const rest = hidden > 0 ? `, ${count(hidden)} free ones are not listed` : ''
  setText(byId('shown'), `${count(listed.length)} of ${count(seen.totals.locks)}${rest}`)
  showNothing(words)
  showTiles(seen.totals, survey)
  if (isAsked) {
    byId('scroller').scrollTop = 0
    say(`${plural(listed.length, 'lock')} listed`)
  }
  draw()
}

function showNothing(words) {
  const nothing = byId('nothing')
  nothing.hidden = listed.length > 0 || seen.status.state !== 'live'
  if (nothing.hidden) return
  const texts = {
    used: 'No lock is held or waited for.',
    held: 'No lock is held.',
    waited: 'No client waits.',
    attention: 'Nothing needs attention.',
    all: 'There are no locks.',
  }
  const text = 'No lock matches by its name, its kind, its holder or its host.'
  setText(nothing, words.length > 0 ? text : texts[place.show])
}

function headOf({ id, name, isNumber }) {
  const button = element('button', { type: 'button', onclick: () => sortBy(id) }, name)
  const attributes = { class: classOf(id, isNumber), scope: 'col', role: 'columnheader' }
  return element('th', { ...attributes, 'aria-sort': 'none' }, button)
}

function sortBy(id) {
  const { name, down = false } = columns.find((column) => column.id === id)
  replacePlace({ sort: id, isDown: place.sort === id ? !place.isDown : down })
  showPlace()
  say(`sorted by ${name}, ${sortOf(id)}`)
}

const classOf = (id, isNumber) => `col-${id}${isNumber ? ' number' : ''}`

function sortOf(id) {
  if (place.sort !== id) return 'none'
  return place.isDown ? 'descending' : 'ascending'
}

function spacer() {
  const node = element('tr', { class: 'space', 'aria-hidden': 'true' })
  node.append(element('td'))
  return node
}

function resized() {
  const scroller = byId('scroller')
  const { clientWidth } = scroller
  const [form] = FORMS.find(([, least]) => clientWidth >= least)
  if (clientWidth > 0) scroller.dataset.form = form
  draw()
}

function draw() {
  const scroller = byId('scroller')
  const from = Math.max(0, Math.floor(scroller.scrollTop / row()) - MARGIN)
  const to = Math.min(listed.length, from + Math.ceil(scroller.clientHeight / row()) + 2 * MARGIN)
  const visible = listed.slice(from, to)
  const keys = new Set(visible.map((one) => one.row.key))
  for (const [key, { node }] of drawnRows) {
    if (keys.has(key)) continue
    node.remove()
    drawnRows.delete(key)
  }
  above.firstChild.style.height = `${from * row()}px`
  below.firstChild.style.height = `${(listed.length - to) * row()}px`
  const body = byId('body')
  const wanted = [above, ...visible.map((one, i) => rowOf(one, from + i)), below]
  wanted.forEach((node, i) => {
    if (body.children[i] !== node) body.insertBefore(node, body.children[i] ?? null)
  })
  byId('table').setAttribute('aria-rowcount', String(listed.length + 1))
  const isDrawn = active !== undefined && drawnRows.has(active)
  if (isDrawn) byId('table').setAttribute('aria-activedescendant', drawnRows.get(active).node.id)
  else byId('table').removeAttribute('aria-activedescendant')
  tick()
}

function forgetRows() {
  for (const { node } of drawnRows.values()) node.remove()
  drawnRows.clear()
}

let rowIds = 0

function rowOf({ row: one, concerns }, index) {
  const known = drawnRows.get(one.key)
  const attributes = { id: `row-${++rowIds}`, role: 'row', 'data-key': one.key }
  const node = known?.node ?? element('tr', attributes)
  const worries = concerns.map(({ level, about }) => level + about).join()
  if (known?.row !== one || known.worries !== worries) {
    node.replaceChildren(
      ...columns.map(({ id, cell, isNumber }) => {
        const level = concerns.find(({ about }) => about === id)?.level
        const kind = `${classOf(id, isNumber)}${level === undefined ? '' : ` ${level}`}`
        return element('td', { class: kind, role: 'gridcell' }, cell(one, concerns, prefix))
      }),
    )
    node.dataset.level = concerns[0]?.level ?? ''
    drawnRows.set(one.key, { node, row: one, worries })
  }
  node.setAttribute('aria-rowindex', String(index + 2))
  node.setAttribute('aria-selected', String(one.key === opened))
  node.classList.toggle('active', one.key === active)
  return node
}

function onKey(event) {
  if (event.target !== byId('table')) return
  const page = Math.max(1, Math.floor(byId('scroller').clientHeight / row()) - 2)
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }
  if (event.key === 'Enter' && active !== undefined) open(active)
  else if (event.key in moves) move(moves[event.key])
  else return
  event.preventDefault()
}

function move(by) {
  if (listed.length === 0) return
  const at = listed.findIndex((one) => one.row.key === active)
  const next = at === -1 ? 0 : Math.min(listed.length - 1, Math.max(0, at + by))
  active = listed[next].row.key
  const scroller = byId('scroller')
  const top = next * row()
  const head = byId('head').offsetHeight
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (top + row() + head > scroller.scrollTop + scroller.clientHeight) {
    scroller.scrollTop = top + row() + head - scroller.clientHeight
  }
  draw()
}
