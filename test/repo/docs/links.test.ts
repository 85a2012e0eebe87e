import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { allPages, parsePage, readPage, root } from './pages.ts'

const pages = allPages()

/** Returns why a link leads nowhere, or undefined if the link is good. */
function fault(page: string, target: string): string | undefined {
  if (/^https?:/.test(target)) return undefined
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? page : normalize(join(dirname(page), file))
  if (path.startsWith('..') || !existsSync(join(root, path))) return 'no such file'
  if (anchor === undefined) return undefined
  if (statSync(join(root, path)).isDirectory()) return 'an anchor in a folder'
  const anchors = readPage(path).headings.map((heading) => heading.anchor)
  return anchors.includes(anchor) ? undefined : 'no such heading'
}

function broken(among = pages): string[] {
  return among.flatMap(({ path, links }) =>
    links.flatMap(({ line, target }) => {
      const why = fault(path, target)
      return why === undefined ? [] : [`${path}:${line}: ${target}: ${why}`]
    }),
  )
}

test('every link leads to a file, and every anchor to a heading', () => {
  expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(50)
  expect(broken([...pages, readPage('lua/README.md')])).toEqual([])
})

test('the check finds a broken link', () => {
  const text = '[a](no.md) [b](README.md#no) [c](README.md#how-to) [d](../..) [e](../lua)'
  expect(broken([parsePage('docs/x.md', text)])).toEqual([
    'docs/x.md:1: no.md: no such file',
    'docs/x.md:1: README.md#no: no such heading',
    'docs/x.md:1: ../..: no such file',
  ])
})

test('every npm command that a page names is a script of the package', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = [
    'CONTRIBUTING.md',
    'bench/README.md',
    'programs/chaos/README.md',
    'programs/mutants/README.md',
  ]
  const texts = [...pages, ...named.map(readPage)].map(({ lines }) => lines.join('\n'))
  const commands = texts.flatMap((text) => [...text.matchAll(/npm run (?:--silent )?([a-z:]+)/g)])
  expect(commands.length).toBeGreaterThan(50)
  const missing = commands.map(([, script = '']) => script).filter((script) => !scripts[script])
  expect(missing).toEqual([])
})

test('the README has at most 200 lines, and begins with the two commands', () => {
  const [readme] = pages
  expect(readme?.lines.length).toBeLessThanOrEqual(201)
  const first = readme?.blocks[0]
  expect(first?.line).toBeLessThan(15)
  expect(first?.body).toMatch(/npm run demo[\s\S]*npm test/)
})

test('every page in docs/ can be reached from the index', () => {
  const index = readPage('docs/README.md')
  const targets = new Set(index.links.map(({ target }) => normalize(join('docs', target))))
  const inDocs = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'))
  expect(inDocs.filter((path) => path !== 'docs/README.md' && !targets.has(path))).toEqual([])
})

test('each how-to page has a program that the tests run', () => {
  // These pages show commands of a shell. The tests of the places run the examples of deploy/.
  const commands = /^docs\/how-to\/(doctor|install|bundle|deploy\/\w+)\.md$/
  const howTo = pages.filter(({ path }) => path.startsWith('docs/how-to/') && !commands.test(path))
  expect(howTo.length).toBeGreaterThan(20)
  const runs = ({ blocks }: (typeof pages)[number]) =>
    blocks.some(({ flags }) => flags.includes('run'))
  expect(howTo.filter((page) => !runs(page)).map(({ path }) => path)).toEqual([])
})

test('the README has few links, and one of them leads to the index', () => {
  const targets = new Set(pages[0]?.links.map(({ target }) => target))
  expect(targets).toContain('docs/README.md')
  expect(targets.size).toBeLessThanOrEqual(35)
})

test('each page begins with a title and a link to the index', () => {
  for (const { path, lines } of pages) {
    if (!path.startsWith('docs/') || path === 'docs/README.md') continue
    const index = /^\[Index\]\(([^)]+)\)$/.exec(lines[2] ?? '')?.[1] ?? ''
    const leadsTo = normalize(join(dirname(path), index))
    expect({ path, title: lines[0], leadsTo }).toEqual({
      path,
      title: expect.stringMatching(/^# \S/),
      leadsTo: 'docs/README.md',
    })
  }
})

test('a long page has a table of contents', () => {
  const long = pages.filter(({ lines }) => lines.join(' ').split(/\s+/).length > 2_000)
  expect(long.length).toBeGreaterThan(3)
  const lacks = long.filter(
    ({ lines }) => !lines.slice(0, 40).some((line) => /^On this page:/.test(line)),
  )
  expect(lacks.map(({ path }) => path)).toEqual([])
})
