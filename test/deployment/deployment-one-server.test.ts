import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import type { LockRow } from '../../tools/inspection/inspection.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

/** Keys without an owner stay, so the server is flushed. */
const clean = () => atEnd(() => server.flush(), { beforeCheck: true })

function newClient(options = {}) {
  const client = new Holdfast({ redis: server.url, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

function openHere() {
  const inspection = openInspection(readWhere({}, [server.url], {}))
  atEnd(() => inspection.close(), { beforeCheck: true })
  return inspection
}

async function all(options = {}): Promise<Map<string, LockRow>> {
  const rows = new Map<string, LockRow>()
  for await (const some of openHere().list(options)) {
    for (const row of some) {
      expect(rows.has(row.key)).toBe(false)
      rows.set(row.key, row)
    }
  }
  return rows
}

test('a held lock is found whatever prefix its name has', async () => {
  clean()
  const client = newClient()
  const names = ['holdfast_jobs:1', 'redisson_jobs:1', 'holdfast_bench:fair']
  for (const name of names) await client.getLock(name).lock()
  expect([...(await all({ heldOnly: true })).keys()].sort()).toEqual(names.sort())
})

test('every kind of held lock is found once, with its holders and its waiters', async () => {
  clean()
  const [client, other] = [newClient({ keyPrefix: 'app:' }), newClient({ keyPrefix: 'app:' })]
  const lease = await client.getLock('plain').lock()
  await client.getFairLock('fair').lock()
  void other
    .getFairLock('fair')
    .lock()
    .catch(() => {})
  await client.getReadWriteLock('rw').readLock().lock()
  await other.getReadWriteLock('rw').readLock().lock()
  await client.getReadWriteLock('written').writeLock().lock()
  await client.getPermitExpirableSemaphore('permits').trySetPermits(1)
  await client.getPermitExpirableSemaphore('permits').acquire()
  await client.getCountDownLatch('latch').trySetCount(2)
  await (await client.getLock('free').lock()).release()
  await eventually(async () => (await client.getFairLock('fair').inspect()).queueLength === 1)
  const rows = await all()
  const facts = [...rows.values()].map(({ key, kind, stateText, holders, waiting }) => [
    key,
    kind,
    stateText,
    holders.length,
    waiting,
  ])
  expect(facts.sort()).toEqual([
    ['app:fair', 'lock', 'held', 1, 1],
    ['app:free', 'lock', 'free', 0, 0],
    ['app:latch', 'latch', 'closed, 2 to go', 0, 0],
    ['app:permits', 'permits', '1 of 1 taken', 1, 0],
    ['app:plain', 'lock', 'held', 1, 0],
    ['app:rw', 'read-write', 'read by 2', 2, 0],
    ['app:written', 'read-write', 'write', 1, 0],
  ])
  const [holder] = rows.get('app:plain')?.holders ?? []
  expect(holder).toMatchObject({ owner: lease.owner, holdCount: 1, isRedisson: false })
  expect(holder?.ttlMs).toBeGreaterThan(25_000)
  expect(holder?.ageMs).toBeGreaterThanOrEqual(0)
  expect(rows.get('app:fair')?.oldestWaitMs).toBeGreaterThanOrEqual(0)
})

test('the age of a reader comes from its lease, because the token belongs to the last writer', async () => {
  clean()
  const lock = newClient().getReadWriteLock('read')
  await (await lock.writeLock().lock()).release()
  await pause(300)
  const from = performance.now()
  const { owner } = await lock.readLock().lock()
  const row = (await all()).get('read')
  const mostMs = performance.now() - from
  expect(row).toMatchObject({ state: 'read', holders: [{ owner }] })
  expect(row?.holders[0]?.ageMs).toBeLessThanOrEqual(Math.ceil(mostMs))
  expect(row?.token).not.toBeNull()
})

test('a held lock of Holdfast or Redisson is found without its counter, and a foreign hash is not', async () => {
  clean()
  const client = newClient()
  await client.getLock('ours').lock()
  await server.admin.del('redisson_lock_token:{ours}')
  await server.admin.hset('java', '8743c9c0-0795-4907-87fd-6c719a6b4586:31', '1')
  await server.admin.pexpire('java', 30_000)
  await server.admin.hset('user:1', 'name', 'Ada', 'age', '36')
  await server.admin.hset('holdfast_forced:{x}', 'NxwZr5PVhg5sb0Me8yo04:17', '1')
  const rows = await all()
  expect([...rows.keys()].sort()).toEqual(['java', 'ours'])
  expect(rows.get('java')?.holders).toMatchObject([
    { isRedisson: true, process: null, ageMs: null },
  ])
  expect([...(await all({ heldOnly: true })).keys()].sort()).toEqual(['java', 'ours'])
})

test('a pattern matches names with any characters like SCAN', async () => {
  clean()
  const client = newClient()
  const names = ['order:1', 'order:2', 'job:1', '{ada}:order', 'a*b', 'a]b', 'a\nb']
  for (const name of names) await (await client.getLock(name).lock()).release()
  for (const [pattern, found] of [
    ['order:*', ['order:1', 'order:2']],
    ['*:[13-9]', ['job:1', 'order:1']],
    ['a\\*b', ['a*b']],
    ['a?b', ['a\nb', 'a*b', 'a]b']],
    ['a[^*]b', ['a\nb', 'a]b']],
    ['{ada}*', ['{ada}:order']],
    ['*', names],
  ] as const) {
    expect([...(await all({ pattern })).keys()].sort()).toEqual([...found].sort())
    // Redis must find the same keys.
    await server.admin.mset(Object.fromEntries(names.map((name) => [`${name}`, '1'])))
    expect((await server.admin.keys(pattern)).filter((key) => names.includes(key)).sort()).toEqual(
      [...found].sort(),
    )
    await server.admin.del(...names)
  }
})

test('inspect returns the queue and the available permits, and null for an unknown name', async () => {
  clean()
  const [client, other] = [newClient(), newClient()]
  const first = await client.getFairLock('fair').lock()
  const wait = other.getFairLock('fair').lock()
  await eventually(async () => (await client.getFairLock('fair').inspect()).queueLength === 1)
  const inspection = openHere()
  const detail = await inspection.inspect('fair')
  expect(detail).toMatchObject({ key: 'fair', state: 'held', waiting: 1, token: first.token })
  expect(detail?.queue).toMatchObject([{ isDead: false }])
  expect(detail?.queue[0]?.owner.startsWith(other.id)).toBe(true)
  await first.release()
  await (await wait).release()
  await client.getPermitExpirableSemaphore('api').trySetPermits(3)
  const permit = await client.getPermitExpirableSemaphore('api').acquire({ permits: 2 })
  expect(await inspection.inspect('api')).toMatchObject({
    kind: 'permits',
    stateText: '2 of 3 taken',
    count: { available: 1, taken: 2, toGo: null },
  })
  const holders = (await inspection.inspect('api'))?.holders
  expect(holders).toMatchObject([{ owner: permit.owner, holdCount: 2 }])
  expect([...(holders?.[0]?.permits ?? [])].sort()).toEqual([...permit.ids].sort())
  expect(await inspection.inspect('nothing')).toBeNull()
})

test('a lock that was deleted between two checks is free, and is gone after a flush', async () => {
  clean()
  const inspection = openHere()
  const client = newClient()
  await client.getLock('a').lock()
  expect(await inspection.read(['a', 'nothing'])).toMatchObject([{ key: 'a', state: 'held' }])
  await server.admin.del('a')
  expect(await inspection.read(['a'])).toMatchObject([{ key: 'a', state: 'free', holders: [] }])
  await server.admin.flushall()
  expect(await inspection.read(['a'])).toEqual([])
})

test('a holder without a complete client note has no known process', async () => {
  clean()
  const id = 'A'.repeat(21)
  await server.admin.hset('it', `${id}:1`, '1')
  const complete = { label: 'billing', host: 'vm', pid: 7, version: '0.1.0', startedAt: 1 }
  for (const missing of ['label', 'host', 'pid'] as const) {
    const about = JSON.stringify({ ...complete, [missing]: undefined })
    await server.admin.hset(`holdfast_client:{${id}}`, 'about', about)
    expect((await all()).get('it')?.holders).toMatchObject([{ process: null }])
  }
  await server.admin.hset(`holdfast_client:{${id}}`, 'about', JSON.stringify(complete))
  const process = { client: id, label: 'billing', host: 'vm', pid: 7 }
  expect((await all()).get('it')?.holders).toMatchObject([{ process }])
})
