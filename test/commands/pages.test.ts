import { commands } from '../../src/extras/cli/commands.ts'
import { LEAK_CODES } from '../../src/extras/cli/locks/leak-text.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { plain, read, readPage, tableRows } from '../repo/docs/pages.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()
const reference = readPage('docs/reference/program.md')
const howTo = readPage('docs/how-to/stuck-lock.md')
const looking = ['list', 'inspect', 'watch', 'leaks', 'history', 'bench']

const text = reference.lines.join('\n')
const tableBelow = (words: string) => tableRows(text.slice(text.indexOf(words)))
const names = (words: string, column: string) => tableBelow(words).map((row) => plain(row[column]))

test.each(looking)('the page of reference has what --help of %s prints', (name) => {
  const command = commands.find((one) => one.name === name)
  const blocks = reference.blocks.map(({ body }) => `${body}\n`)
  expect(blocks).toContain(command?.usage)
  expect(text).toContain(`| [\`${name}\`](#${name}) | ${command?.summary} |`)
})

test('the page of reference has each field of the JSON, and each code', async () => {
  const client = newClient()
  await client.getLock('a').lock()
  const json = async (...args: string[]) =>
    JSON.parse((await holdfast([...args, server.url, '--json'])).out)
  const row = await json('list')
  const fields = names('With `--json` each lock is one line', 'field')
  expect(fields.sort()).toEqual(Object.keys(row).sort())
  const holder = names('Each of `holders`:', 'field')
  expect(holder.sort()).toEqual(Object.keys(row.holders[0]).sort())
  const detail = await json('inspect', 'a', '--look-ms', '0')
  const more = names('and:\n\n| field', 'field')
  expect([...fields, ...more].sort()).toEqual(Object.keys(detail).sort())
  expect([...holder, 'renewal'].sort()).toEqual(Object.keys(detail.holders[0]).sort())
  expect(names('| code | what is found', 'code')).toEqual(LEAK_CODES)
})

test('the rights that the page tells are enough, and are those of the tests', async () => {
  const rights = reference.blocks.find(({ body }) => body.startsWith('~*'))?.body ?? ''
  const tested = read('test/deployment/places.test.ts')
  for (const right of rights.split(' ')) expect(tested).toContain(right)
  await server.admin.call('ACL', 'SETUSER', 'looks', 'on', '>secret', ...rights.split(' '))
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

/** Without what differs from run to run. */
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

test('the page of what to do shows what is printed', async () => {
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
  const shown = (begin: string) =>
    howTo.blocks.find(({ language, body }) => language === 'text' && body.startsWith(begin))?.body
  const list = await holdfast(['list', server.url])
  expect(steady(list.out + list.err)).toBe(steady(shown('NAME') ?? ''))
  const inspect = await holdfast(['inspect', 'app:order:1001', server.url, '--look-ms', '0'])
  expect(steady(inspect.out + inspect.err)).toBe(steady(shown('app:order') ?? ''))
})
