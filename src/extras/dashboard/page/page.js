import { newDetail, refreshDetail, showDetail } from './detail.js'
import { byId } from './dom.js'
import { newForce } from './force.js'
import { follow, newPast } from './past.js'
import { watch } from './stream.js'
import { list, mark, newTable } from './table.js'
import { startTicker } from './ticker.js'

/** `#timeline`, `#waits`, or `#locks` with the lock that is open: so a view can be sent to somebody. */
const place = () => {
  const [view, key] = location.hash.slice(1).split('=', 2)
  const known = ['locks', 'timeline', 'waits'].includes(view) ? view : 'locks'
  return { view: known, key: key === undefined ? undefined : decoded(key) }
}

function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

let open

function go() {
  const { view, key } = place()
  for (const section of document.querySelectorAll('main > section')) {
    section.hidden = section.id !== view
  }
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.view === view) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  follow(view)
  if (key !== open) {
    open = key
    byId('outcome').hidden = true
    mark(key)
    showDetail(key)
  }
}

function close() {
  location.hash = '#locks'
  byId('table').focus({ preventScroll: true })
}

newTable((key) => {
  location.hash = `#locks=${encodeURIComponent(key)}`
})
newDetail(close)
newPast()
startTicker()
void newForce(refreshDetail)
watch(list)
addEventListener('hashchange', go)
go()

addEventListener('keydown', (event) => {
  const isTyping =
    event.target instanceof HTMLElement && event.target.matches('input, select, dialog *')
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = byId(place().view === 'timeline' ? 'timeline-filter' : 'filter')
    field.focus()
    event.preventDefault()
  } else if (event.key === 'Escape' && open !== undefined && !byId('force').open && !isTyping)
    close()
})
