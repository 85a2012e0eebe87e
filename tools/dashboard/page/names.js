// Shows lock names in little space. The common beginning of all names is cut first. The end of a
// name is never cut.
import { element, printable } from './dom.js'

/** The number of characters at the end of a name that are never cut. */
const TAIL = 10
const SEPARATOR = /[:/._\-|]/

/**
 * Returns the common beginning of all names, up to a separator. Empty if there are fewer than two
 * names.
 */
export function commonPrefix(names) {
  let [first, last] = ['', '']
  let count = 0
  for (const name of names) {
    if (count++ === 0) [first, last] = [name, name]
    if (name < first) first = name
    if (name > last) last = name
  }
  if (count < 2) return ''
  let length = 0
  while (length < first.length && first[length] === last[length]) length++
  while (length > 0 && !SEPARATOR.test(first[length - 1])) length--
  return first.slice(0, length)
}

/**
 * Makes an element with the whole name on one line. If the name is too long for the line, the style
 * sheet cuts the name, but never its last characters.
 */
export function nameOf(key, prefix = '', tag = 'span', attributes = {}) {
  const own = key.startsWith(prefix) && key.length > prefix.length ? prefix : ''
  const rest = [...printable(key.slice(own.length))]
  // The style sheet would cut a head of only a few characters completely, so a short name has no
  // head.
  const cut = rest.length > TAIL + 3 ? rest.length - TAIL : 0
  const head = rest.slice(0, cut).join('')
  const tail = rest.slice(cut).join('')
  // Screen readers read the parts as separate words, so a link has the whole name as its label.
  const label = tag === 'a' ? { 'aria-label': printable(key) } : {}
  return element(
    tag,
    { class: 'key', title: printable(key), ...label, ...attributes },
    own === '' ? null : element('span', { class: 'key-prefix' }, own),
    head === '' ? null : element('span', { class: 'key-head' }, head),
    element('span', { class: 'key-tail' }, tail),
  )
}
