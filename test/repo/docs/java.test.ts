import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { plain, read, readPage, root, tableRows } from './pages.ts'

const folder = 'test/interop'

/** The titles of the tests that run Redisson. */
const titles = readdirSync(join(root, folder))
  .filter((file) => file.endsWith('.interop.ts'))
  .flatMap((file) => [...read(join(folder, file)).matchAll(/(['"])(R\w+.*?)\1/g)])
  .map(([, , title]) => title ?? '')

const heading = readPage('docs/how-to/share-with-java.md').headings.find(
  ({ text }) => text === 'Which lock in Java',
)
const rows = tableRows(heading?.body ?? '')
const [objects = '', ...ours] = Object.keys(rows[0] ?? {})

test('the table of locks in Java has a column for each kind of lock that has a name', () => {
  const methods = ours.map((column) => plain(column).replace('with ', ''))
  const sources = ['src/holdfast.ts', 'src/kinds/fair.ts', 'src/kinds/read-write.ts']
  const made = sources.flatMap((file) =>
    [...read(file).matchAll(/^ {2}(get\w*Lock)\(name/gm)].map(([, one]) => one),
  )
  expect(methods.sort()).toEqual(made.sort())
})

test('each cell of the table has tests that run Redisson', () => {
  const bare = rows.flatMap((row) => {
    const object = plain(row[objects])
    return ours.flatMap((column) => {
      const ours = plain(column).replace('with ', '')
      // A read-write lock mixes with no other kind. The tests run it beside an RLock only, and the page says so.
      const others = ours === 'getReadWriteLock' ? 'read-write lock of Node' : '%s'
      if (others !== '%s' && row[column]?.endsWith('Not tested.')) return []
      const tested = titles.some(
        (title) => title.startsWith(object) && (title.includes(ours) || title.includes(others)),
      )
      return tested ? [] : [`${object} with ${ours}`]
    })
  })
  expect(rows.length).toBeGreaterThan(5)
  expect(bare).toEqual([])
})

test('the table has a row for each kind of lock that the tests know, and no other row', () => {
  const kinds = [...read(`${folder}/support/java.ts`).matchAll(/^ {2}\| '(\w+)/gm)]
  expect(rows.map((row) => plain(row[objects])).sort()).toEqual(
    [...new Set(kinds.map(([, kind]) => kind))].sort(),
  )
})

test('the page names the releases of Redisson that the tests use', () => {
  const releases = [
    ...read(`${folder}/java/pom.xml`).matchAll(/<redisson\.version>([\d.]+)</g),
  ].map(([, release]) => release)
  expect(releases).toHaveLength(2)
  for (const release of releases) expect(heading?.body).toContain(release)
})
