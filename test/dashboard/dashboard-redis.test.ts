import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Holdfast } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { recordHistory } from '../../tools/history/history.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const ending = { beforeCheck: true }
const server = sharedServer()

function start(options: Partial<Parameters<typeof newDashboard>[0]> = {}) {
  const dashboard = newDashboard({ redis: server.url, authorize: () => 'admin', ...options })
  atEnd(() => dashboard.close(), ending)
  return async (path: string, init: RequestInit = {}) => {
    const response = await dashboard.fetch(new Request(`http://d/locks/api/${path}`, init))
    return JSON.parse(await response.text())
  }
}

function newClient(label: string): Holdfast {
  const client = new Holdfast({ redis: server.url, label })
  atEnd(() => client.close(), ending)
  return client
}

test('the dashboard shows the holder and the waiters of a lock', async () => {
  const lease = await newClient('checkout').getFairLock('order:1').lock()
  const waiting = newClient('invoices').getFairLock('order:1').lock()
  const ask = start()
  await eventuallyPasses(async () => {
    expect(await ask('lock?key=order:1')).toMatchObject({
      lock: {
        kind: 'lock',
        state: 'held',
        token: lease.token,
        holders: [{ owner: lease.owner, holdCount: 1 }],
        waiting: 1,
        queue: [{ isDead: false }],
      },
    })
  })
  const { rows, totals } = await ask('rows')
  expect(rows).toMatchObject([{ key: 'order:1', state: 'held', waiting: 1 }])
  expect(totals).toMatchObject({ locks: 1, held: 1, waiting: 1 })
  await lease.release()
  await (await waiting).release()
})

test('the history reports waits, losses and holds that no check has seen', async () => {
  const history = recordHistory({ redis: server.url })
  atEnd(() => history.stop(), ending)
  const client = newClient('checkout')
  const lock = client.getLock('order:2')
  for (let i = 0; i < 3; i++) await (await lock.lock()).release()
  const lease = await client.getLock('order:3').lock()
  expect(await client.getLock('order:3').tryLock()).toBeNull()
  await server.admin.del('order:3')
  await lease.release().catch(() => undefined)
  await history.stop()
  const ask = start({ history: { redis: server.url } })
  const past = await ask('past?minutes=5')
  expect(past).toMatchObject({ source: 'history', error: null })
  const own = past.lanes.find(({ key }: { key: string }) => key === 'order:2').spans
  expect(own).toHaveLength(3)
  expect(own.every(({ ending }: { ending: string }) => ending === 'released')).toBe(true)
  expect(past.waits.count).toBe(5)
  expect(past.losses).toMatchObject([
    { key: 'order:3', event: 'lost', label: 'checkout' },
    { key: 'order:3', event: 'timeout' },
  ])
  expect((await ask('past?key=order:2')).losses).toEqual([])
  await server.admin.del('holdfast_history')
})

test('without a readable history, the timeline shows what the dashboard has seen', async () => {
  const lease = await newClient('checkout').getLock('order:4').lock()
  const ask = start({ history: { redis: server.url } })
  await ask('rows')
  expect(await ask('past')).toMatchObject({
    source: 'poll',
    error: null,
    waits: null,
    lanes: [{ key: 'order:4', spans: [{ owner: lease.owner }] }],
  })
  await server.admin.set('holdfast_history', 'none')
  expect(await start({ history: { redis: server.url } })('past')).toMatchObject({
    source: 'poll',
    error: expect.stringContaining('WRONGTYPE'),
  })
  await server.admin.del('holdfast_history')
  await lease.release()
})

test('the timeline follows entries that are recorded later', async () => {
  const history = recordHistory({ redis: server.url })
  atEnd(() => history.stop(), ending)
  const lock = newClient('checkout').getLock('order:5')
  await (await lock.lock()).release()
  const ask = start({ history: { redis: server.url } })
  const count = async () => (await ask('past')).lanes[0]?.spans.length
  await eventuallyPasses(async () => expect(await count()).toBe(1))
  await (await lock.lock()).release()
  await eventuallyPasses(async () => expect(await count()).toBe(2))
  await history.stop()
  await server.admin.del('holdfast_history')
})

test('a read-only login is sufficient for everything except a release', async () => {
  const rights =
    '~* resetchannels +ping +time +scan +type +get +mget +hgetall +hget +lrange +hrandfield +pttl +exists +zcard +zcount +zrange ' +
    '+zrangebyscore +pubsub|numsub +pubsub|shardnumsub +cluster|slots +xrevrange +xread'
  await server.admin.call('ACL', 'SETUSER', 'looks', 'on', '>secret', ...rights.split(' '))
  const lease = await newClient('checkout').getLock('order:6').lock()
  const redis = server.url.replace('redis://', 'redis://looks:secret@')
  const ask = start({ redis, release: true, history: { redis } })
  expect((await ask('rows')).rows).toMatchObject([{ key: 'order:6', state: 'held' }])
  expect(await ask('lock?key=order:6')).toMatchObject({
    lock: { holders: [{ owner: lease.owner }] },
  })
  expect(await ask('past')).toMatchObject({ error: null })
  expect(await server.admin.call('ACL', 'LOG')).toEqual([])
  const query = new URLSearchParams({ key: 'order:6', owner: lease.owner, token: `${lease.token}` })
  const headers = { 'holdfast-dashboard': 'release' }
  expect(await ask(`release?${query}`, { method: 'POST', headers })).toMatchObject({
    error: expect.stringMatching(/NOPERM|no permissions/i),
  })
  expect(lease.valid).toBe(true)
  await lease.release()
  await server.admin.call('ACL', 'DELUSER', 'looks')
})

