import { readPage, tableRows } from './pages.ts'

const rows = (page: string, heading: RegExp) =>
  tableRows(readPage(page).headings.find(({ text }) => heading.test(text))?.body ?? '')

/** The source of each row of the table in the README, with the number of its digits. */
const sources = [
  ['lock and unlock', /^\(a\)/, 'p50 ms', 2],
  ['64 locks', /^\(b\)/, 'per second', 0],
  ['16 waiters', /^\(d\)/, 'hand-offs/s', 0],
  ['4 processes', /^\(e\)/, 'hand-offs/s', 0],
  ['hand-offs of the 4 processes', /^\(e\)/, 'of floor', 2],
] as const

const libraries: Record<string, RegExp> = {
  '`getLock`': /^Holdfast$/,
  '`getFairLock`': /^Holdfast, fair$/,
  'redlock 5': /^redlock 5[^,]*(, 10 ms)?$/,
  'redis-semaphore': /^redis-semaphore/,
  'node-redisson': /^node-redisson/,
}

const told = rows('README.md', /^How fast/)

test.each(sources)(
  'the README has the figures of the benchmarks: %s',
  (begin, heading, column, digits) => {
    const measured = rows('bench/results/results.md', heading)
    const expected = Object.entries(libraries).map(([library, label]) => {
      const row = measured.find((one) => label.test(one.library ?? ''))
      const value = Number(row?.[column]?.replaceAll(',', ''))
      const figure = value.toLocaleString('en', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })
      return [library, Number(row?.stalled?.split(' ')[0] ?? 0) > 0 ? 'stalls' : figure]
    })
    const { '': _, ...row } = told.find((one) => one['']?.startsWith(begin)) ?? {}
    expect(row).toEqual(Object.fromEntries(expected))
  },
)

test('the README has the figures of the benchmarks for the floor of Redis, and for redlock with its own delays', () => {
  const measured = rows('bench/results/results.md', /^\(e\)/)
  const handOvers = (label: RegExp) =>
    measured.find((one) => label.test(one.library ?? ''))?.['hand-offs/s']
  const { body = '' } =
    readPage('README.md').headings.find(({ text }) => /^How fast/.test(text)) ?? {}
  expect(body).toContain(`${handOvers(/^floor/)}/s |`)
  expect(body).toContain(`redlock reaches ${handOvers(/^redlock 5.*own delays/)} hand-offs`)
})
