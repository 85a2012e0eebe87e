import { commands } from '../../tools/cli/commands.ts'
import { LEAK_CODES } from '../../tools/cli/locks/leak-text.ts'
import { WHERE_USAGE } from '../../tools/servers/where.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { type Page, plain, read, readPage, tableRows } from '../repo/docs/pages.ts'
import { eventually } from '../support/eventually.ts'
import { rightsOf, withoutPrefix } from '../support/places/rights.ts'
import { defaultsOf, documentedOptions, namesIn, optionsOf } from './documented-options.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()
const overview = readPage('docs/reference/program.md')
const pageOf = (name: string) => readPage(`docs/reference/program-${name}.md`)
const howTo = readPage('docs/how-to/stuck-lock.md')
/** The doctor and the dashboard have their own pages. */
const OWN = ['doctor', 'dashboard']

const names = (page: Page, words: string, column: string) => {
  const text = page.lines.join('\n')
  expect(text).toContain(words)
  return tableRows(text.slice(text.indexOf(words))).map((row) => plain(row[column]))
}

test('the page of the program lists all commands, each with its page', () => {
  const rows = tableRows(overview.lines.join('\n')).map((row) => row.command)
  const linkTo = (name: string) =>
    `[\`${name}\`](${OWN.includes(name) ? '' : 'program-'}${name}.md)`
  expect(rows).toEqual(commands.map(({ name }) => linkTo(name)))
})

test('the page of the program has the options that all commands share', () => {
  const rows = overview.headings.find(({ text }) => text === 'Connection')?.body ?? ''
  const told = tableRows(rows).flatMap(({ option = '' }) => namesIn(option))
  expect(told.sort()).toEqual(namesIn(WHERE_USAGE))
})

test.each(commands)('the page of $name has the options that --help prints', ({ name, usage }) => {
  const page = OWN.includes(name) ? readPage(`docs/reference/${name}.md`) : pageOf(name)
  expect(usage).toContain(WHERE_USAGE)
  expect(optionsOf(usage).length).toBeGreaterThan(2)
  expect(documentedOptions(page)).toEqual(expect.arrayContaining(optionsOf(usage)))
  expect(optionsOf(usage)).toEqual(expect.arrayContaining(documentedOptions(page)))
  const { given, told } = defaultsOf(usage, page)
  expect(told).toEqual(given)
})

test('the pages list each field of the JSON output and each code of leaks', async () => {
  const client = newClient()
  await client.getLock('a').lock()
  const json = async (...args: string[]) =>
    JSON.parse((await holdfast([...args, server.url, '--json'])).out)
  const row = await json('list')
  const list = pageOf('list')
  const fields = names(list, 'Each line of `--json` is one lock', 'field')
  expect(fields.sort()).toEqual(Object.keys(row).sort())
  const holder = names(list, 'Each of `holders`:', 'field')
  expect(holder.sort()).toEqual(Object.keys(row.holders[0]).sort())
  const detail = await json('inspect', 'a', '--look-ms', '0')
  const more = names(pageOf('inspect'), 'also has these fields:', 'field')
  expect([...fields, ...more].sort()).toEqual(Object.keys(detail).sort())
  expect([...holder, 'renewal'].sort()).toEqual(Object.keys(detail.holders[0]).sort())
  expect(names(pageOf('leaks'), '| code | reported', 'code')).toEqual(LEAK_CODES)
})

test('the rights on the page of rights are sufficient for list, inspect and leaks, and the deployment tests use them', async () => {
  const rights = [...rightsOf('list'), '+pubsub|shardnumsub', '+cluster|slots']
  const tested = read('test/deployment/deployment-places.test.ts')
  for (const right of rights) if (right.startsWith('+')) expect(tested).toContain(right)
  const user = ['SETUSER', 'looks', 'on', '>secret', ...withoutPrefix(rightsOf('list'))]
  await server.admin.call('ACL', ...user)
  const client = newClient()
  await client.getLock('a').lock()
  await client.getPermitExpirableSemaphore('permits').trySetPermits(1)
  const login = ['--user', 'looks', '--pass', 'secret', server.url]
  expect((await holdfast(['list', ...login])).code).toBe(0)
  expect((await holdfast(['inspect', 'permits', ...login, '--look-ms', '0'])).code).toBe(0)
  const leaks = await holdfast(['leaks', ...login, '--lease-ms', '30'])
  await server.admin.call('ACL', 'DELUSER', 'looks')
  expect(leaks).toMatchObject({ code: 0, out: '' })
})

/** The text without the parts that differ in each run. */
const steady = (shown: string) =>
  shown
    .replaceAll(`127.0.0.1:${server.port}`, '127.0.0.1:6379')
    .replace(/ --url=redis:\S+/g, '')
    .replace(/[\w-]{21}:\d+/g, 'OWNER')
    .replace(/process\s+\d+\s+on\s+\S+/g, 'process PID on HOST')
    .replace(/^( {2}api-\d +(?:the lock +)?)\S+ +\d+/gm, '$1HOST PID')
    .replace(/\d+ commands, \d+ B/, 'N commands, N B')
    .replace(/\d+ m?s\b/g, 'N s')
    .replace(/\b\d{3,}\b/g, 'N')
    .split(/\s+/)
    .join(' ')
    .trim()

test('the pages show what the program prints', async () => {
  const client = newClient({ label: 'api-7', keyPrefix: 'app:' })
  const other = newClient({ label: 'api-8', keyPrefix: 'app:' })
  await client.getFairLock('order:1001').lock()
  await client.getLock('report').lock()
  const waiting = other.getFairLock('order:1001').lock()
  waiting.catch(() => {})
  await eventually(async () => (await client.getFairLock('order:1001').inspect()).queueLength === 1)
  for (const { id } of [client, other]) {
    await eventually(async () => (await client.clientInfo(id)) !== null)
  }
  const shown = (page: Page, begin: string) =>
    page.blocks.find(({ language, body }) => language === 'text' && body.includes(begin))?.body ??
    ''
  /** A block of a page begins with the command, and may leave out the end. */
  const output = (block: string) => block.replace(/^\$ [^\n]*\n/, '').replace(/\n +…$/, '')
  const list = await holdfast(['list', server.url])
  const listed = steady(list.out + list.err)
  expect(listed).toBe(steady(shown(howTo, 'NAME')))
  expect(listed).toBe(steady(output(shown(pageOf('list'), 'NAME'))))
  const inspect = await holdfast(['inspect', 'app:order:1001', server.url, '--look-ms', '0'])
  const inspected = steady(inspect.out + inspect.err)
  expect(inspected).toBe(steady(shown(howTo, 'app:order:1001 at')))
  const begin = steady(output(shown(pageOf('inspect'), 'app:order:1001 at')))
  expect(begin).toContain('To free it')
  expect(inspected.slice(0, begin.length)).toBe(begin)
})
