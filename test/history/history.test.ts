import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import {
  type HistoryEntry,
  type ReadHistoryOptions,
  type RecordHistoryOptions,
  readHistory,
  recordHistory,
} from '../../tools/history/history.ts'
import { startChild } from '../support/children.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { bulk, startFakeServer } from '../support/fake-server.ts'
import { within } from '../support/fault-rig.ts'
import { startTlsPlace } from '../support/places/tls.ts'
import { startProxy } from '../support/proxy.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { sharedServer, startRedis } from '../support/redis-server.ts'

const server = sharedServer()
const KEY = 'holdfast_history'

const endings: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await server.revive()
  await Promise.all(endings.splice(0).map((end) => end()))
  await server.flush()
})

function newClient(options: HoldfastOptions = {}): Holdfast {
  const client = new Holdfast({ redis: server.url, ...options })
  endings.push(() => client.close())
  return client
}

function record(options: Partial<RecordHistoryOptions> = {}) {
  const history = recordHistory({ redis: server.url, ...options })
  endings.push(() => history.stop())
  return history
}

async function all(options: Partial<ReadHistoryOptions> = {}): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for await (const entry of readHistory({ redis: server.url, ...options })) entries.push(entry)
  return entries
}

/** Returns the events, the oldest first. */
const told = (entries: readonly HistoryEntry[]) =>
  entries
    .map(({ event }) => event)
    .reverse()
    .join(' ')

async function written(count: number, options: Partial<ReadHistoryOptions> = {}) {
  return eventually(async () => {
    const entries = await all(options)
    expect(entries.length).toBeGreaterThanOrEqual(count)
    return entries
  })
}

test('the history has each acquisition, release and timeout, with client, label and times', async () => {
  const [ada, bob] = [newClient({ label: 'ada' }), newClient({ label: 'bob' })]
  const history = record()
  const startedAt = Date.now()
  const first = await ada.getLock('order:1').lock()
  const waiting = bob.getLock('order:1').lock()
  await pause(120)
  await first.release()
  const second = await waiting
  expect(await ada.getLock('order:1').tryLock()).toBeNull()
  await second.release()
  await history.stop()
  const entries = (await all()).reverse()
  expect(entries).toMatchObject([
    { event: 'acquired', label: 'ada', client: ada.id, path: 'free', token: first.token },
    { event: 'released', label: 'ada', owner: first.owner, token: first.token },
    { event: 'acquired', label: 'bob', client: bob.id, path: 'raced', token: second.token },
    { event: 'timeout', label: 'ada', owner: null, client: ada.id, token: null },
    { event: 'released', label: 'bob', owner: second.owner },
  ])
  const [, released, raced] = entries as [HistoryEntry, HistoryEntry, HistoryEntry]
  expect(entries.every(({ name, kind }) => name === 'order:1' && kind === 'lock')).toBe(true)
  expect(released.heldMs).toBeGreaterThanOrEqual(110)
  expect(raced.waitedMs).toBeGreaterThanOrEqual(110)
  // The times come from two clocks of one machine, in whole milliseconds.
  for (const { at } of entries) expect(at).toBeGreaterThanOrEqual(startedAt - 5)
  expect(released.at - (entries[0] as HistoryEntry).at).toBeGreaterThanOrEqual(100)
})

test('a loss has its reason, and a lock that force released is recorded as forced', async () => {
  const client = newClient({ leaseMs: 900 })
  client.on('error', () => undefined)
  record()
  const lost = await client.getLock('gone').lock()
  await server.admin.del('gone')
  await eventuallyPasses(() => expect(lost.signal.aborted).toBe(true))
  await client.getLock('forced').lock()
  await client.getLock('forced').forceUnlock()
  await client.getLock('short').lock({ leaseMs: 20 })
  const entries = await written(6)
  const endings = entries.filter(({ event }) => event !== 'acquired')
  expect(endings.map(({ name, event, reason }) => [name, event, reason]).sort()).toEqual([
    ['forced', 'forced', null],
    ['gone', 'lost', 'gone'],
    ['short', 'lost', 'expired'],
  ])
})

