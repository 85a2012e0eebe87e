import { newDetail, refreshDetail, showDetail } from './detail.js'
import { byId } from './dom.js'
import { newForce } from './force.js'
import { follow, newPast } from './past.js'
import { hashOf, place, readPlace } from './place.js'
import { watch } from './stream.js'
import { list, newTable, showPlace } from './table.js'
import { onTick, startTicker } from './ticker.js'
import { showWaitsNow } from './waits.js'

let open

function go() {
  readPlace()
  const { view, key } = place
  for (const section of document.querySelectorAll('main > section')) {
    section.hidden = section.id !== view
  }
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.view === view) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  follow(view)
  showPlace()
  if (view === 'waits') showWaitsNow()
  if (key !== open) {
    open = key
    byId('outcome').hidden = true
    showDetail(key)
  }
}

function close() {
  location.hash = hashOf({ view: 'locks', key: undefined })
  byId('table').focus({ preventScroll: true })
}

newTable((key) => {
  location.hash = hashOf({ view: 'locks', key })
})
newDetail(close)
newPast()
startTicker()
onTick(() => place.view === 'waits' && showWaitsNow())
void newForce(refreshDetail)
watch(() => {
  list()
  if (place.view === 'waits') showWaitsNow()
})
addEventListener('hashchange', go)
go()

addEventListener('keydown', (event) => {
  const isTyping =
    event.target instanceof HTMLElement && event.target.matches('input, select, dialog *')
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    byId(place.view === 'timeline' ? 'timeline-filter' : 'filter').focus()
    event.preventDefault()
  } else if (event.key === 'Escape' && open !== undefined && !byId('force').open && !isTyping)
    close()
})
