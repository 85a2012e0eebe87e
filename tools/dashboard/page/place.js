// The state of the page: the view, the shown lock, the list and its order. The address of the page
// contains this state, so that users can share what they see.

const VIEWS = ['locks', 'timeline', 'waits']
const SHOWS = ['used', 'held', 'waited', 'attention', 'all']

/** @type {{ view: string, key: string | undefined, show: string, sort: string, isDown: boolean }} */
export const place = { view: 'locks', key: undefined, show: 'used', sort: 'state', isDown: true }

/**
 * Reads the state of the page from the address, such as
 * `#locks=<key>&show=waited&sort=oldest-down`. Missing parts have their defaults.
 */
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

/** Changes the address without a new entry in the history of the browser. */
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