test('an abort and a permit without a lease are recorded, a re-entry is not', async () => {
  const client = newClient()
  const history = record()
  const lock = client.getLock('nested')
  await lock.using(() => lock.using(async () => undefined))
  const held = await client.getLock('taken').lock()
  const abort = new AbortController()
  const waiting = client.getLock('taken').lock({ signal: abort.signal })
  abort.abort()
  await expect(waiting).rejects.toThrow()
  await held.release()
  const slots = client.getSemaphore('slots')
  await slots.trySetPermits(1)
  await slots.acquire()
  await server.admin.del('slots')
  await history.stop()
  const entries = await all()
  expect(told(entries.filter(({ name }) => name === 'nested'))).toBe('acquired released')
  expect(told(entries.filter(({ name }) => name === 'taken'))).toBe('acquired aborted released')
  expect(entries.filter(({ name }) => name === 'slots')).toMatchObject([
    { event: 'acquired', kind: 'semaphore' },
  ])
})

test('events of several processes are in one stream, in order', async () => {
  record()
  const child = startChild('test/history/fixtures/worker.mjs', { args: [server.url] })
  expect(await child.exited).toMatchObject({ code: 0 })
  await newClient({ label: 'here' })
    .getLock('shared')
    .using(async () => undefined)
  const entries = await written(4, { name: 'shared' })
  expect(entries.map(({ label, event }) => `${label} ${event}`)).toEqual([
    'here released',
    'here acquired',
    'worker released',
    'worker acquired',
  ])
})

test('names have the keyPrefix, or the result of nameOf, or are left out', async () => {
  const client = newClient({ keyPrefix: 'app:' })
  const ended = async (options: Partial<RecordHistoryOptions>, name: string) => {
    await server.flush()
    const history = record(options)
    await client.getLock(name).using(async () => undefined)
    await history.stop()
    return [...new Set((await all()).map((entry) => entry.name))]
  }
  expect(await ended({ keyPrefix: 'app:' }, 'order:1')).toEqual(['app:order:1'])
  const options = { host: '127.0.0.1', port: server.port, keyPrefix: 'app:' }
  expect(await ended({ redis: options }, 'order:1')).toEqual(['app:order:1'])
  const nameOf = (name: string) => (name.startsWith('order:') ? 'order:*' : undefined)
  expect(await ended({ nameOf }, 'order:1')).toEqual(['order:*'])
  expect(await ended({ nameOf }, 'other')).toEqual([])
})

test('an acquisition has its lease and its latest end', async () => {
  const history = record()
  const lock = newClient({ leaseMs: 20_000 }).getLock('leased')
  await lock.using(async () => undefined)
  await lock.using(async () => undefined, { leaseMs: 700 })
  await lock.using(async () => undefined, { maxHoldMs: 90_000 })
  await history.stop()
  const entries = (await all()).reverse()
  const acquired = entries.filter(({ event }) => event === 'acquired')
  expect(acquired.map(({ leaseMs, limitMs }) => [leaseMs, limitMs])).toEqual([
    [20_000, null],
    [700, 700],
    [20_000, 90_000],
  ])
  const others = entries.filter(({ event }) => event !== 'acquired')
  expect(others.every(({ leaseMs, limitMs }) => leaseMs === null && limitMs === null)).toBe(true)
})

test('a name that nameOf made is marked, because several locks can share the name', async () => {
  const nameOf = (name: string) => (name.startsWith('order:') ? 'order:*' : name)
  const history = record({ nameOf })
  const client = newClient()
  for (const name of ['order:1', 'stock']) await client.getLock(name).using(async () => undefined)
  await history.stop()
  const marks = (await all()).map(({ name, isGroup }) => [name, isGroup])
  expect(Object.fromEntries(marks)).toEqual({ 'order:*': true, stock: false })
})

