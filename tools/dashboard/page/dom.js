// Text of locks and clients always becomes text nodes of the page, never markup.

/** @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id)

/**
 * @param {string} tag
 * @param {Record<string, unknown>} attributes values that are undefined or false are not set; a
 * name `on…` adds a listener
 * @param {...(Node | string | number | null)} children
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children)
}

function drawn(tag, attributes) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, [])
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value)
    else node.setAttribute(name, value === true ? '' : String(value))
  }
  node.append(...children.filter((child) => child !== null).map((child) => printable(child)))
  return node
}

const SHAPES = {
  warn: 'M8 1.6 15.4 14.4H.6ZM7.2 6v4.2h1.6V6Zm0 5.4V13h1.6v-1.6Z',
  bad: 'M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5ZM7.2 3.8v5.4h1.6V3.8Zm0 6.8v1.6h1.6v-1.6Z',
}

/**
 * Makes the icon of a level. The icons differ in shape, not only in colour. @param {'warn' | 'bad'}
 * level
 */
export function icon(level) {
  const svg = drawn('svg', {
    class: `icon icon-${level}`,
    viewBox: '0 0 16 16',
    'aria-hidden': true,
  })
  svg.append(drawn('path', { d: SHAPES[level], 'fill-rule': 'evenodd' }))
  return svg
}

/**
 * Replaces invisible characters, such as marks of the text direction, by escapes. Such characters
 * could make one name look like another.
 */
export function printable(child) {
  if (typeof child === 'object') return child
  return String(child).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) => {
    return `\\u${mark.codePointAt(0).toString(16).padStart(4, '0')}`
  })
}

/**
 * Changes the text of the node only if the new text differs. Each change makes screen readers read
 * the text again, and paints the page again.
 */
export function setText(node, text) {
  const clean = printable(text)
  if (node.textContent !== clean) node.textContent = clean
}

/**
 * Makes the children of a node match a list. The child of an item that stays in the list is kept,
 * because a pointer may be over the child.
 *
 * @param {(item: any) => string} idOf
 * @param {(item: any) => any} make
 * @param {(node: any, item: any) => void} update
 */
export function reconcile(parent, items, idOf, make, update) {
  const known = new Map([...parent.children].map((node) => [node.dataset.id, node]))
  items.forEach((item, i) => {
    const id = idOf(item)
    const node = known.get(id) ?? make(item)
    node.dataset.id = id
    known.delete(id)
    update(node, item)
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] ?? null)
  })
  for (const node of known.values()) node.remove()
}

let sayLater

/**
 * Announces a text to screen readers. If several texts come at once, only the last text is
 * announced.
 */
export function say(text) {
  clearTimeout(sayLater)
  sayLater = setTimeout(() => setText(byId('said'), text), 600)
}
