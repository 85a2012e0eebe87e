import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

interface Mutant {
  readonly id: string
  readonly area: string
  readonly mistake: string
  readonly file: string
  readonly search: string
  readonly replace: string
  readonly test: string
  readonly name: string
}

const root = resolve(__dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const listed = (...args: string[]) =>
  JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))

/** The list of `npm run mutants`. A list that cannot be read fails these tests. */
const mutants: readonly Mutant[] = listed('scripts/mutants.mjs', '--list')

/** Returns the titles of the tests and groups in a test file. Each title stands before a function. */
function titlesIn(file: string): string[] {
  const title = /(['"`])((?:(?!\1).)+)\1,\s*(?:async\s*)?\(/g
  // Jest replaces `%s` by a value, so the name of a mutant must not contain it.
  return [...read(file).matchAll(title)].flatMap(([, , text]) => (text ?? '').split(/%[a-z]/))
}

/** The ids of the mutants for which `holds` is false. */
const unless = (holds: (mutant: Mutant) => boolean) =>
  mutants.filter((mutant) => !holds(mutant)).map(({ id }) => id)

test('there are at least 100 mutants, each with its own id and a sentence', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(100)
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length)
  expect(unless(({ mistake }) => /^\S.*\.$/.test(mistake))).toEqual([])
})

test('the text that a mutant changes occurs exactly once in its file', () => {
  expect(unless(({ file, search }) => read(file).split(search).length === 2)).toEqual([])
  expect(unless(({ search, replace }) => search !== replace)).toEqual([])
})

test('each mutant names a test whose title exists', () => {
  expect(unless(({ test: file }) => existsSync(join(root, file)))).toEqual([])
  const titles = new Map(mutants.map(({ test: file }) => [file, titlesIn(file)]))
  expect(
    unless(({ test: file, name }) => !!titles.get(file)?.some((title) => title.includes(name))),
  ).toEqual([])
})

test('each mutant is in one part, and each part has its share', () => {
  const parts = ['1/3', '2/3', '3/3'].map((part): Mutant[] =>
    listed('scripts/mutants.mjs', '--list', '--shard', part),
  )
  const ids = (all: readonly Mutant[]) => all.map(({ id }) => id).sort()
  expect(ids(parts.flat())).toEqual(ids(mutants))
  for (const part of parts) expect(part.length).toBeGreaterThan(mutants.length / 4)
})

test('the search for mistakes in scripts runs a file that exists', () => {
  const args = ['scripts/lua-mistakes.mjs', '--list-tests']
  const found = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  expect(found.trim()).toBe(join(root, 'programs/mutants/lua-mistakes.ts'))
})

test('the mistakes in a script change its code, and no comment and no text', () => {
  const file = 'latch/count-down.lua'
  const source = read(`lua/${file}`)
  const mistakes: { from: number; to: number; text: string }[] = listed(
    ...['scripts/lua-mistakes.mjs', '--list', file],
  )
  const changes = mistakes.map(({ from, to, text }) => [source.slice(from, to).trim(), text])
  expect(changes).toEqual(
    expect.arrayContaining([
      ['isLate(untilUs)', 'false'],
      ['and not ownRound', ''],
      ['keepKind(kind)', ''],
      ["redis.call(publish, channel, '0')", ''],
      ['>', '>='],
    ]),
  )
  const code = source.indexOf(']]')
  expect(mistakes.filter(({ from }) => from < code)).toEqual([])
  expect(changes.filter(([before, after]) => before === after)).toEqual([])
})

test('the page of mutants has the number of mutants in each area, and the number of all mutants', () => {
  const page = read('docs/explanation/mutants.md')
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (\d+) \|/gm)]
  const numbers = new Map<string, number>()
  for (const { area } of mutants) numbers.set(area, (numbers.get(area) ?? 0) + 1)
  expect(rows.map(([, area, number]) => [area, Number(number)])).toEqual([...numbers])
  expect(page).toContain(`There are ${mutants.length} mutants.`)
  expect(read('docs/explanation/tested.md')).toContain(`${mutants.length} mistakes`)
})
