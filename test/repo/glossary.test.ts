import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(__dirname, '../..')
const glossary = readFileSync(join(root, 'src/README.md'), 'utf8')

/** One form of the words: small letters, separate words, no hyphen, singular. */
const plain = (words: string): string =>
  words
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s-]+/)
    .map((word) => (word.endsWith('ss') ? word : word.replace(/s$/, '')))
    .join(' ')

/** The words and phrases that the tables of the glossary explain, and those that need no explanation. */
function explained(page: string): Set<string> {
  const rows = [...page.matchAll(/^\| (?:to )?([^|]+?) \|/gm)].map(([, term = '']) => term)
  const known = /^Plain words: ([^.]+)\./m.exec(page)?.[1]?.split(',') ?? []
  const terms = [...rows.flatMap((row) => row.split(',')), ...known]
  return new Set(terms.map((term) => plain(term.trim())))
}

/** `LeaseSignal` is `Lease` and `Signal`. */
const wordsOf = (name: string): string[] => name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []

/** True if these words are a sequence of terms that are all explained. */
function isExplained(words: readonly string[], terms: ReadonlySet<string>): boolean {
  if (words.length === 0) return true
  return words.some(
    (_, i) =>
      terms.has(plain(words.slice(0, i + 1).join(' '))) && isExplained(words.slice(i + 1), terms),
  )
}

const isGenerated = (file: string): boolean => file.endsWith('.generated.ts')

/** The exported classes of the source, and the file of each. */
function exportedClasses(): [name: string, file: string][] {
  const files = ['src', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  )
  return files
    .filter((file) => file.endsWith('.ts') && !isGenerated(file))
    .flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8')
      const found = source.matchAll(/^export (?:default )?(?:abstract )?class (\w+)/gm)
      return [...found].map(([, name = '']): [string, string] => [name, file])
    })
}

test('the glossary explains the words in the names of all classes', () => {
  const terms = explained(glossary)
  const classes = exportedClasses()
  expect(classes.length).toBeGreaterThan(50)
  const advice = ([name, file]: [string, string]) =>
    `${name} (${file}): name it in words of src/README.md, or explain a word there`
  expect(classes.filter(([name]) => !isExplained(wordsOf(name), terms)).map(advice)).toEqual([])
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