test('a forced release ends the hold of the named holder, and a repeated release spares the next holder', async () => {
  const lease = await newClient('checkout').getLock('order:7').lock()
  const ask = start({ release: true })
  const { lock } = await ask('lock?key=order:7')
  const [{ owner }] = lock.holders
  expect(owner).toBe(lease.owner)
  const query = new URLSearchParams({ key: 'order:7', owner, token: lock.token })
  const init = { method: 'POST', headers: { 'holdfast-dashboard': 'release' } }
  expect(await ask(`release?${query}`, init)).toMatchObject({
    outcome: 'released',
    fence: lease.token,
  })
  expect(await server.admin.exists('order:7')).toBe(0)
  const next = await newClient('invoices').getLock('order:7').lock()
  expect(next.token).toBeGreaterThan(lease.token)
  expect((await ask(`release?${query}`, init)).outcome).toBe('changed')
  expect(await server.admin.hexists('order:7', next.owner)).toBe(1)
  await next.release()
  await lease.release().catch(() => undefined)
})

test.each(["it's $(id)", '-x', 'job\n2'])(
  'the command for the lock %j frees that lock in a real shell',
  async (name) => {
    const lease = await newClient('checkout').getLock(name).lock()
    const ask = start({ redis: server.url.replace('redis://', 'redis://default:ignored@') })
    const { toFree } = await ask(`lock?${new URLSearchParams({ key: name })}`)
    expect(toFree.command).not.toContain('ignored')
    expect(toFree.needsPassword).toBe(true)
    const program = join(__dirname, '../../dist/esm/tools/cli/main.js')
    const script = `npx() { shift; '${process.execPath}' '${program}' "$@"; }`
    // There is no terminal that could confirm the command, and no password here.
    const command = toFree.command.replace('--force', '--force --yes').replace(/--user=\S+ /, '')
    await promisify(execFile)('bash', ['-c', `${script}\n${command}`])
    expect(await server.admin.exists(name)).toBe(0)
    await lease.release().catch(() => undefined)
  },
)

test('a forced release of a plain semaphore is refused, and is not reported as an outage', async () => {
  const semaphore = newClient('checkout').getSemaphore('slots')
  await semaphore.trySetPermits(1)
  const ask = start({ release: true })
  const init = { method: 'POST', headers: { 'holdfast-dashboard': 'release' } }
  const { error } = await ask('release?key=slots&owner=x:1&token=', init)
  expect(error).not.toContain('could not be asked')
  await server.admin.del('slots')
})

test('the dashboard reports an outage of Redis, and continues by itself', async () => {
  const ask = start()
  await server.kill()
  expect((await ask('rows')).error).toMatch(/Redis could not be asked: .*127\.0\.0\.1/)
  await server.restart()
  await eventually(async () => (await ask('rows')).status?.state === 'live')
})

describe('wrong options', () => {
  test.each<[string, object, RegExp]>([
    ['options without authorize', { redis: 'a:1', authorize: undefined }, /needs authorize/],
    ['options without redis or masters', { redis: undefined }, /either redis or masters/],
    ['redis together with masters', { masters: ['a:1'] }, /either redis or masters/],
    [
      'a master given twice',
      { redis: undefined, masters: ['a:1', 'b:1', 'redis://a:1'] },
      /^a:1 was given twice\.$/,
    ],
    ['a node given twice', { redis: { cluster: ['a:1', 'a:1'] } }, /^a:1 was given twice\.$/],
    ['a URL of another protocol', { redis: 'http://user:secret@a' }, /redis:\/\/host:port/],
    ['a client of Redis', { redis: { status: 'ready' } }, /opens its own connections/],
    ['an empty cluster', { redis: { cluster: [] } }, /redis\.cluster must be a list/],
    [
      'a release that is not a boolean',
      { release: 'yes' },
      /release must be true or false; got "yes"/,
    ],
  ])('newDashboard refuses %s', (_, options, message) => {
    const given = { redis: 'a:1', authorize: () => 'read', ...options } as never
    expect(() => newDashboard(given)).toThrow(message)
    expect(() => newDashboard(given)).not.toThrow(/secret/)
  })
})

test('a closed dashboard opens no connection for any request', async () => {
  const history = { redis: server.url }
  const dashboard = newDashboard({ redis: server.url, authorize: () => 'read', history })
  await dashboard.close()
  const connections = async () =>
    String(await server.admin.client('LIST'))
      .trim()
      .split('\n').length
  const before = await connections()
  const asked = ['rows', 'lock?key=order:1', 'past'].map(async (path) => {
    const response = await dashboard.fetch(new Request(`http://d/locks/api/${path}`))
    return ((await response.json()) as { error: string }).error
  })
  for (const error of await Promise.all(asked)) expect(error).toContain('The dashboard was closed.')
  expect(await connections()).toBe(before)
})
