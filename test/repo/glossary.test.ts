import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { definedNames, namesIn, root, sourceFiles } from './names.ts'

const glossary = readFileSync(join(root, 'src/README.md'), 'utf8')

/** Names that say nothing, or mean several acts or things. */
const forbidden = [
  ...['ask', 'look', 'tell', 'hear', 'take', 'keep', 'end', 'over', 'left', 'begin', 'settle'],
  ...['leave', 'Host', 'Wanted', 'Seen', 'Asked', 'Asking', 'Look', 'Facts'],
]

/** Returns the words in one form: lower case, separate words without hyphens, singular. */
const plain = (words: string): string =>
  words
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s-]+/)
    .map((word) => (word.endsWith('ss') ? word : word.replace(/s$/, '')))
    .join(' ')

/** Returns the words and phrases that the tables of the glossary explain, and the words that need no explanation. */
function explained(page: string): Set<string> {
  const rows = [...page.matchAll(/^\| (?:to )?([^|]+?) \|/gm)].map(([, term = '']) => term)
  const known = /^Plain words: ([^.]+)\./m.exec(page)?.[1]?.split(',') ?? []
  const terms = [...rows.flatMap((row) => row.split(',')), ...known]
  return new Set(terms.map((term) => plain(term.trim())))
}

/** Splits a name into words: `LeaseSignal` becomes `Lease` and `Signal`. */
const wordsOf = (name: string): string[] => name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []

/** True if these words are a sequence of terms that are all explained. */
function isExplained(words: readonly string[], terms: ReadonlySet<string>): boolean {
  if (words.length === 0) return true
  return words.some(
    (_, i) =>
      terms.has(plain(words.slice(0, i + 1).join(' '))) && isExplained(words.slice(i + 1), terms),
  )
}

/** English words that names use in their usual sense. */
const plainWords = new Set(readFileSync(join(__dirname, 'plain-words.txt'), 'utf8').split(/\s+/))

const names = definedNames()

/** The files that define an act, such as a method or a function, with this name. */
const filesOf = (name: string) =>
  new Set(names.filter((one) => one.kind === 'act' && one.name === name).map(({ file }) => file))

test('the glossary explains the words in the names of all classes', () => {
  const terms = explained(glossary)
  const classes = sourceFiles().flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    const found = source.matchAll(/^export (?:default )?(?:abstract )?class (\w+)/gm)
    return [...found].map(([, name = '']): [string, string] => [name, file])
  })
  expect(classes.length).toBeGreaterThan(50)
  const advice = ([name, file]: [string, string]) =>
    `${name} (${file}): name it in words of src/README.md, or explain a word there`
  expect(classes.filter(([name]) => !isExplained(wordsOf(name), terms)).map(advice)).toEqual([])
})

test('the names of types, functions, parameters and files use explained or plain English words', () => {
  const terms = explained(glossary)
  expect(names.length).toBeGreaterThan(5_000)
  const isKnown = (word: string) => plainWords.has(word) || terms.has(plain(word))
  const advice = names.flatMap(({ name, file }) =>
    wordsOf(name)
      .map((word) => word.toLowerCase())
      .filter((word) => !isKnown(word))
      .map((word) => `${word} in ${name} (${file}): use another word, or add it to a list`),
  )
  expect(advice).toEqual([])
})

test('no name says only that something is asked, told, taken or over', () => {
  const wrong = names.filter(({ name, kind }) => kind !== 'file' && forbidden.includes(name))
  expect(wrong).toEqual([])
})

test.each(['close', 'release'])('at most 8 files define %s', (name) => {
  expect([...filesOf(name)].length).toBeLessThanOrEqual(8)
})

test('each type has a name of its own', () => {
  const types = names.filter(({ kind }) => kind === 'type')
  const files = new Map<string, Set<string>>()
  for (const { name, file } of types) files.set(name, (files.get(name) ?? new Set()).add(file))
  const shared = [...files].filter(([, { size }]) => size > 1).map(([name]) => name)
  expect(shared).toEqual([])
})

test('a name is found wherever a file defines it', () => {
  const text = `export class A<T> { #b = () => 1; static c(d: string, { e, f: g }: H, ...i: J[]) {} }
    interface K { l(m: string): void; n: (o: number) => void; plain: string }
    type P = { q(): void }
    const r = (s = 1) => { const t = () => 2 }
    const u = { v() {}, w: () => 1 }`
  const found = namesIn('x.ts', text)
  const of = (kind: string) => found.filter((one) => one.kind === kind).map(({ name }) => name)
  expect(of('type').sort()).toEqual(['A', 'K', 'P'])
  expect(of('act').sort()).toEqual(['b', 'c', 'l', 'n', 'q', 'r', 't', 'v', 'w'])
  expect(of('parameter').sort()).toEqual(['d', 'e', 'g', 'i', 'm', 'o', 's'])
})

test.each(['Desk', 'LeaseDesk', 'Deskwork', 'HandOver2', 'Over'])(
  'the glossary does not explain %s',
  (name) => {
    expect(isExplained(wordsOf(name), explained(glossary))).toBe(false)
  },
)

test.each(['Lease', 'HandOverBudget', 'RedLocks', 'LeaseSignal', 'OddAnswer'])(
  'the glossary explains %s',
  (name) => {
    expect(isExplained(wordsOf(name), explained(glossary))).toBe(true)
  },
)

test('the glossary explains no word twice', () => {
  const rows = [...glossary.matchAll(/^\| ([^|]+?) \|/gm)].map(([, term = '']) => plain(term))
  const explanations = rows.filter((term) => term !== 'word')
  expect(explanations.filter((term, i) => explanations.indexOf(term) !== i)).toEqual([])
})
