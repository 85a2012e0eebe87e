// Where one is: the view, the lock that is open, and what is listed. It stands in the address, so it can be sent to somebody.

const VIEWS = ['locks', 'timeline', 'waits']
const SHOWS = ['used', 'held', 'waited', 'attention', 'all']

/** @type {{ view: string, key: string | undefined, show: string, sort: string, isDown: boolean }} */
export const place = { view: 'locks', key: undefined, show: 'used', sort: 'state', isDown: true }

/** `#locks=<key>&show=waited&sort=oldest-down`; what is left out is as usual. */
export function readPlace() {
  const [head = '', ...others] = location.hash.slice(1).split('&')
  const [view, key] = head.split('=', 2)
  const given = new Map(others.map((one) => one.split('=', 2)))
  const [sort, direction] = (given.get('sort') ?? 'state-down').split('-')
  place.view = VIEWS.includes(view) ? view : 'locks'
  place.key = key === undefined ? undefined : decoded(key)
  place.show = SHOWS.includes(given.get('show')) ? given.get('show') : 'used'
  place.sort = sort
  place.isDown = direction !== 'up'
}

/** @param {Partial<typeof place>} change */
export function hashOf(change = {}) {
  const { view, key, show, sort, isDown } = { ...place, ...change }
  const parts = [key === undefined ? view : `${view}=${encodeURIComponent(key)}`]
  if (show !== 'used') parts.push(`show=${show}`)
  if (sort !== 'state' || !isDown) parts.push(`sort=${sort}-${isDown ? 'down' : 'up'}`)
  return `#${parts.join('&')}`
}

/** Without a step for the button that goes back. */
export function replacePlace(change) {
  Object.assign(place, change)
  history.replaceState(null, '', hashOf())
}

function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
