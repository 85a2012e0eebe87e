import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, readPage, root, tableRows } from './docs/pages.ts'

const page = readPage('test/ported/README.md')
const SECTIONS = ['Apache Curator', 'DistributedLock for .NET', 'redlock for Node.js', 'Web Locks']

interface Row {
  readonly upstream: string
  readonly ours: string
  readonly note: string
  readonly tests: readonly { readonly file: string; readonly title: string }[]
}

/** Returns the tests that a cell names: a file in backticks, followed by titles in double quotes. */
function testsIn(cell: string): Row['tests'] {
  const tests: { file: string; title: string }[] = []
  let file = ''
  const unescaped = cell.replaceAll('\\"', '”')
  for (const [, path, title] of unescaped.matchAll(/`([a-z/-]+)`(?= ")|"([^"]+)"/g)) {
    if (path !== undefined) file = `test/${path}.test.ts`
    else tests.push({ file, title: title ?? '' })
  }
  return tests
}

function rowsOf(section: string): Row[] {
  const body = page.headings.find(({ text, level }) => level === 2 && text === section)?.body ?? ''
  const tables = body.split(/\n(?=\| upstream test \|)/).slice(1)
  return tables.flatMap((table) =>
    tableRows(table).map((row) => {
      const { 'upstream test': upstream = '', ours = '', note = '' } = row as Record<string, string>
      return { upstream, ours, note, tests: testsIn(ours) }
    }),
  )
}

/** The titles of the tests and groups in a test file: each title stands before a function. */
function titlesIn(file: string): string[] {
  const title = /(['"`])((?:(?!\1).)+)\1,\s*(?:async\s*)?\(/g
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(title)].map(([, , found]) => (found ?? '').replaceAll('"', '”'))
}

const rows = SECTIONS.flatMap(rowsOf)

test('the page of ported tests has a table for each library', () => {
  for (const section of SECTIONS) expect(rowsOf(section).length).toBeGreaterThan(10)
  expect(rows.length).toBe(page.lines.filter((line) => /^\| (?!upstream)/.test(line)).length)
  expect(read('docs/explanation/tested.md')).toContain(`${rows.length} rows:`)
})

test('each row names a test of Holdfast, or says why there is no test', () => {
  const wrong = rows.filter(({ ours, note, tests }) => {
    if (ours === 'not applicable') return note === ''
    if (ours.startsWith('differs: ') && note === '') return true
    return tests.length === 0
  })
  expect(wrong.map(({ upstream }) => upstream)).toEqual([])
})

test('each test that the page names exists under exactly that title', () => {
  const named = rows.flatMap(({ tests }) => tests)
  const files = [...new Set(named.map(({ file }) => file))]
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  const titles = new Map(files.map((file) => [file, titlesIn(file)]))
  expect(named.filter(({ file, title }) => !titles.get(file)?.includes(title))).toEqual([])
})

test('the page names each test that was written for it', () => {
  const named = new Set(rows.flatMap(({ tests }) => tests.map(({ title }) => title)))
  const files = ['curator', 'distributed-lock', 'redlock', 'web-locks']
  const isTest = /\btest(?:\.each\([\s\S]*?\))?\(\s*'([^']+)'/g
  const own = files.flatMap((file) =>
    [...read(`test/ported/${file}.test.ts`).matchAll(isTest)].map(([, title]) => title ?? ''),
  )
  expect(own.length).toBeGreaterThan(25)
  expect(own.filter((title) => !named.has(title))).toEqual([])
})
