import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { atEnd } from '../support/lifetime.ts'
import { rightsOf, withoutPrefix } from '../support/places/rights.ts'
import { startRedis } from '../support/redis-server.ts'

const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8')
const forced = rightsOf('release --force')
const asked = rightsOf('release --ask')
const toLook = rightsOf('list')

test('the page of rights lists the commands that the scripts of release call, and no other commands', () => {
  const commands = forced.filter((word) => word.startsWith('+')).map((word) => word.slice(1))
  const sources = read('tools/inspection/redis/scripts.generated.ts').replaceAll('\\n', '\n')
  const called = [...sources.matchAll(/redis\.p?call\(\s*'([A-Z]+)'/g)]
    .map(([, command]) => String(command).toLowerCase())
    .filter((command) => command !== 'pubsub')
  const toRead = rightsOf('inspect').filter((word) => word.startsWith('+') && word !== '+scan')
  const own = [...toRead.map((word) => word.slice(1)), 'publish', 'eval', 'xadd']
  // Included functions that these scripts do not call.
  const unused = ['hlen', 'hrandfield', 'zadd']
  const needed = new Set([...called.filter((one) => !unused.includes(one)), ...own])
  expect(commands.sort()).toEqual([...needed].sort())
})

test('the rights on the page are sufficient for release --force of every kind of lock', async () => {
  const server = await startRedis()
  const client = new Holdfast({ redis: server.url, keyPrefix: 'app:' })
  const other = new Holdfast({ redis: server.url, keyPrefix: 'app:' })
  for (const one of [client, other]) atEnd(() => one.close(), { beforeCheck: true })
  atEnd(() => server.flush(), { beforeCheck: true })
  await server.admin.call('ACL', 'SETUSER', 'ops', 'on', '>secret', ...forced)
  await server.admin.xadd('holdfast_history', '*', 'event', 'acquired')
  await client.getPermitExpirableSemaphore('permits').trySetPermits(1)
  const kinds = {
    plain: (one: Holdfast) => one.getLock('plain').lock(),
    fair: (one: Holdfast) => one.getFairLock('fair').lock(),
    written: (one: Holdfast) => one.getReadWriteLock('written').writeLock().lock(),
    permits: (one: Holdfast) => one.getPermitExpirableSemaphore('permits').acquire(),
  }
  for (const [name, acquire] of Object.entries(kinds)) {
    await acquire(client)
    const next = acquire(other)
    const args = ['release', name, '--force', '--yes', '--key-prefix', 'app:', '--url', server.url]
    const done = await holdfast([...args, '--user', 'ops', '--pass', 'secret'])
    expect({ name, code: done.code, err: done.err }).toMatchObject({ name, code: 0 })
    await (await next).release()
  }
  expect(await server.admin.call('ACL', 'LOG')).toEqual([])
  expect(await server.admin.xlen('holdfast_history')).toBe(1 + Object.keys(kinds).length)
})

test('the rights on the page are sufficient for --ask, and a login without them is refused', async () => {
  const server = await startRedis()
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  atEnd(() => server.flush(), { beforeCheck: true })
  client.on('releaseRequested', () => {})
  await client.getLock('a').lock()
  const user = ['SETUSER', 'ops', 'on', '>secret', 'resetchannels', ...withoutPrefix(toLook)]
  await server.admin.call('ACL', ...user)
  const ask = () =>
    holdfast([
      'release',
      'a',
      '--ask',
      '--timeout-ms',
      '300',
      '--url',
      server.url,
      '--user',
      'ops',
      '--pass',
      'secret',
    ])
  const refused = await ask()
  expect(refused.code).toBe(3)
  expect(refused.err).toMatch(/NOPERM|holdfast_requests:/)
  await server.admin.call(
    'ACL',
    'SETUSER',
    'ops',
    'reset',
    'on',
    '>secret',
    ...withoutPrefix(asked),
  )
  await server.admin.call('ACL', 'LOG', 'RESET')
  const done = await ask()
  expect({ code: done.code, err: done.err }).toEqual({ code: 0, err: '' })
  expect(await server.admin.call('ACL', 'LOG')).toEqual([])
})
