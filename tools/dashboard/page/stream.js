// The rows of all locks, kept up to date by messages with changes. While the page is hidden, the
// stream is closed, because a browser allows few connections to each host.
import { byId, element, icon, printable, say, setText } from './dom.js'
import { time } from './format.js'

/** @type {{ rows: Map<string, any>, status: any, totals: any, offset: number }} */
export const seen = {
  rows: new Map(),
  status: { state: 'waiting', address: '', error: null, scannedAt: null, missing: [] },
  totals: { locks: 0, held: 0, waiting: 0, waitingSince: null, shown: 0 },
  offset: 0,
}

let source
let isPaused = false
let pausedAt = 0
let cutAt = 0
/**
 * The last moment at which the rows were certainly current, in milliseconds by the clock of the
 * dashboard. Set when an interruption begins; 0 before the first interruption.
 */
let liveAt = 0
let onChange = () => {}

/**
 * Returns the current moment by the clock of the dashboard, as in the rows. The moment stands still
 * while the page is paused, or while the rows may be old.
 */
export function serverNow() {
  if (isPaused) return pausedAt
  const isStale = seen.status.state !== 'live' || isCut()
  return isStale && liveAt > 0 ? liveAt : Date.now() + seen.offset
}

const isCut = () => cutAt > 0 && Date.now() - cutAt > 4_000

/** @param {() => void} listener */
export function watch(listener) {
  onChange = listener
  document.addEventListener('visibilitychange', follow)
  // With an open connection, the browser would not keep the page for the back button. After a
  // return the page connects again.
  addEventListener('pagehide', close)
  addEventListener('pageshow', follow)
  byId('pause').addEventListener('click', () => {
    pausedAt = serverNow()
    isPaused = !isPaused
    byId('pause').setAttribute('aria-pressed', String(isPaused))
    follow()
    showState()
  })
  follow()
}

export const paused = () => isPaused

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
    if (cutAt === 0) {
      cutAt = Date.now()
      liveAt = cutAt + seen.offset
    }
    // A stream ends every few minutes, and the browser reconnects at once. So the page waits a few
    // seconds before it shows an outage.
    setTimeout(showState, 5_000)
    if (opened.readyState === EventSource.CLOSED) {
      close()
      setTimeout(follow, 3_000)
    }
  })
}

function take({ now, isAll, status, totals, gone, rows }) {
  if (seen.status.state === 'live' && status.state !== 'live') liveAt = now
  seen.offset = now - Date.now()
  seen.status = status
  seen.totals = totals
  if (isAll) seen.rows.clear()
  for (const key of gone) seen.rows.delete(key)
  for (const row of rows) seen.rows.set(row.key, row)
  showState()
  onChange()
}

const STATES = {
  waiting: 'connecting',
  live: 'live',
  unreachable: 'no answer',
  cut: 'offline',
  paused: 'paused',
}

function showState() {
  const { state, error, address, scannedAt, missing } = seen.status
  const isLive = state === 'live' && !isCut()
  const shown = isCut() ? 'cut' : isLive && isPaused ? 'paused' : state
  const before = byId('state').dataset.state
  byId('state').dataset.state = shown
  setText(byId('state-text'), STATES[shown])
  setText(byId('address'), address)
  byId('address').title = address
  if (before !== shown) say(STATES[shown])
  document.body.classList.toggle('stale', !isLive && scannedAt !== null)
  showTrouble(shown, error, scannedAt, address)
  showMissing(missing)
}

function showTrouble(shown, error, scannedAt, address) {
  const trouble = byId('trouble')
  trouble.hidden = shown !== 'unreachable' && shown !== 'cut'
  if (trouble.hidden) return setText(byId('trouble-text'), '')
  const asOf =
    scannedAt === null
      ? 'No data yet.'
      : `The page shows the state of ${time(liveAt || scannedAt)}.`
  const what =
    shown === 'cut'
      ? 'The dashboard does not answer. It may have ended, or your session may have expired. Reload the page to log in again.'
      : `${address} did not answer: ${error}. The dashboard retries every few seconds.`
  setText(byId('trouble-text'), printable(`${what} ${asOf}`))
}

/**
 * Shows a banner with a reason for each node that cannot be reached. The page still shows the locks
 * of the other nodes.
 */
function showMissing(missing) {
  const text = missing.map(sentence).join(' ')
  const banner = byId('missing')
  banner.hidden = missing.length === 0
  if (banner.dataset.text === text) return
  banner.dataset.text = text
  const lead = 'Some locks are missing.'
  const reasons = missing.map((one) => element('span', {}, sentence(one)))
  banner.replaceChildren(icon('warn'), element('p', {}, element('strong', {}, lead), ...reasons))
}

const sentence = (text) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
