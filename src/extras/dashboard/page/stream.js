// What the server tells of all locks, kept up to date by differences. Closed while nobody sees the page: a browser
// has few connections for each host.
import { byId, printable, say, setText } from './dom.js'
import { time } from './format.js'

/** @type {{ rows: Map<string, any>, status: any, totals: any, offset: number }} */
export const seen = {
  rows: new Map(),
  status: { state: 'waiting', address: '', error: null, scannedAt: null },
  totals: { locks: 0, held: 0, waiting: 0, shown: 0 },
  offset: 0,
}

/** The clock of the server, by which all moments are. */
export const serverNow = () => Date.now() + seen.offset

let source
let isPaused = false
let cutAt = 0
let onChange = () => {}

/** @param {() => void} listener */
export function watch(listener) {
  onChange = listener
  document.addEventListener('visibilitychange', follow)
  // A page that is put away is not kept from that by a connection, and comes back with a new one.
  addEventListener('pagehide', close)
  addEventListener('pageshow', follow)
  byId('pause').addEventListener('click', () => {
    isPaused = !isPaused
    byId('pause').setAttribute('aria-pressed', String(isPaused))
    follow()
    showState()
  })
  follow()
}

function follow() {
  if (document.hidden || isPaused) close()
  else if (source === undefined) open()
}

function close() {
  source?.close()
  source = undefined
}

function open() {
  const opened = new EventSource('api/stream')
  source = opened
  opened.addEventListener('rows', ({ data }) => {
    cutAt = 0
    take(JSON.parse(data))
  })
  opened.addEventListener('error', () => {
    if (source !== opened) return
    cutAt ||= Date.now()
    // A stream ends every few minutes, and the browser comes again at once: that is nothing to tell.
    setTimeout(showState, 5_000)
    if (opened.readyState === EventSource.CLOSED) {
      close()
      setTimeout(follow, 3_000)
    }
  })
}

function take({ now, isAll, status, totals, gone, rows }) {
  seen.offset = now - Date.now()
  seen.status = status
  seen.totals = totals
  if (isAll) seen.rows.clear()
  for (const key of gone) seen.rows.delete(key)
  for (const row of rows) seen.rows.set(row.key, row)
  showState()
  onChange()
}

function showState() {
  const { state, error, address, scannedAt } = seen.status
  const isCut = cutAt > 0 && Date.now() - cutAt > 4_000
  const shown = isCut ? 'cut' : state
  const texts = {
    waiting: 'looking for locks',
    live: isPaused ? 'paused' : 'live',
    unreachable: 'Redis cannot be reached',
    cut: 'not connected',
  }
  const before = byId('state').dataset.state
  byId('state').dataset.state = isPaused && shown === 'live' ? 'paused' : shown
  setText(byId('state-text'), texts[shown])
  setText(byId('address'), address)
  if (before !== byId('state').dataset.state) say(texts[shown])
  showTrouble(shown, error, scannedAt, address)
}

function showTrouble(shown, error, scannedAt, address) {
  const trouble = byId('trouble')
  trouble.hidden = shown !== 'unreachable' && shown !== 'cut'
  if (trouble.hidden) return setText(trouble, '')
  const asOf =
    scannedAt === null ? 'Nothing is known yet.' : `What is shown is as of ${time(scannedAt)}.`
  const what =
    shown === 'cut'
      ? 'The dashboard does not answer: it may have ended, or your session may be over. Reload the page to log in again.'
      : `${address} could not be asked: ${error}. It is tried again every few seconds.`
  setText(trouble, printable(`${what} ${asOf}`))
}
