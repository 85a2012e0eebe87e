import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from '@swc/core'
import { pageOf } from './comments.mjs'
import { sentencesOfPage } from './sentences.mjs'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The files behind `exports` of package.json. The worker of the watchdog thread has no API. */
const ENTRY_POINTS = [
  'src/index.ts',
  'src/testing.ts',
  'src/observe/metrics/metrics.ts',
  'src/observe/opentelemetry/opentelemetry.ts',
  'tools/history/history.ts',
  'tools/dashboard/dashboard.ts',
]

/**
 * The sentences in the docstrings of the public API: of each exported name, of its members, and of the members that
 * it inherits.
 *
 * @returns {Map<string, { line: number, text: string }[]>} by file
 */
export function sentencesOfDocstrings() {
  const modules = new Map()
  const seen = new Set()
  const found = new Map()
  const see = (file, name) => {
    if (!modules.has(file)) modules.set(file, readModule(file))
    const { bytes, imports, declarations } = modules.get(file)
    if (imports.has(name)) return see(imports.get(name).file, imports.get(name).name)
    if (seen.has(`${file} ${name}`)) return
    seen.add(`${file} ${name}`)
    for (const { at, node } of declarations.get(name) ?? []) {
      const starts = [at, ...membersOf(node).map(({ span }) => span.start)]
      const sentences = starts.flatMap((start) => sentencesBefore(bytes, start - bytes.start))
      found.set(file, [...(found.get(file) ?? []), ...sentences])
      for (const base of basesOf(node)) see(file, base)
    }
  }
  for (const file of ENTRY_POINTS) for (const name of exportsOf(file)) see(file, name)
  return found
}

function exportsOf(file) {
  return parse(readFileSync(join(ROOT, file), 'utf8')).flatMap((item) => {
    if (item.type === 'ExportDeclaration') return [nameOf(item.declaration)]
    if (item.type !== 'ExportNamedDeclaration') return []
    return item.specifiers.map(({ orig, exported }) => (exported ?? orig).value)
  })
}

function readModule(file) {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const [first, ...items] = parse(text)
  // The parser counts positions in bytes, from the end of the text that it parsed before.
  const bytes = Object.assign(Buffer.from(text), { start: first.span.start + 1 })
  const imports = new Map()
  const declarations = new Map()
  for (const item of items) {
    if (item.source?.value.startsWith('.')) {
      const from = join(dirname(file), item.source.value)
      for (const { local, imported, orig, exported } of item.specifiers) {
        const [here, there] = local === undefined ? [exported ?? orig, orig] : [local, imported]
        imports.set(here.value, { file: from, name: (there ?? here).value })
      }
    } else {
      const node = item.declaration ?? item
      const name = nameOf(node)
      const all = declarations.get(name) ?? []
      declarations.set(name, [...all, { at: item.span.start, node }])
    }
  }
  return { bytes, imports, declarations }
}

/** The statements of a file, after an empty one that begins where the file does. */
function parse(text) {
  return parseSync(`;${text}`, { syntax: 'typescript', target: 'es2022' }).body
}

function nameOf({ identifier, id, declarations }) {
  return (identifier ?? id ?? declarations?.[0]?.id)?.value
}

function membersOf({ body, typeAnnotation }) {
  const members = Array.isArray(body) ? body : (body?.body ?? typeAnnotation?.members ?? [])
  return members.filter(
    ({ type, accessibility }) => !/^Private/.test(type) && accessibility !== 'private',
  )
}

/** The names that a declaration has members from, as `A` and `B` in `extends A, Pick<B, 'x'>`. */
function basesOf({ superClass, extends: bases = [], implements: interfaces = [], typeAnnotation }) {
  if (Array.isArray(typeAnnotation?.members)) return []
  return namesIn([superClass, bases, interfaces, typeAnnotation])
}

function namesIn(node) {
  if (Array.isArray(node)) return node.flatMap(namesIn)
  if (typeof node !== 'object' || node === null || /Function|Literal/.test(node.type)) return []
  if (node.type === 'Identifier') return [node.value]
  return Object.values(node).flatMap(namesIn)
}

function sentencesBefore(bytes, start) {
  const before = bytes.subarray(0, start).toString().trimEnd()
  const open = before.lastIndexOf('/**')
  if (open === -1 || before.indexOf('*/', open) !== before.length - 2) return []
  const line = before.slice(0, open).split('\n').length - 1
  const comment = before.slice(open + 3, -2)
  if (comment.includes('@internal')) return []
  return sentencesOfPage(pageOf(comment)).map((one) => ({ ...one, line: one.line + line }))
}
