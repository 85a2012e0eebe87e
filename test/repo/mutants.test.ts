import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

interface Mutant {
  readonly id: string
  readonly mistake: string
  readonly file: string
  readonly search: string
  readonly replace: string
  readonly test: string
  readonly name: string
}

const root = resolve(__dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** As `npm run mutants` has them: that a list is read at all is a part of what is tested here. */
const mutants: readonly Mutant[] = JSON.parse(
  execFileSync(process.execPath, ['scripts/mutants.mjs', '--list'], {
    cwd: root,
    encoding: 'utf8',
  }),
)

/** The titles in a test file, of tests and of what they are in: what stands before a function. */
function titlesIn(file: string): string[] {
  const title = /(['"`])((?:(?!\1).)+)\1,\s*(?:async\s*)?\(/g
  return [...read(file).matchAll(title)].map(([, , text]) => text ?? '')
}

/** The ids of those of which something does not hold. */
const unless = (holds: (mutant: Mutant) => boolean) =>
  mutants.filter((mutant) => !holds(mutant)).map(({ id }) => id)

test('there are many mutants, each with an id of its own and a sentence', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(100)
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length)
  expect(unless(({ mistake }) => /^\S.*\.$/.test(mistake))).toEqual([])
})

test('the text that a mutant changes occurs exactly once in its file', () => {
  expect(unless(({ file, search }) => read(file).split(search).length === 2)).toEqual([])
  expect(unless(({ search, replace }) => search !== replace)).toEqual([])
})

test('the test that is to find it is there, under that title', () => {
  expect(unless(({ test: file }) => existsSync(join(root, file)))).toEqual([])
  const titles = new Map(mutants.map(({ test: file }) => [file, titlesIn(file)]))
  expect(
    unless(({ test: file, name }) => !!titles.get(file)?.some((title) => title.includes(name))),
  ).toEqual([])
})

test('the page of the mutants has each of them, and no others', () => {
  const page = read('docs/explanation/mutants.md')
  const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, id]) => id)
  expect(rows).toEqual(mutants.map(({ id }) => id))
})