describe('a malformed entry', () => {
  const write = (fields: Record<string, string>, id = '*') =>
    server.admin.xadd(KEY, id, ...Object.entries(fields).flat())
  const good = { event: 'acquired', name: 'a', owner: 'c:1', client: 'c', label: 'api' }

  test.each([
    ['a time out of range', { agoMs: '-1e300' }, '*'],
    ['a time that is not a number', { agoMs: 'soon' }, '*'],
    ['a time after it was written', { agoMs: '-5000' }, '*'],
    ['a time before 1970', { agoMs: '9e15' }, '*'],
    ['an id beyond the largest time', {}, '9999999999999999999-0'],
  ])(
    'a malformed entry with %s is left out, and the entries around it are read',
    async (_, fields, id) => {
      await write({ ...good, name: 'before' })
      await write({ ...good, ...fields, name: 'malformed' }, id)
      if (id === '*') await write({ ...good, name: 'after' })
      const names = (await all()).map(({ name }) => name).reverse()
      expect(names).toEqual(id === '*' ? ['before', 'after'] : ['before'])
    },
  )

  test('a malformed entry has null for an invalid duration, number or word', async () => {
    await write({
      ...good,
      heldMs: '-1',
      waitedMs: '1e400',
      stalledMs: 'long',
      leaseMs: '-1e300',
      limitMs: 'NaN',
      token: '1.5',
      dropped: '-7',
      kind: 'lock\u001b[2J',
      path: 'a\nb',
    })
    const fields = ['heldMs', 'waitedMs', 'stalledMs', 'leaseMs', 'limitMs', 'token', 'dropped']
    const nulls = Object.fromEntries([...fields, 'kind', 'path'].map((field) => [field, null]))
    expect(await all()).toMatchObject([nulls])
  })
})

test('the stream is limited in entries, and expires', async () => {
  const history = record({ maxEvents: 100, ttlMs: 60_000 })
  const client = newClient()
  for (let i = 0; i < 300; i++) await client.getLock('many').using(async () => undefined)
  await history.stop()
  // Redis removes whole nodes of the stream, with a hundred entries in each node.
  expect(await server.admin.xlen(KEY)).toBeLessThan(300)
  expect(await server.admin.xlen(KEY)).toBeGreaterThanOrEqual(100)
  expect(await server.admin.pttl(KEY)).toBeGreaterThan(50_000)
})

test('a batch without a reply is written again, and read once', async () => {
  const proxy = await startProxy(server.port)
  const history = record({ redis: proxy.url, onError: () => undefined })
  const client = newClient()
  const trap = proxy.onNextRequest('EXEC', 'cutAfter')
  await client.getLock('twice').using(async () => undefined)
  await trap.done
  await eventuallyPasses(async () => expect(await server.admin.xlen(KEY)).toBe(4))
  await history.stop()
  expect(told(await all())).toBe('acquired released')
  expect(await all({ last: 1 })).toMatchObject([{ event: 'released' }])
})

test('while Redis does not answer, no lock waits, and the oldest entries are dropped and counted', async () => {
  const proxy = await startProxy(server.port)
  const failures: Error[] = []
  const onError = (error: Error) => failures.push(error)
  const history = record({ redis: proxy.url, maxBuffered: 10, onError })
  const client = newClient()
  const lock = client.getLock('away')
  await lock.using(async () => undefined)
  await written(2)
  const hole = proxy.blackHole({ onHeal: 'drop' })
  for (let i = 0; i < 50; i++) await lock.using(async () => undefined)
  await eventuallyPasses(() => expect(failures).toHaveLength(1), { timeoutMs: 10_000 })
  for (let i = 0; i < 100; i++) await lock.using(async () => undefined)
  hole.heal()
  let dropped = 0
  const count = async () => {
    const entries = await all()
    const kept = entries.filter(({ event }) => event !== 'dropped')
    dropped = entries.reduce((sum, entry) => sum + (entry.dropped ?? 0), 0)
    return kept.length + dropped
  }
  // Two entries from before the outage, and two entries for each of the 150 uses of the lock during the outage.
  await eventuallyPasses(async () => expect(await count()).toBe(302), { timeoutMs: 20_000 })
  await history.stop()
  expect(await count()).toBe(302)
  expect(dropped).toBeGreaterThan(150)
  expect(failures).toHaveLength(1)
})

test('a stream that cannot be written is reported as an error, and costs no lock', async () => {
  await server.admin.set(KEY, 'mine')
  const failures: Error[] = []
  const history = record({ onError: (error) => failures.push(error) })
  await newClient()
    .getLock('fine')
    .using(async () => undefined)
  await eventuallyPasses(() => expect(failures).toHaveLength(1))
  expect(failures[0]?.message).toContain('WRONGTYPE')
  await history.stop()
  expect(await server.admin.get(KEY)).toBe('mine')
})

