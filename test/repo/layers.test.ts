import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const src = resolve(__dirname, '../../src')
const longestFile = 250
const longestChain = 18
const mostFloors = 7

/** The leaves, which every room may import. Among themselves they may too. */
const leaves = ['diagnostics', 'errors', 'events', 'options']

const engine = ['local', 'waiting', 'lease', 'owner', 'servers', 'kit']
const places = [
  'servers/redis',
  'servers/redis/connection',
  'servers/redis/thread',
  'servers/quorum',
]
const kinds = [
  'locks/lock',
  'locks/fair',
  'locks/latch',
  'locks/read-write',
  'locks/multi',
  'locks/red',
  'locks/leader',
  'locks/semaphore',
]

/** The rooms that a room of src/ may import, in addition to its own files. `import type` is an import as well. */
const mayImport: Record<string, string[]> = {
  index: ['holdfast', ...kinds, ...engine],
  testing: ['holdfast', 'memory-client', 'type lease', 'local', 'servers/memory', 'kit'],
  'memory-client': ['holdfast', 'servers/memory'],
  holdfast: [
    'client-emitter',
    'client-parts',
    'one-server',
    ...kinds,
    ...engine,
    'places',
    'nanoid',
  ],
  'client-emitter': ['kit', 'eventemitter3'],
  'client-parts': ['client-emitter', 'locks/red', ...engine],
  'one-server': [...kinds, ...engine],
  places: ['local', 'servers', ...places],
  'locks/lock': engine,
  'locks/fair': ['locks/lock', ...engine],
  'locks/latch': engine,
  'locks/read-write': ['locks/lock', ...engine],
  'locks/multi': ['locks/lock', ...engine],
  'locks/red': ['locks/lock', ...engine],
  // An election uses locks and leases as users do. It acquires and renews nothing by itself.
  'locks/leader': ['lease', 'type owner', 'waiting', 'type servers', 'kit', 'eventemitter3'],
  'locks/semaphore': engine,
  local: ['waiting', 'lease', 'owner', 'servers', 'kit'],
  waiting: ['lease', 'owner', 'servers', 'kit'],
  lease: ['owner', 'kit'],
  owner: ['kit'],
  servers: ['kit'],
  'servers/redis': [
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/durability',
    'servers/redis/read-write',
    'servers/redis/presence',
    'servers/redis/scripts',
    'servers/redis/semaphore',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/redis/calls': [
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/redis/durability': [
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/redis/presence': [
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'type ioredis',
  ],
  'servers/redis/read-write': ['servers/redis/calls', 'servers/redis/scripts', 'servers', 'kit'],
  'servers/redis/semaphore': ['servers/redis/calls', 'servers/redis/scripts', 'servers', 'kit'],
  'servers/redis/connection': ['servers', 'kit', 'ioredis'],
  'servers/redis/scripts': [],
  'servers/redis/thread': [
    'servers/redis',
    'servers/redis/connection',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/quorum': [
    'servers/redis',
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
  ],
  'servers/memory': ['servers/memory/records', 'servers', 'kit'],
  'servers/memory/records': ['servers', 'kit'],
  kit: [],
  // The program: no room imports it, and it imports only the public door of the package.
  'extras/cli': [
    'extras/servers',
    'extras/cli/command',
    'extras/cli/bench',
    'extras/cli/dashboard',
    'extras/cli/doctor',
    'extras/cli/history',
    'extras/cli/locks',
    'index',
  ],
  'extras/cli/bench': ['extras/cli/command', 'extras/cli/text', 'extras/servers', 'index'],
  'extras/cli/history': [
    'extras/cli/command',
    'extras/cli/text',
    'extras/servers',
    'extras/history',
    'index',
  ],
  'extras/cli/dashboard': ['extras/cli/command', 'extras/dashboard', 'extras/servers', 'index'],
  'extras/cli/command': ['index'],
  'extras/cli/text': [],
  'extras/cli/locks': [
    'extras/cli/command',
    'extras/cli/text',
    'extras/deployment',
    'extras/servers',
    'index',
  ],
  'extras/servers': ['index', 'ioredis'],
  'extras/cli/doctor': [
    'extras/cli/command',
    'extras/servers',
    'extras/cli/doctor/facts',
    'extras/cli/doctor/checks',
    'extras/cli/doctor/report',
    'index',
  ],
  'extras/cli/doctor/facts': ['extras/deployment', 'extras/servers', 'index'],
  'extras/cli/doctor/checks': ['extras/cli/doctor/facts', 'extras/cli/text', 'extras/deployment'],
  'extras/cli/doctor/report': [
    'extras/cli/command',
    'extras/cli/text',
    'extras/cli/doctor/checks',
    'extras/cli/doctor/facts',
  ],
  // Subscribers of facts, and tools that inspect a deployment: they import only the public door.
  'extras/facts': ['index'],
  'extras/metrics': ['extras/facts', 'index', 'prom-client'],
  'extras/opentelemetry': ['extras/facts', 'index', '@opentelemetry/api'],
  'extras/history': ['extras/facts', 'extras/servers', 'index', 'ioredis'],
  'extras/deployment': ['extras/servers', 'index', 'ioredis'],
  'extras/dashboard': ['extras/deployment', 'extras/history', 'extras/servers', 'index'],
  diagnostics: [],
  errors: [],
  options: ['type owner', 'kit', 'type ioredis'],
  events: [],
}

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

