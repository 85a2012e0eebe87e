import { codes } from '../../tools/doctor/checks/all.ts'
import { USAGE } from '../../tools/doctor/options.ts'
import { plain, readPage, tableRows } from '../repo/docs/pages.ts'
import { sharedServer } from '../support/redis-server.ts'
import { diagnose, holdfast } from './diagnose.ts'

const server = sharedServer()
const reference = readPage('docs/reference/doctor.md')
const howTo = readPage('docs/how-to/doctor.md')

/** Returns the rows of the table below these words. */
function tableBelow(words: string) {
  const text = reference.lines.join('\n')
  return tableRows(text.slice(text.indexOf(words)))
}

describe('the page of reference', () => {
  test('the reference page has each code with its level', () => {
    const rows = tableBelow('## Findings').map((row) => [plain(row.code), row.level])
    expect(rows).toEqual([...codes].sort(byPage(rows.map(([code]) => code))))
  })

  test('the reference page has each field of the JSON', async () => {
    const report = await diagnose([server.url])
    const { codes: _, ...fields } = report
    const names = (words: string) => tableBelow(words).map((row) => plain(row.field))
    expect(names('`--json` prints')).toEqual(Object.keys(fields))
    expect(names('Fields of each server')).toEqual(Object.keys(report.servers[0] ?? {}))
    expect(names('Fields of each finding')).toEqual(Object.keys(report.findings[0] ?? {}))
  })
})

/** Sorts by the order of the page. Codes that the page lacks come last. */
function byPage(order: readonly (string | undefined)[]) {
  const place = (code: string) => (order.includes(code) ? order.indexOf(code) : order.length)
  return ([a]: [string, unknown], [b]: [string, unknown]) => place(a) - place(b)
}

describe('the how-to page', () => {
  /** The text without the parts that differ in each run, or between versions of the server. */
  const steady = (text: string) =>
    text
      .replace(/\n\nnote {2}old-version\n( .*\n?)+/, '\n')
      .replace(/, 1 note/, '')
      .replaceAll(`127.0.0.1:${server.port}`, '127.0.0.1:6379')
      .replaceAll(`-p ${server.port}`, '-p 6379')
      .replace(/(Redis|Valkey) [\d.]+/g, 'Redis')
      .replace(/\d+(\.\d+)?( m?s\b|\))/g, 'N$2')
      .replace(/\+?-?\d+ ms/g, 'N ms')
      .replace(/up \S+ \S+, /, '')
      .replace(/clock \S+ ms/, 'clock')
      .split(/\s+/)
      .join(' ')
      .trim()

  test('the how-to page shows what the doctor prints', async () => {
    await server.admin.config('SET', 'maxmemory', '100mb')
    await server.admin.config('SET', 'maxmemory-policy', 'volatile-lru')
    await server.admin.set('key', 1, 'PX', 60_000)
    const { out } = await holdfast(['doctor', server.url], { columns: 100 })
    const shown = howTo.blocks.find(({ body }) => body.startsWith('Not fit'))?.body ?? ''
    expect(steady(out)).toBe(steady(shown))
    await server.flush()
    await server.admin.config('SET', 'maxmemory-policy', 'noeviction')
    await server.admin.config('SET', 'maxmemory', '0')
  })

  test('the how-to page shows only options that exist', async () => {
    const rows = howTo.lines.filter((line) => /^\|.*npx holdfast doctor/.test(line))
    expect(rows.length).toBeGreaterThan(5)
    for (const row of rows) {
      const [, args = ''] = /npx holdfast doctor ?([^`]*)`/.exec(row) ?? []
      const used = args.split(' ').filter((one) => one.startsWith('--'))
      expect(used.filter((one) => !USAGE.includes(`${one} `))).toEqual([])
    }
  })
})
