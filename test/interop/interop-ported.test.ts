import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(__dirname, '..', '..')
const page = readFileSync(join(root, 'test/interop/ported/README.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `test'))
  .map((line) => {
    const [, method = '', ours = '', note = ''] = line.split(' | ').join('|').split('|')
    const named = [...ours.matchAll(/`([^`]+)` "([^"]+)"/g)]
    return {
      method: method.replace(/[ `]/g, ''),
      ours,
      note: note.trim(),
      tests: named.map(([, file = '', title = '']) => ({ file, title })),
    }
  })

/** The texts of the test files, by path. */
const sources = new Map<string, string>()
function sourceOf(file: string): string {
  const path = join(root, 'test', `${file}.interop.ts`)
  const text = sources.get(path) ?? readFileSync(path, 'utf8')
  sources.set(path, text)
  return text
}

test('each test that the page on the tests of Redisson names exists', () => {
  const named = rows.flatMap(({ tests }) => tests)
  expect(named.length).toBeGreaterThan(100)
  expect(
    named.filter(
      ({ file, title }) => !new RegExp(`['"\`]${escaped(title)}['"\`]`).test(sourceOf(file)),
    ),
  ).toEqual([])
})

test('each method has a test, or a reason why it has none', () => {
  for (const { method, ours, note, tests } of rows) {
    const isExplained = ours.trim() === 'not applicable' && note.length > 0
    expect([method, tests.length > 0 || isExplained]).toEqual([method, true])
  }
})

test('each ported test is on the page, under the method whose name it begins with', () => {
  const methods = new Map<string, string[]>()
  for (const { method, tests } of rows) {
    for (const { title } of tests) methods.set(title, [...(methods.get(title) ?? []), method])
  }
  let count = 0
  for (const file of ['lock', 'read-write', 'semaphore']) {
    const titles = sourceOf(`interop/ported/${file}`).matchAll(
      /'((?:Redisson\w+, )?test\w*(?:, test\w+)*: [^']+)'/g,
    )
    for (const [, title = ''] of titles) {
      const [names = ''] = title.split(':')
      for (const name of names.split(', ').filter((one) => one.startsWith('test'))) {
        expect([title, methods.get(title)]).toEqual([title, expect.arrayContaining([name])])
        count += 1
      }
    }
  }
  expect(count).toBeGreaterThan(100)
})

test('the numbers at the beginning of the page match its tables', () => {
  const ported = rows.filter(({ tests }) => tests.some(({ file }) => file.includes('/ported/')))
  const left = rows.filter(({ tests }) => tests.length === 0)
  const before = rows.length - ported.length - left.length
  const text = page.replace(/\s+/g, ' ')
  expect(text).toContain(`lists all ${rows.length} test methods`)
  const tested = readFileSync(join(root, 'docs/explanation/tested.md'), 'utf8')
  expect(tested).toContain(`${rows.length} test methods`)
  expect(text).toContain(`written for this page: ${ported.length} methods`)
  expect(text).toContain(`${before} methods have one that existed before`)
  expect(text).toContain(`share: ${left.length} methods`)
})

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