test('stop() ends even while Redis does not answer', async () => {
  const client = newClient()
  const history = record({ onError: () => undefined })
  await client.getLock('last').using(async () => undefined)
  await written(2)
  await client.getLock('last').using(async () => undefined)
  await client.close()
  server.pause()
  // `stop()` promises to end within two seconds.
  await within(10_000, history.stop())
})

test('readHistory() selects by the last entries, by time and by name', async () => {
  const history = record()
  const client = newClient()
  for (const name of ['a', 'b', 'a']) await client.getLock(name).using(async () => undefined)
  await history.stop()
  const a = await all({ name: 'a' })
  expect(told(a)).toBe('acquired released acquired released')
  expect(await all({ last: 3 })).toEqual((await all()).slice(0, 3))
  expect(await all({ since: Date.now() + 60_000 })).toEqual([])
  expect(await all({ since: new Date(Date.now() - 60_000) })).toHaveLength(6)
  expect(await all({ key: 'nowhere' })).toEqual([])
})

test('following begins with the last entries, keeps the order, and continues after a cut', async () => {
  const proxy = await startProxy(server.port)
  const history = record()
  const client = newClient()
  await client.getLock('before').using(async () => undefined)
  await written(2)
  const abort = new AbortController()
  const seen: string[] = []
  const reading = (async () => {
    const options = { redis: proxy.url, last: 1, follow: true, signal: abort.signal }
    for await (const { event, name } of readHistory(options)) seen.push(`${event} ${name}`)
  })()
  await eventuallyPasses(() => expect(seen).toEqual(['released before']))
  await client.getLock('during').using(async () => undefined)
  await eventuallyPasses(() => expect(seen).toHaveLength(3))
  proxy.cut()
  await client.getLock('after').using(async () => undefined)
  await eventuallyPasses(() => expect(seen).toHaveLength(5), { timeoutMs: 10_000 })
  expect(seen.slice(1)).toEqual([
    'acquired during',
    'released during',
    'acquired after',
    'released after',
  ])
  // The reader waits for new entries, and does not poll.
  expect(proxy.count('XREAD')).toBeLessThan(50)
  abort.abort()
  await reading
  await history.stop()
})

test('following continues after its server was a replica that refused reads', async () => {
  const own = await startRedis({ config: { 'replica-serve-stale-data': 'no' } })
  const proxy = await startProxy(own.port)
  const write = (name: string) => own.admin.xadd(KEY, '*', 'event', 'acquired', 'name', name)
  await write('before')
  const abort = new AbortController()
  const seen: string[] = []
  const reading = (async () => {
    const options = { redis: proxy.url, last: 1, follow: true, signal: abort.signal }
    for await (const { name } of readHistory(options)) seen.push(name)
  })()
  // Otherwise a rejection during the wait would be an unhandled rejection.
  const ended = reading.then(
    () => 'ended',
    (error: Error) => error.message,
  )
  await eventually(async () => /blocked_clients:1/.test(await own.admin.info('clients')))
  await own.admin.replicaof('127.0.0.1', 1)
  await Promise.race([ended, eventually(() => proxy.count('XREAD') >= 3)])
  await own.admin.replicaof('NO', 'ONE')
  await write('after')
  await Promise.race([ended, eventually(() => seen.length === 2)])
  abort.abort()
  expect([await ended, seen]).toEqual(['ended', ['before', 'after']])
  await own.flush()
})

test.each([
  ['LOADING Redis is loading the dataset in memory', true],
  ['MASTERDOWN Link with MASTER is down', true],
  ['CLUSTERDOWN The cluster is down', true],
  ["READONLY You can't write against a read only replica.", true],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', false],
  ['NOPERM this user has no permissions', false],
])('following continues only after a temporary refusal: %s', async (refusal, isTemporary) => {
  let reads = 0
  const fields = ['event', 'acquired', 'name', 'later'].map(bulk).join('')
  const { port } = await startFakeServer(([command = '']) => {
    if (/^xrevrange$/i.test(command)) return '*0\r\n'
    if (!/^xread$/i.test(command)) return '+OK\r\n'
    if (++reads === 1) return `-${refusal}\r\n`
    return `*1\r\n*2\r\n${bulk(KEY)}*1\r\n*2\r\n${bulk('1-1')}*4\r\n${fields}`
  })
  const steps = readHistory({ redis: `redis://127.0.0.1:${port}`, follow: true })
  const first = steps.next().then(
    ({ value }) => value?.name,
    (error: Error) => error.message,
  )
  expect(await first).toBe(isTemporary ? 'later' : refusal)
  await steps.return(undefined)
})