function importsOf(file: string, text: string): Import[] {
  const statement =
    /\b(?:import|export)\s+(?<type>type\s+)?(?:[\w*{}\s,$]*?\sfrom\s*)?'(?<to>[^']+)'|\bimport\(\s*'(?<call>[^']+)'/g
  return [...text.matchAll(statement)].map(({ groups }) => {
    const specifier = groups?.to ?? groups?.call ?? ''
    const to = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier
    return { from: file, to, typeOnly: groups?.type !== undefined }
  })
}

const sources: Source[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const raw = readFileSync(join(src, file), 'utf8')
    const text = raw.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    return { file, text: raw, imports: importsOf(file, text) }
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
    (leaves.includes(target) && !room.startsWith('extras/')) ||
    allowed.includes(target) ||
    (typeOnly && allowed.includes(`type ${target}`))
  )
}

/** The longest way from one file to others, each imported by the one before. */
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
    type I = import('i').I`
  expect(importsOf('x/y.ts', text)).toEqual([
    { from: 'x/y.ts', to: 'a', typeOnly: false },
    { from: 'x/y.ts', to: 'x/b.ts', typeOnly: true },
    { from: 'x/y.ts', to: 'c/d.ts', typeOnly: false },
    { from: 'x/y.ts', to: 'e', typeOnly: false },
    { from: 'x/y.ts', to: 'f', typeOnly: false },
    { from: 'x/y.ts', to: 'g', typeOnly: false },
    { from: 'x/y.ts', to: 'h', typeOnly: false },
    { from: 'x/y.ts', to: 'i', typeOnly: false },
  ])
})

test('every file is in a room that the rules know', () => {
  const rooms = [...new Set(sources.map(({ file }) => roomOf(file)))]
  expect(rooms.filter((room) => !(room in mayImport))).toEqual([])
})

test('the page of the architecture has a line for each folder', () => {
  const page = readFileSync(resolve(src, '../docs/explanation/architecture.md'), 'utf8')
  const folders = [...new Set([...files].filter((file) => file.includes('/')).map(roomOf))]
  const lines = [...page.matchAll(/^\| `([a-z/-]+)` \|/gm)].map(([, folder]) => folder)
  expect(lines.sort()).toEqual(folders.sort())
})

test('every relative import names a file that exists', () => {
  const dangling = imports.filter(({ to }) => to.endsWith('.ts') && !files.has(to))
  expect(dangling).toEqual([])
})

test('imports go in one direction, as the rules allow: index, holdfast, locks, local, waiting, lease and owner; and to servers', () => {
  expect(imports.filter((one) => !isAllowed(one))).toEqual([])
})

test(`no chain of imports is longer than ${longestChain} files`, () => {
  // The files in extras/ use the public door as programs of users do.
  const own = imports.filter(({ from, to }) => !(from.startsWith('extras/') && to === 'index.ts'))
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
