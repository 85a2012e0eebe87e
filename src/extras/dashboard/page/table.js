// The table of all locks. Only rows that can be seen are in the page: ten thousand cost as much as thirty.
import { columns, inOrder, matches } from './columns.js'
import { byId, element, say, setText } from './dom.js'
import { count, plural } from './format.js'
import { seen } from './stream.js'
import { tick } from './ticker.js'

const ROW = 33
const MARGIN = 8

let order = { id: 'held', isDown: true }
let listed = []
let active
let opened
let open = () => {}
const drawnRows = new Map()
const above = spacer()
const below = spacer()

/** @param {(key: string) => void} onOpen */
export function newTable(onOpen) {
  open = onOpen
  byId('head').append(...columns.map(headOf))
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
  new ResizeObserver(draw).observe(byId('scroller'))
  byId('filter').addEventListener('input', () => list(true))
  for (const radio of document.querySelectorAll('input[name=which]')) {
    radio.addEventListener('change', () => list(true))
  }
}

/** @param {string | undefined} key whose detail is shown */
export function mark(key) {
  opened = key
  active = key ?? active
  draw()
}

/** @param {boolean} [isAsked] whether somebody did something, and waits to hear what came of it */
export function list(isAsked = false) {
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean)
  const which = document.querySelector('input[name=which]:checked').value
  const rows = []
  for (const row of seen.rows.values()) {
    if (which === 'busy' && row.state === 'free' && row.waiting === 0) continue
    if (which === 'waited' && row.waiting === 0) continue
    if (matches(row, words)) rows.push(row)
  }
  listed = inOrder(rows, order)
  setText(byId('total-locks'), count(seen.totals.locks))
  setText(byId('total-held'), count(seen.totals.held))
  setText(byId('total-waiting'), count(seen.totals.waiting))
  const hidden = seen.totals.locks - seen.totals.shown
  const rest = hidden > 0 ? `, ${count(hidden)} free ones are not listed` : ''
  setText(byId('shown'), `${count(listed.length)} of ${count(seen.totals.locks)}${rest}`)
  showNothing(which, words)
  if (isAsked) {
    byId('scroller').scrollTop = 0
    say(`${plural(listed.length, 'lock')} listed`)
  }
  draw()
}

function showNothing(which, words) {
  const nothing = byId('nothing')
  nothing.hidden = listed.length > 0 || seen.status.state !== 'live'
  if (nothing.hidden) return
  const free = 'Nothing is held, and nobody waits.'
  const text = words.length > 0 ? 'No lock has that in its name, its holder or its host.' : free
  setText(nothing, which === 'waited' && words.length === 0 ? 'Nobody waits.' : text)
}

function headOf({ id, name, isNumber, down = false }) {
  const button = element('button', { type: 'button' }, name)
  const head = element(
    'th',
    { class: classOf(id, isNumber), scope: 'col', 'aria-sort': sortOf(id) },
    button,
  )
  button.addEventListener('click', () => {
    order = { id, isDown: order.id === id ? !order.isDown : down }
    columns.forEach((column, i) => {
      byId('head').children[i].setAttribute('aria-sort', sortOf(column.id))
    })
    list()
    say(`sorted by ${name}, ${sortOf(id)}`)
  })
  return head
}

const classOf = (id, isNumber) => `col-${id}${isNumber ? ' number' : ''}`

function sortOf(id) {
  if (order.id !== id) return 'none'
  return order.isDown ? 'descending' : 'ascending'
}

function spacer() {
  const row = element('tr', { class: 'space', 'aria-hidden': 'true' })
  row.append(element('td'))
  return row
}

function draw() {
  const scroller = byId('scroller')
  const from = Math.max(0, Math.floor(scroller.scrollTop / ROW) - MARGIN)
  const to = Math.min(listed.length, from + Math.ceil(scroller.clientHeight / ROW) + 2 * MARGIN)
  const visible = listed.slice(from, to)
  const keys = new Set(visible.map(({ key }) => key))
  for (const [key, { node }] of drawnRows) {
    if (keys.has(key)) continue
    node.remove()
    drawnRows.delete(key)
  }
  above.firstChild.style.height = `${from * ROW}px`
  below.firstChild.style.height = `${(listed.length - to) * ROW}px`
  const body = byId('body')
  const wanted = [above, ...visible.map((row, i) => rowOf(row, from + i)), below]
  wanted.forEach((node, i) => {
    if (body.children[i] !== node) body.insertBefore(node, body.children[i] ?? null)
  })
  byId('table').setAttribute('aria-rowcount', String(listed.length + 1))
  const isDrawn = active !== undefined && drawnRows.has(active)
  if (isDrawn) byId('table').setAttribute('aria-activedescendant', drawnRows.get(active).node.id)
  else byId('table').removeAttribute('aria-activedescendant')
  tick()
}

let rowIds = 0

function rowOf(row, index) {
  const known = drawnRows.get(row.key)
  const node = known?.node ?? element('tr', { id: `row-${++rowIds}`, 'data-key': row.key })
  if (known?.row !== row) {
    node.replaceChildren(
      ...columns.map(({ id, cell, isNumber }) =>
        element('td', { class: classOf(id, isNumber) }, cell(row)),
      ),
    )
    drawnRows.set(row.key, { node, row })
  }
  node.setAttribute('aria-rowindex', String(index + 2))
  node.setAttribute('aria-selected', String(row.key === opened))
  node.classList.toggle('active', row.key === active)
  return node
}

function onKey(event) {
  if (event.target !== byId('table')) return
  const page = Math.max(1, Math.floor(byId('scroller').clientHeight / ROW) - 2)
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }
  if (event.key === 'Enter' && active !== undefined) open(active)
  else if (event.key in moves) move(moves[event.key])
  else return
  event.preventDefault()
}

function move(by) {
  if (listed.length === 0) return
  const at = listed.findIndex(({ key }) => key === active)
  const next = at === -1 ? 0 : Math.min(listed.length - 1, Math.max(0, at + by))
  active = listed[next].key
  const scroller = byId('scroller')
  const top = next * ROW
  const head = byId('head').offsetHeight
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (top + ROW + head > scroller.scrollTop + scroller.clientHeight) {
    scroller.scrollTop = top + ROW + head - scroller.clientHeight
  }
  draw()
}
