// Everything from outside becomes text, never markup.

/** @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id)

/**
 * @param {string} tag
 * @param {Record<string, unknown>} attributes undefined and false are left out; `on…` are listeners
 * @param {...(Node | string | number | null)} children
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children)
}

export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
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

/** Marks that turn the direction of a text would let one name look like another. */
export function printable(child) {
  if (typeof child === 'object') return child
  return String(child).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (mark) => {
    return `\\u${mark.codePointAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Sets it only where it differs, so that nothing is read out or painted again. */
export function setText(node, text) {
  const clean = printable(text)
  if (node.textContent !== clean) node.textContent = clean
}

let sayLater

/** For those who listen: only the last of what comes at once. */
export function say(text) {
  clearTimeout(sayLater)
  sayLater = setTimeout(() => setText(byId('said'), text), 600)
}
