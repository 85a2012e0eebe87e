import { Holdfast } from '../../src/index.ts'
import { recordHistory } from '../../tools/history/history.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { sharedServer, startRedis } from '../support/redis-server.ts'

const server = sharedServer()

afterEach(() => server.flush())

async function recorded(work: (client: Holdfast) => Promise<void>, keyPrefix = ''): Promise<void> {
  const history = recordHistory({ redis: server.url, keyPrefix })
  const client = new Holdfast({ redis: server.url, label: 'api-1', keyPrefix })
  client.on('error', () => undefined)
  try {
    await work(client)
  } finally {
    await client.close()
    await history.stop()
  }
}

const told = (...args: string[]) => holdfast(['history', ...args, server.url])

test('history prints each acquisition, release, timeout and forced release of a lock, with a summary', async () => {
  await recorded(async (client) => {
    await client.getLock('order:1').using(async () => undefined)
    await client.getLock('other').using(async () => undefined)
    const lease = await client.getLock('order:1').lock()
    expect(await client.getLock('order:1').tryLock()).toBeNull()
    await client.getLock('order:1').forceUnlock()
    expect(lease.signal.aborted).toBe(true)
  })
  const { code, out, err } = await told('order:1')
  expect([code, err]).toEqual([0, ''])
  const lines = out.trim().split('\n')
  const events = lines.slice(0, 5).map((line) => line.split(/ +/)[2])
  expect(events).toEqual(['acquired', 'released', 'acquired', 'timeout', 'forced'])
  expect(lines[0]).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z {2}acquired {2}order:1 {2}api-1 \([\w-]{21}:\S+\), free, token \d+$/,
  )
  expect(lines[1]).toMatch(/held for \d+ ms$/)
  expect(out).toMatch(
    /acquired 2, forced 1, timeout 1\nheld for \d+ ms \(median\), \d+ ms \(longest\)\n/,
  )
  expect(out).not.toContain('other')
  expect((await told()).out).toContain('other')
})

test('history prints the cause of an outage without the advice of the error', async () => {
  const redis = 'Lock "a": not acquired: Redis gave no answer for 5.5 s (no answer).'
  const fields = [
    'event',
    'outage',
    'name',
    'a',
    'client',
    'c',
    'reason',
    `${redis} Check that it is up. So.`,
  ]
  await server.admin.xadd('holdfast_history', '*', ...fields)
  expect((await told('a')).out).toContain(`a  c, ${redis.slice(0, -1)}\n`)
})

test('history prints JSON, and selects events by --last and --since', async () => {
  await recorded(async (client) => {
    for (let i = 0; i < 3; i++) await client.getLock('a').using(async () => undefined)
  })
  const read = async (...args: string[]) =>
    (await told('--json', ...args)).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(await read('--last', '1')).toMatchObject([{ event: 'released', name: 'a', kind: 'lock' }])
  expect(await read('--since', '1h')).toHaveLength(6)
  expect(await told('--since', '2999-01-01')).toMatchObject({ code: 1, out: '' })
})

test('history accepts and prints names without the keyPrefix', async () => {
  await recorded((client) => client.getLock('b').using(async () => undefined), 'app:')
  const { code, out } = await told('b', '--key-prefix', 'app:')
  expect(code).toBe(0)
  expect(out).toContain('acquired  b  api-1')
})

test('history without records explains how to record a history', async () => {
  const { code, out, err } = await told('order:1')
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('import { recordHistory } from "holdfast/history"')
  await recorded((client) => client.getLock('other').using(async () => undefined))
  expect((await told('order:1')).err).toMatch(
    /^Nothing is recorded about "order:1"\.\n.*without its keyPrefix/,
  )
})

test('history reads the master that has the records, out of several masters', async () => {
  const other = await startRedis()
  await recorded((client) => client.getLock('c').using(async () => undefined))
  const { code, out } = await holdfast(['history', 'c', other.url, server.url])
  expect(code).toBe(0)
  expect(out).toContain('acquired  c')
})

test('a name in the history cannot control the terminal', async () => {
  await recorded((client) => client.getLock('a\u001b[2Jb').using(async () => undefined))
  expect((await told()).out).toContain('a\\x1b[2Jb')
})

test('history reports wrong options, and a server that does not answer', async () => {
  expect(await told('--since', 'soon')).toMatchObject({ code: 2 })
  expect((await told('--since', 'soon')).err).toContain('got "soon"')
  expect(await told('--last', '0')).toMatchObject({ code: 2 })
  const nobody = await holdfast(['history', 'redis://127.0.0.1:1'])
  expect(nobody).toMatchObject({ code: 3, out: '' })
  expect(nobody.err).toContain('ECONNREFUSED')
})

test('history leaves out a malformed entry, and prints the other entries', async () => {
  const write = (name: string, more: Record<string, string> = {}) => {
    const fields = { event: 'acquired', name, client: 'c', label: 'api', ...more }
    return server.admin.xadd('holdfast_history', '*', ...Object.entries(fields).flat())
  }
  await write('before')
  await write('malformed', { agoMs: '-1e300' })
  await write('after', { kind: 'fair\u001b[2J', heldMs: '-1e300' })
  const { code, out, err } = await told()
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('before')
  expect(out).toContain('after')
  expect(out).not.toContain('malformed')
  expect(out).not.toContain('\u001b')
})
