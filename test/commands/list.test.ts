import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()

/** Returns the cells of each line. There is one line for each lock. */
function cells(out: string): string[][] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
}

test('list shows the holder and the waiters of each lock, and puts locks with waiters first', async () => {
  const client = newClient({ label: 'api-7' })
  const other = newClient({ label: 'api-8' })
  await client.getLock('a').lock()
  await client.getFairLock('z').lock()
  const waiting = other.getFairLock('z').lock()
  waiting.catch(() => {})
  await (await client.getLock('free').lock()).release()
  await eventually(async () => (await client.getFairLock('z').inspect()).queueLength === 1)
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  const { code, out, err } = await holdfast(['list', '--all', server.url])
  expect(code).toBe(0)
  const [head, ...rows] = cells(out)
  expect(head).toEqual('NAME,KIND,STATE,HOLDER,HELD FOR,LEASE LEFT,WAITING,OLDEST WAIT'.split(','))
  expect(rows.map((row) => [row[0], row[2], row[3], row[6]])).toEqual([
    ['z', 'held', 'api-7', '1'],
    ['a', 'held', 'api-7', '0'],
    ['free', 'free', '-', '0'],
  ])
  expect(rows[1]?.[5]).toMatch(/^(29|30) s$/)
  expect(err).toMatch(/^3 locks of 127\.0\.0\.1:\d+: \d+ commands, \d+ \S+, \d+ m?s\n$/)
})

test('list filters by pattern, --held, --contended and --limit, and shows names without the keyPrefix', async () => {
  const client = newClient({ keyPrefix: 'app:' })
  await client.getLock('order:1').lock()
  await (await client.getLock('order:2').lock()).release()
  await (await client.getLock('job').lock()).release()
  await (await newClient({ keyPrefix: 'ap*:' }).getLock('order:9').lock()).release()
  const names = async (...args: string[]) => {
    const { out } = await holdfast(['list', server.url, '--all', '--json', ...args])
    return out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line).name]))
      .sort()
  }
  expect(await names('--key-prefix', 'app:')).toEqual(['job', 'order:1', 'order:2'])
  expect(await names('--key-prefix', 'app:', '--pattern', 'order:*')).toEqual([
    'order:1',
    'order:2',
  ])
  expect(await names('--key-prefix', 'ap*:')).toEqual(['order:9'])
  expect(await names('--held')).toEqual(['app:order:1'])
  expect(await names('--contended')).toEqual([])
  expect(await names('--limit', '2')).toHaveLength(2)
  expect(await names('--limit', '0')).toHaveLength(4)
})

test('list says how many locks it leaves out', async () => {
  const client = newClient()
  for (const name of ['a', 'b', 'c']) await (await client.getLock(name).lock()).release()
  const { out, err } = await holdfast(['list', server.url, '--all', '--limit', '1'])
  expect(cells(out)).toHaveLength(2)
  expect(err).toMatch(/^2 more; --limit 0 shows all\.\n1 lock of /)
})

test('list --json prints each lock as a line of JSON with its name', async () => {
  const client = newClient({ keyPrefix: 'app:' })
  const lease = await client.getLock('a').lock()
  const { out } = await holdfast(['list', server.url, '--json', '--key-prefix', 'app:'])
  expect(JSON.parse(out)).toMatchObject({
    name: 'a',
    key: 'app:a',
    kind: 'lock',
    state: 'held',
    token: lease.token,
    waiting: 0,
    oldestWaitMs: null,
    holders: [{ owner: lease.owner, holdCount: 1, isRedisson: false }],
  })
})

test('list prints no line longer than the terminal, and no name controls the terminal', async () => {
  const client = newClient({ label: 'l\u001b[31m'.padEnd(60, 'x') })
  const name = `\u001b]0;owned\u0007\n${'n'.repeat(80)}`
  await client.getLock(name).lock()
  for (const columns of [120, 80, 50]) {
    const { out } = await holdfast(['list', server.url], { isTerminal: true, columns })
    for (const line of out.trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    expect(out).toMatch(/NAME.* STATE.* HOLDER/)
    expect(out).not.toMatch(/[^\P{Cc}\n]/u)
  }
  const { out } = await holdfast(['list', server.url])
  expect(out).toContain(`\\x1b]0;owned\\x07\\n${'n'.repeat(80)}`)
})

test('list reports an unreachable server, a wrong option and missing rights instead of an empty list', async () => {
  const down = await holdfast(['list', '127.0.0.1:1'])
  expect(down).toMatchObject({ code: 3, out: '' })
  expect(down.err).toMatch(/127\.0\.0\.1:1 cannot be asked: .*ECONNREFUSED/)
  const wrong = await holdfast(['list', '--limit', 'x'])
  expect(wrong).toMatchObject({ code: 2, out: '' })
  expect(wrong.err).toContain('--limit must be a whole number of at least 0; got "x".')
  await server.admin.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '+ping')
  const blind = await holdfast(['list', '--user', 'blind', '--pass', 'secret', server.url])
  await server.admin.call('ACL', 'DELUSER', 'blind')
  expect(blind).toMatchObject({ code: 3, out: '' })
  expect(blind.err).toMatch(/NOPERM[\s\S]*docs\/reference\/acl\.md/)
  expect(blind.err).not.toContain('secret')
})

test('list reports holders with several versions of the wire format', async () => {
  const client = newClient()
  await client.getLock('a').lock()
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  expect((await holdfast(['list', server.url])).err).not.toMatch(/wire/)
  const id = 'b'.repeat(21)
  const about = { label: 'newer', host: 'h', pid: 1, version: '9.0.0', startedAt: 1 }
  const { admin } = server
  await admin.hset('b', `${id}:1`, 1)
  await admin.hset(
    `holdfast_client:{${id}}`,
    'about',
    JSON.stringify({ ...about, wire: { version: 2, oldest: 1 } }),
  )
  await admin.pexpire('b', 9_000)
  await admin.pexpire(`holdfast_client:{${id}}`, 9_000)
  const { err } = await holdfast(['list', server.url])
  expect(err).toContain(
    'Holders have several versions of the wire format: 1, 2. npx holdfast doctor shows if that is a problem.\n',
  )
  const { out } = await holdfast(['list', '--json', server.url])
  const rows = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows.map(({ holders }) => holders[0].process.wireVersion).sort()).toEqual([1, 2])
  await admin.del('b', `holdfast_client:{${id}}`)
})
