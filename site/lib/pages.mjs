// Finds the Markdown files of the repository that are pages of the site, the addresses of these pages, and the targets
// of their links on the site.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import MarkdownIt from 'markdown-it'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const manifest = JSON.parse(read('package.json'))

/** The folder of the pages that VitePress reads, and the folder that it writes. */
export const sources = fileURLToPath(new URL('../.cache/pages', import.meta.url))
export const output = fileURLToPath(new URL('../dist', import.meta.url))

const INDEX = 'docs/README.md'
const FIRST = ['README.md', INDEX, 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md']
/** The folder of the site for files that are not pages, if package.json names no repository. */
const FILES = 'files'

const markdown = new MarkdownIt({ html: true })

export function read(path) {
  return readFileSync(new URL(path, `file://${root}`), 'utf8')
}

/** @returns {boolean} true if a link leads to another file of the repository, or within its own page */
function isInside(target) {
  return !/^([a-z][a-z+.-]*:|\/\/)/i.test(target)
}

/** @returns {{ path: string, anchor: string }} the file in the repository that a link leads to */
function resolveLink(from, target) {
  const [file = '', anchor] = decodeURI(target).split('#')
  const path = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), file))
  return { path: path.replace(/\/$/, ''), anchor: anchor === undefined ? '' : `#${anchor}` }
}

/** The links and pictures of a page, with the heading above each. */
function linksOf(path) {
  const found = []
  const headings = []
  let listDepth = 0
  const tokens = markdown.parse(read(path), {})
  for (const [i, token] of tokens.entries()) {
    if (/^(bullet_list|ordered_list|table)_(open|close)$/.test(token.type))
      listDepth += token.nesting
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1))
      headings.length = level - 1
      headings[level - 1] = textOf(tokens[i + 1].children)
    }
    if (token.type !== 'inline') continue
    for (const [at, child] of token.children.entries()) {
      if (child.type === 'image') found.push({ target: child.attrGet('src'), use: 'picture' })
      if (child.type !== 'link_open') continue
      const end = token.children.findIndex((other, j) => j > at && other.type === 'link_close')
      const text = textOf(token.children.slice(at, end))
      const target = child.attrGet('href')
      found.push({ target, use: 'link', text, headings: [...headings], isListed: listDepth > 0 })
    }
  }
  const html = tokens.flatMap(({ type, content, children }) =>
    [{ type, content }, ...(children ?? [])].filter((one) => one.type.startsWith('html_')),
  )
  for (const { content } of html) {
    for (const { target, use } of addressesIn(content)) found.push({ target, use })
  }
  return found
}

const ADDRESS = /\b(src|srcset|href)="([^"]+)"/g

/** The addresses in a piece of HTML of a page. */
function addressesIn(html) {
  return [...html.matchAll(ADDRESS)].map(([, name, target]) => ({
    target,
    use: name === 'href' ? 'link' : 'picture',
  }))
}

/** A piece of HTML of a page with the addresses of the site. */
export function withAddresses(from, html) {
  return html.replace(ADDRESS, (_, name, target) => {
    const isLink = name === 'href'
    const address = addressOn(from, target, isLink ? 'link' : 'picture') ?? '#'
    // VitePress replaces `.md` in addresses only in Markdown links, not in HTML.
    return `${name}="${isLink ? address.replace(/\.md(?=#|$)/, '.html') : address}"`
  })
}

/** @returns {string[]} the links of all pages that lead to no file; it also finds the files that the site needs */
export function deadLinks() {
  return [...pages.keys()].flatMap((path) =>
    linksOf(path).flatMap(({ target, use }) => {
      try {
        addressOn(path, target, use)
        return []
      } catch (error) {
        return [error.message]
      }
    }),
  )
}

function textOf(tokens) {
  return tokens.map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('')
}

/** The title of a page: its first heading of the first level. */
export function titleOf(path) {
  const tokens = markdown.parse(read(path), {})
  const at = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h1')
  if (at === -1) throw new Error(`${path} has no title`)
  return textOf(tokens[at + 1].children)
}

