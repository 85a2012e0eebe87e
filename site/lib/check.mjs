// Every address in the built pages must lead to a file of the site, every anchor to an element, and nothing may be
// loaded from elsewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/**
 * @param {string} folder the built site
 * @param {string} base the folder of the host below which the site is published
 * @returns {string[]} the faults, one line each
 */
export function faultsOf(folder, base) {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  )
  const ids = new Map(
    [...pages].map(([file, html]) => [
      file,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => decode(id))),
    ]),
  )
  const faults = new Set()
  for (const [file, html] of pages) {
    for (const [, tag, name, value] of html.matchAll(
      /<(\w+)[^>]*?\s(href|src|srcset)="([^"]*)"/g,
    )) {
      const fault = faultOf({ file, tag, name, target: decode(value).split(/\s/)[0] ?? '' })
      if (fault !== undefined) faults.add(`${file}: ${fault}: ${value}`)
    }
  }
  return [...faults]

  function faultOf({ file, tag, name, target }) {
    if (/^(mailto:|data:)/.test(target)) return undefined
    if (/^(https?:)?\/\//.test(target)) {
      return tag === 'a' && name === 'href' ? undefined : 'loaded from elsewhere'
    }
    const [path = '', anchor] = target.split('#')
    if (path.startsWith('/') && !path.startsWith(base)) return `not below ${base}`
    const inside = path.startsWith('/')
      ? path.slice(base.length)
      : posix.join(posix.dirname(file), path === '' ? posix.basename(file) : path)
    const found = [inside, posix.join(inside, 'index.html'), `${inside}.html`].find(
      (one) => one !== '' && /\.\w+$/.test(one) && existsSync(join(folder, one)),
    )
    if (found === undefined) return 'no such file'
    if (!anchor || file === '404.html') return undefined
    return ids.get(found)?.has(decodeURIComponent(anchor)) ? undefined : 'no such anchor'
  }
}

function decode(html) {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