test('in a cluster, the history is one stream', async () => {
  const cluster = await startCluster()
  const redis = { cluster: cluster.masters.map(({ host, port }) => ({ host, port })) }
  const history = record({ redis })
  await newClient()
    .getLock('anywhere')
    .using(async () => undefined)
  await history.stop()
  expect(told(await all({ redis }))).toBe('acquired released')
  await Promise.all(cluster.masters.map((master) => master.flush()))
})

test('the history accepts Sentinels with a login in the URL, and TLS for the master', async () => {
  const { port, way, server: master } = await startTlsPlace()
  const { tls } = (way() as { redis: { tls: object } }).redis
  const logins: string[][] = []
  const sentinel = await startFakeServer(([command = '', verb = '', ...args]) => {
    if (/^auth$/i.test(command)) logins.push([verb, ...args])
    if (!/^sentinel$/i.test(command)) return '+OK\r\n'
    const isMaster = /^get-master-addr-by-name$/i.test(verb)
    return isMaster ? `*2\r\n${bulk('127.0.0.1')}${bulk(`${port}`)}` : '*0\r\n'
  })
  const sentinels = [`redis://looker:secret@127.0.0.1:${sentinel.port}`]
  const redis = { sentinels, name: 'watched', tls }
  const history = record({ redis: redis as never })
  await newClient()
    .getLock('anywhere')
    .using(async () => undefined)
  await history.stop()
  expect(told(await all({ redis: redis as never }))).toBe('acquired released')
  expect(logins[0]).toEqual(['looker', 'secret'])
  await master.flush()
})

test('invalid options are refused, and the error shows the value', async () => {
  const refused = (options: object, message: RegExp | string) => {
    const call = () => record(options as never)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(message)
  }
  for (const redis of [7, 'http://x', 'a b', [], { cluster: [] }, { sentinels: [], name: 'a' }]) {
    refused({ redis }, /^redis/)
  }
  refused({ redis: { sentinels: [{ host: 'h' }] } }, /^redis: `sentinels` needs `name`/)
  refused({ redis: { hots: 'redis-1' } }, /^redis: ioredis has no option `hots`/)
  refused({ maxEvent: 5 }, 'There is no option `maxEvent` here. There are: redis, key, maxEvents,')
  refused({ nameOf: 5 }, 'nameOf must be a function; got 5.')
  refused({ onError: 'log' }, "onError must be a function; got 'log'.")
  refused({ keyPrefix: 5 }, 'keyPrefix must be a string; got 5.')
  expect(() => recordHistory(undefined as never)).toThrow(
    'recordHistory() takes an object of options',
  )
  expect(() => recordHistory({ redis: undefined as never })).toThrow(/^redis must be/)
  await expect(all({ lasts: 1 } as never)).rejects.toThrow('There is no option `lasts` here.')
  await expect(all({ redis: 'http://x' })).rejects.toThrow(/^redis must be/)
  expect(() => record({ maxEvents: 0 })).toThrow(/maxEvents .* got 0/)
  expect(() => record({ key: '' })).toThrow(/key must be .* got ""/)
  await expect(all({ last: -1 })).rejects.toThrow(/last .* got -1/)
  await expect(all({ since: new Date('x') })).rejects.toThrow(/since/)
  const free = { host: '127.0.0.1', port: 1 }
  await expect(all({ redis: free })).rejects.toThrow('ECONNREFUSED')
})

test('an outage of the server of locks is recorded at its begin and at its end, with the address', async () => {
  const locks = createMemoryServer()
  await using client = locks.newClient({ label: 'billing' })
  const history = record()
  await client.getLock('it').using(() => undefined)
  locks.beginOutage()
  locks.endOutage()
  await history.stop()
  const entries = (await all()).filter(({ name }) => name === 'memory')
  expect(entries.map(({ event, reason, label }) => [event, reason, label])).toEqual([
    ['recovered', expect.stringMatching(/^down for \d+ ms, 1 attempts failed$/), 'billing'],
    ['unreachable', expect.stringMatching(/^Redis at memory cannot be reached/), 'billing'],
  ])
})
