import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { INSIDE } from './inside.ts'
import { specifiersOf } from './specifiers.ts'

const root = resolve(__dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The source of a built file: `dist/esm/src/index.d.ts` is built from `src/index.ts`. */
const sourceOf = (file: string) =>
  file
    .replace(/^(?:\.\/)?(?:dist\/(?:esm|cjs)|\.cache\/modules)\//, '')
    .replace(/(?:\.d)?\.[jt]s$/, '.ts')

/** The public entries: the files that package.json names. */
const { exports: entries, bin } = JSON.parse(read('package.json'))
const doors = new Set(
  [...JSON.stringify([entries, bin]).matchAll(/"([^"]+\.[jt]s)"/g)].map(([, file = '']) =>
    sourceOf(file),
  ),
)

const isInner = (file: string, to: string) => {
  if (!to.startsWith('.')) return false
  const source = sourceOf(join(dirname(file), to))
  return /^(?:src|tools)\//.test(source) && !doors.has(source)
}

const reaching = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.[cm]?[jt]s$/.test(file))
  .filter((file) =>
    specifiersOf(read(`test/${file}`)).some(({ to }) => isInner(`test/${file}`, to)),
  )

test('a public entry is no inner module, whether it is built or not', () => {
  expect(doors).toContain('src/index.ts')
  expect(isInner('test/lock/a.test.ts', '../../src/index.ts')).toBe(false)
  expect(isInner('test/lock/a/b.mjs', '../../../dist/cjs/src/testing.js')).toBe(false)
  expect(isInner('test/lock/a.test.ts', '../../src/errors.ts')).toBe(true)
  expect(isInner('test/lock/a/b.mjs', '../../../dist/esm/tools/cli/run.js')).toBe(true)
  expect(isInner('test/lock/a.test.ts', '../support/proxy.ts')).toBe(false)
  expect(isInner('test/lock/a.test.ts', 'node:path')).toBe(false)
})

test('no other test reaches inside: use the public entries, or give a reason in test/repo/inside.ts', () => {
  expect(reaching.filter((file) => !(file in INSIDE))).toEqual([])
})

test('each listed file still reaches inside, and the list is sorted', () => {
  const listed = Object.keys(INSIDE)
  expect(listed.filter((file) => !reaching.includes(file))).toEqual([])
  expect(listed).toEqual([...listed].sort())
})
