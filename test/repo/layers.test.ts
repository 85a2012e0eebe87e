import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { leaves, mayImport } from './rooms.ts'
import { specifiersOf } from './specifiers.ts'

const root = resolve(__dirname, '../..')
const longestFile = 250
const longestChain = 21
const mostFloors = 7

interface Import {
  from: string
  to: string
  typeOnly: boolean
}

interface Source {
  file: string
  text: string
  imports: Import[]
}

/** `servers/redis/calls/keys.ts` is in the room `servers/redis/calls`, `errors.ts` in the room `errors`. */
function roomOf(file: string): string {
  return file.includes('/') ? dirname(file) : file.replace(/\.ts$/, '')
}

/** Returns the name of a file without the folder `src/`. */
function nameOf(path: string): string {
  return path.replace(/^src\//, '')
}

function pathOf(file: string): string {
  return file.startsWith('tools/') ? file : `src/${file}`
}

function importsOf(file: string, text: string): Import[] {
  return specifiersOf(text).map(({ to, typeOnly }) => ({
    from: file,
    to: to.startsWith('.') ? nameOf(join(dirname(pathOf(file)), to)) : to,
    typeOnly,
  }))
}

const sources: Source[] = ['src', 'tools']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      nameOf(join(folder, file).replaceAll('\\', '/')),
    ),
  )
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const text = readFileSync(join(root, pathOf(file)), 'utf8')
    return { file, text, imports: importsOf(file, text) }
  })
const files = new Set(sources.map(({ file }) => file))
const imports = sources.flatMap((source) => source.imports)
const ownCode = sources.filter(({ file }) => !file.endsWith('.generated.ts'))

function isAllowed({ from, to, typeOnly }: Import): boolean {
  if (to.startsWith('node:')) return true
  const room = roomOf(from)
  const target = files.has(to) ? roomOf(to) : to
  const allowed = mayImport[room] ?? []
  return (
    target === room ||
    (leaves.includes(target) && !room.startsWith('tools/') && !room.startsWith('observe/')) ||
    allowed.includes(target) ||
    (typeOnly && allowed.includes(`type ${target}`))
  )
}

/** Returns the longest chain of files in which each file imports the next file. */
function chainFrom(starts: readonly string[], among: readonly Import[]): string[] {
  const longest = new Map<string, string[]>()
  const from = (file: string): string[] => {
    const known = longest.get(file)
    if (known !== undefined) return known
    const next = among.filter((one) => one.from === file && files.has(one.to))
    const chains = next.map(({ to }) => from(to))
    const chain = [file, ...(chains.sort((a, b) => b.length - a.length)[0] ?? [])]
    longest.set(file, chain)
    return chain
  }
  return starts.map(from).sort((a, b) => b.length - a.length)[0] ?? []
}

test('the reader of imports finds every form of import', () => {
  const text = `import a from 'a'
    import type { B } from './b.ts'
    import {
      c,
      type D,
    } from '../c/d.ts'
    import 'e'
    export { f } from 'f'
    export * from 'g'
    const h = await import('h')
    type I = import('i').I
    // import 'j'
    const k = require('k')`
  expect(importsOf('x/y.ts', text)).toEqual([
    { from: 'x/y.ts', to: 'a', typeOnly: false },
    { from: 'x/y.ts', to: 'x/b.ts', typeOnly: true },
    { from: 'x/y.ts', to: 'c/d.ts', typeOnly: false },
    { from: 'x/y.ts', to: 'e', typeOnly: false },
    { from: 'x/y.ts', to: 'f', typeOnly: false },
    { from: 'x/y.ts', to: 'g', typeOnly: false },
    { from: 'x/y.ts', to: 'h', typeOnly: false },
    { from: 'x/y.ts', to: 'i', typeOnly: false },
    { from: 'x/y.ts', to: 'k', typeOnly: false },
  ])
})

test('every file is in a room that the rules know', () => {
  const rooms = [...new Set(sources.map(({ file }) => roomOf(file)))]
  expect(rooms.filter((room) => !(room in mayImport))).toEqual([])
})

test('the page of the architecture has a line for each folder', () => {
  const page = readFileSync(join(root, 'docs/explanation/architecture.md'), 'utf8')
  const folders = [...new Set([...files].filter((file) => file.includes('/')).map(roomOf))]
  const lines = [...page.matchAll(/^\| `([a-z/-]+)` \|/gm)].map(([, folder]) => folder)
  expect(lines.sort()).toEqual(folders.sort())
})

test('the client of Redis loads no protocol of servers without scripts', () => {
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { from, to, typeOnly } of imports) {
      if (from === file && !typeOnly && files.has(to)) load(to)
    }
  }
  load('index.ts')
  expect(loaded).toContain('servers/redis/redis-server.ts')
  const unused = [...loaded].filter((file) => /^servers\/(records|memory)\//.test(file))
  expect(unused).toEqual([])
})

test('every relative import names a file that exists', () => {
  const dangling = imports.filter(({ to }) => to.endsWith('.ts') && !files.has(to))
  expect(dangling).toEqual([])
})

test('imports go in one direction, as the rules allow: index, holdfast, locks, local, waiting, lease and owner; and to servers', () => {
  expect(imports.filter((one) => !isAllowed(one))).toEqual([])
})

test(`no chain of imports is longer than ${longestChain} files`, () => {
  // Tools and observers use the public entry, like programs of users.
  const own = imports.filter(
    ({ from, to }) => !(/^(tools|observe)\//.test(from) && to === 'index.ts'),
  )
  expect(chainFrom([...files], own).length).toBeLessThanOrEqual(longestChain)
})

test(`no folder has more than ${mostFloors} floors`, () => {
  const rooms = new Set([...files].map(roomOf))
  const deep = [...rooms].filter((room) => {
    const own = imports.filter(({ from, to }) => roomOf(from) === room && roomOf(to) === room)
    return chainFrom([...files], own).length > mostFloors
  })
  expect(deep).toEqual([])
})

test('no imports form a circle', () => {
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    const trail = [...path, file]
    if (state.get(file) === 'open') {
      circles.push(trail.slice(trail.indexOf(file)).join(' → '))
      return
    }
    state.set(file, 'open')
    for (const { from, to } of imports) if (from === file && files.has(to)) visit(to, trail)
    state.set(file, 'done')
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

test(`no file is longer than ${longestFile} lines`, () => {
  const long = ownCode.filter(({ text }) => text.trimEnd().split('\n').length > longestFile)
  expect(long.map(({ file }) => file)).toEqual([])
})

test('each export has a name: no default export and no star export', () => {
  const nameless = ownCode.filter(({ text }) =>
    /^\s*export\s+(default|(type\s+)?\*)|\bas\s+default\b/m.test(text),
  )
  expect(nameless.map(({ file }) => file)).toEqual([])
})