/** All Markdown files that are pages: the files of `FIRST` and docs/, and each file to which a page links. */
function findPages() {
  const inDocs = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('docs', file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.md'))
  const pages = new Set([
    ...FIRST.filter((file) => existsSync(`${root}/${file}`)),
    ...inDocs.sort(),
  ])
  for (const page of pages) {
    for (const { target } of linksOf(page)) {
      if (!isInside(target)) continue
      const { path } = resolveLink(page, target)
      if (path.endsWith('.md') && existsSync(`${root}/${path}`)) pages.add(path)
    }
  }
  return [...pages]
}

/** The address of a page, as the path of its Markdown file among the pages of the site. */
function addressOf(path) {
  if (path === 'README.md') return 'index.md'
  if (path === INDEX) return 'contents.md'
  return path
    .replace(/^docs\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .replace(/^(CHANGELOG|SECURITY|CONTRIBUTING)\.md$/, (name) => name.toLowerCase())
}

/** The address of each page, by its path in the repository. @type {ReadonlyMap<string, string>} */
export const pages = new Map(findPages().map((path) => [path, addressOf(path)]))

/** The path of each page in the repository, by its address. @type {ReadonlyMap<string, string>} */
export const pathByAddress = new Map([...pages].map(([path, address]) => [address, path]))
if (pathByAddress.size !== pages.size) throw new Error('Two pages have one address.')

/** The address of the repository, if package.json has it: `https://…` */
const repository = [manifest.repository?.url ?? manifest.repository]
  .filter((url) => typeof url === 'string')
  .map((url) => url.replace(/^git\+/, '').replace(/\.git$/, ''))
  .find((url) => /^https?:/.test(url))

export { repository }

/** The files that the site copies, because pages show them or link to them: their paths, by address. */
export const files = new Map()

/**
 * The address on the site to which a link or a picture of a page leads.
 *
 * If a file is not a page, the link leads to the repository that package.json names. If package.json names no
 * repository, the site has a copy of the file.
 *
 * @param {string} from the path of the page in the repository
 * @param {string} target the target, as it is written in the page
 * @param {'link' | 'picture'} use
 * @returns {string | undefined} undefined if there is nothing to link: a folder without a repository
 */
export function addressOn(from, target, use) {
  if (!isInside(target)) return target
  const { path, anchor } = resolveLink(from, target)
  const page = pages.get(path)
  if (page !== undefined) return path === from && anchor !== '' ? anchor : `/${page}${anchor}`
  const found = path.startsWith('..')
    ? undefined
    : statSync(`${root}/${path}`, { throwIfNoEntry: false })
  if (found === undefined) throw new Error(`${from}: a dead link: ${target}`)
  if (use === 'picture') {
    files.set(path, path)
    return `/${path}`
  }
  if (repository !== undefined) {
    return `${repository}/${found.isDirectory() ? 'tree' : 'blob'}/HEAD/${path}${anchor}`
  }
  if (found.isDirectory()) return undefined
  const isShown = /\.(html|png|svg|txt)$/.test(path)
  const address = `${FILES}/${path}${isShown ? '' : '.txt'}`
  files.set(address, path)
  return `/${address}`
}

/** The sections of the index, with their pages in order. An unlisted page is in the section of its folder. */
export function sections() {
  const all = []
  const listed = new Set(FIRST)
  const sectionOf = (text) => {
    const known = all.find((section) => section.text === text)
    if (known !== undefined) return known
    all.push({ text, items: [] })
    return all.at(-1)
  }
  const links = linksOf(INDEX).filter(({ target, text }) => text !== undefined && isInside(target))
  // Links in lists and tables come before links in sentences.
  const inOrder = [...links.filter(({ isListed }) => isListed), ...links]
  for (const { headings } of links) if (headings[1] !== undefined) sectionOf(headings[1])
  for (const { target, text, headings } of inOrder) {
    const { path, anchor } = resolveLink(INDEX, target)
    if (!pages.has(path) || listed.has(path) || anchor !== '') continue
    listed.add(path)
    const section = sectionOf(headings[1] ?? 'Documentation')
    section.items.push({
      path,
      text: text.charAt(0).toUpperCase() + text.slice(1),
      group: headings[2],
    })
  }
  for (const path of pages.keys()) {
    if (listed.has(path) || !path.startsWith('docs/')) continue
    const folder = /^docs\/([^/]+)\//.exec(path)?.[1]
    const near = all.find(({ items }) =>
      items.some((item) => item.path.startsWith(`docs/${folder}/`)),
    )
    const section = folder === undefined || near === undefined ? sectionOf('More') : near
    section.items.push({ path, text: titleOf(path) })
  }
  return all.filter(({ items }) => items.length > 0)
}

/** Removes the navigation at the start and the end of a page, because the site has its own navigation. */
export function withoutSteps(text) {
  const lines = text.trimEnd().split('\n')
  const step = lines[2] ?? ''
  if (!/^\[Index\]\(/.test(step)) return text
  if (lines.at(-1) === step && lines.length > 3) lines.pop()
  lines.splice(2, 1, '')
  return `${lines.join('\n')}\n`
}
