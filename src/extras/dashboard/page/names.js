// Names of locks where there is little room: the part that tells them apart stays, and what they share is cut first.
import { element, printable } from './dom.js'

/** What is never cut. */
const TAIL = 10
const SEPARATOR = /[:/._\-|]/

/** What all names begin with, up to a separator; nothing for a single name. */
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

/** A name on one line. Its text is the whole name; what does not fit is cut before its end. */
export function nameOf(key, prefix = '', tag = 'span', attributes = {}) {
  const own = key.startsWith(prefix) && key.length > prefix.length ? prefix : ''
  const rest = [...printable(key.slice(own.length))]
  // A head of a letter or two would only be cut.
  const cut = rest.length > TAIL + 3 ? rest.length - TAIL : 0
  const head = rest.slice(0, cut).join('')
  const tail = rest.slice(cut).join('')
  // Parts that are laid out on their own are read as words of their own.
  const label = tag === 'a' ? { 'aria-label': printable(key) } : {}
  return element(
    tag,
    { class: 'key', title: printable(key), ...label, ...attributes },
    own === '' ? null : element('span', { class: 'key-prefix' }, own),
    head === '' ? null : element('span', { class: 'key-head' }, head),
    element('span', { class: 'key-tail' }, tail),
  )
}
