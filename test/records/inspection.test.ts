import { Holdfast } from '../../src/index.ts'
import { newMemoryClient } from '../../src/memory-client.ts'
import { MemoryRecordStore } from '../../src/servers/memory/memory-record-store.ts'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import { createDashboard } from '../../tools/dashboard/handler/create.ts'
import type { Detail, TableRow } from '../../tools/dashboard/handler/row.ts'
import { findLeaks } from '../../tools/inspection/find-leaks.ts'
import type { HolderRow, Inspection, LockDetail } from '../../tools/inspection/inspection.ts'
import { RecordInspection } from '../../tools/inspection/records/record-inspection.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { toFree } from '../../tools/inspection/to-free.ts'
import { KINDS } from '../../tools/kinds/all.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { DistantStore, newDistantClient } from '../support/distant-server.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const redis = sharedServer()

interface World {
  readonly inspection: Inspection
  /** False if the server cannot count the clients that wait without a place. */
  readonly countsListeners: boolean
  newClient(label: string): Holdfast
}

const closed = <T extends { close(): Promise<unknown> }>(one: T): T => {
  atEnd(() => one.close(), { beforeCheck: true })
  return one
}

function memoryWorld(server = new MemoryLockServer()): World {
  return {
    inspection: closed(new RecordInspection(() => new MemoryRecordStore(server), 'memory')),
    countsListeners: true,
    newClient: (label) => closed(newMemoryClient(server, { label })),
  }
}

function distantWorld(server = new MemoryLockServer()): World {
  return {
    inspection: closed(new RecordInspection(() => new DistantStore(server), 'distant')),
    countsListeners: false,
    newClient: (label) => closed(newDistantClient(server, { label })),
  }
}

function redisWorld(): World {
  atEnd(() => redis.flush(), { beforeCheck: true })
  return {
    inspection: closed(openInspection(readWhere({}, [redis.url], {}))),
    countsListeners: true,
    newClient: (label) => closed(new Holdfast({ redis: redis.url, label })),
  }
}

const ignore = (promise: Promise<unknown>) => void promise.catch(() => {})

/** The locks whose waiters have no place on the server. */
const WITHOUT_PLACE = ['plain', 'latch']

/** Makes a lock of each kind that one client holds and another client waits for. */
async function everyKind({ newClient, inspection, countsListeners }: World): Promise<void> {
  const [one, two] = [newClient('one'), newClient('two')]
  await (await one.getLock('free').lock()).release()
  await one.getLock('plain').lock()
  ignore(two.getLock('plain').lock())
  await one.getFairLock('fair').lock()
  ignore(two.getFairLock('fair').lock())
  await one.getReadWriteLock('read').readLock().lock()
  await two.getReadWriteLock('read').readLock().lock()
  await one.getReadWriteLock('write').writeLock().lock()
  ignore(two.getReadWriteLock('write').readLock().lock())
  const permits = one.getPermitExpirableSemaphore('permits')
  await permits.setPermits(3)
  await permits.acquire({ permits: 2 })
  ignore(two.getPermitExpirableSemaphore('permits').acquire({ permits: 2 }))
  await one.getSemaphore('semaphore').trySetPermits(1)
  await one.getSemaphore('semaphore').acquire()
  ignore(two.getSemaphore('semaphore').acquire())
  await one.getCountDownLatch('latch').trySetCount(2)
  ignore(two.getCountDownLatch('latch').await())
  ignore(one.getCyclicBarrier('barrier').await({ parties: 3 }))
  const lead = () => new Promise<void>(() => {})
  ignore(one.getLeaderElection('election', { label: 'first' }).lead(lead))
  await eventually(async () => (await inspection.inspect('election'))?.state === 'held')
  ignore(two.getLeaderElection('election', { label: 'second' }).lead(lead))
  ignore(one.job('nightly', { atLeastMs: 60_000 }).run(lead))
  await eventually(async () => (await inspection.inspect('job:nightly'))?.stateText === 'running')
  const waited = ['fair', 'write', 'permits', 'semaphore', 'barrier']
  if (countsListeners) waited.push(...WITHOUT_PLACE)
  await eventually(async () => {
    const rows = await inspection.read(waited)
    return rows.length === waited.length && rows.every(({ waiting }) => waiting === 1)
  })
  // The inspection knows the waiters of a plain lock from the reports of their clients.
  for (const key of ['plain', 'election', 'job:nightly']) {
    await eventually(async () => {
      const found = await inspection.inspect(key, { findWaiters: true })
      const isWaitedFor = key === 'job:nightly' || found?.queue.length === 1
      return isWaitedFor && found?.holders[0]?.process?.label !== undefined
    })
  }
}

const aboutMs = (ms: number | null) => (ms === null ? null : Math.round(ms / 30_000))

/** Returns the data that is the same on each server. */
function told(detail: LockDetail | null | undefined) {
  if (!detail) return detail
  const { kind, state, stateText, waiting, count, token, votes, oldestWaitMs } = detail
  const labelOf = ({ process }: Pick<HolderRow, 'process'>) => process?.label
  return {
    ...{ kind, state, stateText, waiting, count, votes },
    runState: detail.job?.last?.state,
    hasToken: token !== null,
    hasWait: oldestWaitMs !== null,
    holders: detail.holders.map((one) => ({
      ...{ label: labelOf(one), isRedisson: one.isRedisson, holdCount: one.holdCount },
      ...{ permits: one.permits.length, leaseMs: aboutMs(one.ttlMs), heldMs: aboutMs(one.ageMs) },
    })),
    queue: detail.queue.map((one) => [labelOf(one), one.isDead, one.wants]),
    toFree: toFree(detail, { name: detail.key }).command?.replace(/[\w-]{21}:\d+|\d{10,}/g, '…'),
  }
}

async function toldOfAll({ inspection }: World) {
  const found: Record<string, unknown> = {}
  for await (const rows of inspection.list()) {
    for (const { key } of rows) found[key] = told(await inspection.inspect(key))
  }
  return found
}

test('an inspection of a server in memory finds the same locks, holders and waiters as one of Redis', async () => {
  const [memory, real] = [memoryWorld(), redisWorld()]
  await Promise.all([everyKind(memory), everyKind(real)])
  const [here, there] = [await toldOfAll(memory), await toldOfAll(real)]
  expect(Object.keys(here).sort()).toEqual(Object.keys(there).sort())
  // A server in memory does not list the parties of a barrier.
  const barrier = there.barrier as { queue: unknown[]; hasWait: boolean }
  expect(here).toEqual({ ...there, barrier: { ...barrier, queue: [] } })
}, 60_000)

test('an inspection of a distant server finds the same, except for the number of clients that only listen', async () => {
  const [memory, distant] = [memoryWorld(), distantWorld()]
  await Promise.all([everyKind(memory), everyKind(distant)])
  const [here, there] = [await toldOfAll(memory), await toldOfAll(distant)]
  for (const key of WITHOUT_PLACE) {
    expect(here[key]).toMatchObject({ waiting: 1 })
    Object.assign(here[key] as object, { waiting: 0, hasWait: false })
  }
  expect(there).toEqual(here)
}, 60_000)

describe.each([
  ['in memory', memoryWorld],
  ['distant', distantWorld],
])('a server without scripts, %s', (_, newWorld) => {
  const holderOf = async (inspection: Inspection, key: string) =>
    (await inspection.inspect(key))?.holders[0] as HolderRow

  test('a forced release takes the lock from the seen holder only', async () => {
    const { inspection, newClient } = newWorld()
    const lease = await newClient('one').getLock('a').lock()
    const { owner } = await holderOf(inspection, 'a')
    const stale = { owner, token: lease.token - 1 }
    expect(await inspection.forceRelease('a', stale)).toEqual({ outcome: 'changed', fence: null })
    const forced = await inspection.forceRelease('a', { owner, token: lease.token })
    expect(forced).toEqual({ outcome: 'released', fence: lease.token })
    const next = await newClient('two').getLock('a').lock()
    expect(next.token).toBeGreaterThan(lease.token)
    const again = await inspection.forceRelease('a', { owner, token: null })
    expect(again).toEqual({ outcome: 'changed', fence: null })
    await next.release()
    expect((await inspection.forceRelease('a', { owner, token: null })).outcome).toBe('free')
    await lease.release().catch(() => {})
  })

  test('a forced release ends a read-write lock and permits, and refuses kinds without holders', async () => {
    const { inspection, newClient } = newWorld()
    const client = newClient('one')
    await client.getReadWriteLock('rw').writeLock().lock()
    const { owner } = await holderOf(inspection, 'rw')
    expect((await inspection.forceRelease('rw', { owner, token: null })).outcome).toBe('released')
    expect((await inspection.inspect('rw'))?.state).toBe('free')
    await client.getPermitExpirableSemaphore('p', { permits: 2 }).acquire({ permits: 2 })
    const { permits } = await holderOf(inspection, 'p')
    const one = { owner: permits[0] as string, token: null }
    expect(await inspection.forceRelease('p', one)).toEqual({ outcome: 'released', fence: null })
    expect((await inspection.inspect('p'))?.stateText).toBe('1 of 2 taken')
    const nobody = { owner: 'x', token: null }
    await expect(inspection.forceRelease('p', nobody)).rejects.toThrow(/^For permits of "p", give/)
    await client.getCountDownLatch('latch').trySetCount(1)
    await expect(inspection.forceRelease('latch', nobody)).rejects.toThrow(
      /is a latch, which has no/,
    )
  })

  test('a request to release reaches the holder', async () => {
    const { inspection, newClient } = newWorld()
    const client = newClient('one')
    await client.getLock('a').lock()
    const { owner } = await holderOf(inspection, 'a')
    const requests: unknown[] = []
    client.on('releaseRequested', ({ reason, by }) => requests.push([reason, by.label]))
    const asked = await inspection.requestRelease('a', [owner, `${owner}0`], {
      by: 'ada@ops',
      reason: 'a deploy',
    })
    expect(asked).toEqual([true, false])
    expect(requests).toEqual([['a deploy', 'ada@ops (npx holdfast)']])
  })

  test('a job has its last run and its ended runs, and a lock without a record is no job', async () => {
    const { inspection, newClient } = newWorld()
    const client = newClient('one')
    await client.job('done', { atLeastMs: 1_000 }).run(() => 'written')
    const failing = client.job('failed', { atLeastMs: 1_000 }).run(() => Promise.reject(Error('a')))
    await failing.catch(() => {})
    await (await client.getLock('job:plain').lock()).release()
    const rows = await inspection.read(['job:done', 'job:failed', 'job:plain', 'job:'])
    expect(rows.map(({ kind, stateText, problem }) => [kind, stateText, problem])).toEqual([
      ['job', 'done', undefined],
      ['job', 'failed', 'The last run failed.'],
      ['lock', 'free', undefined],
    ])
    expect(rows[0]?.job).toMatchObject({ last: { result: 'written', by: 'one' }, ended: [] })
    expect((await inspection.inspect('job:done'))?.job?.ended).toMatchObject([{ state: 'done' }])
  })

  test('an outage of the server is a readable error', async () => {
    const server = new MemoryLockServer()
    const { inspection } = newWorld(server)
    server.beginOutage()
    await expect(inspection.inspect('a')).rejects.toThrow('the server in memory is down')
    server.endOutage()
    expect(await inspection.inspect('a')).toBeNull()
  })

  test('healthy locks are no leaks, and a pattern limits the list', async () => {
    const { inspection, newClient } = newWorld()
    await newClient('one').getLock('order:1').lock()
    await newClient('one').getLock('b').lock()
    const keys: string[] = []
    for await (const rows of inspection.list({ pattern: 'order:*' })) {
      keys.push(...rows.map(({ key }) => key))
    }
    expect(keys).toEqual(['order:1'])
    expect(await findLeaks(inspection, { leaseMs: 30_000 }).next()).toMatchObject({ done: true })
  })

  test('a list yields each of many locks once, and only those that match', async () => {
    const { inspection, newClient } = newWorld()
    const client = newClient('one')
    const names = Array.from({ length: 250 }, (_n, n) => `order:${n}`)
    await Promise.all(names.map((name) => client.getCountDownLatch(name).trySetCount(1)))
    const listed = async (pattern?: string) => {
      const keys: string[] = []
      for await (const rows of inspection.list(pattern === undefined ? {} : { pattern })) {
        keys.push(...rows.map(({ key }) => key))
      }
      return keys.sort()
    }
    expect(await listed()).toEqual(names.sort())
    const matching = names.filter((name) => /^order:2[34]/.test(name))
    expect(await listed('order:2[34]*')).toEqual(matching)
    expect(await listed('order\\:23')).toEqual(['order:23'])
    expect(await listed('*:23')).toEqual(['order:23'])
    expect(await listed('rder')).toEqual([])
  })

  test('an inspection needs five requests if a lock of its kind is in use', async () => {
    const world = newWorld()
    const { inspection } = world
    await everyKind(world)
    const keys = ['plain', 'fair', 'election', 'read', 'write', 'latch', 'barrier', 'semaphore']
    for (const key of [...keys, 'permits', 'job:nightly']) {
      const before = inspection.cost.commands
      await inspection.inspect(key)
      expect([key, inspection.cost.commands - before]).toEqual([key, 5])
    }
  }, 60_000)

  test('the tools know the words of the errors for each kind', async () => {
    const world = newWorld()
    await everyKind(world)
    const client = world.newClient('three')
    const words = new Map(KINDS.map(({ kind, inErrors }) => [kind, inErrors]))
    const wordsAt = async (name: string) => {
      const reads = [client.getLock(name), client.getCountDownLatch(name)]
      const results = await Promise.allSettled(reads.map((one) => one.inspect()))
      const refusals = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      return / (an? [\w -]+) has this name/.exec(String(refusals[0]))?.[1]
    }
    for (const name of ['latch', 'barrier', 'semaphore', 'permits'] as const) {
      expect([name, await wordsAt(name)]).toEqual([name, words.get(name)])
    }
    expect(await wordsAt('plain')).toBe(words.get('lock'))
    expect(await wordsAt('read')).toBe(words.get('read-write'))
  }, 60_000)

  test('the dashboard works without Redis', async () => {
    const { inspection, newClient } = newWorld()
    const lease = await newClient('api-1').getLock('orders').lock()
    const released: unknown[] = []
    const dashboard = closed(
      createDashboard(
        async () => inspection,
        {
          authorize: () => 'admin',
          release: true,
          onRelease: (event) => released.push(event.outcome),
        },
        { address: inspection.address },
      ),
    )
    const fetch = async (path: string, options = {}) =>
      (await dashboard.fetch(new Request(`http://localhost/${path}`, options))).json()
    const { rows } = (await fetch('api/rows')) as { rows: TableRow[] }
    expect(rows).toMatchObject([
      { key: 'orders', stateText: 'held', holders: [{ label: 'api-1' }] },
    ])
    const { lock } = (await fetch('api/lock?key=orders')) as { lock: Detail }
    const { owner } = lock.holders[0] as Detail['holders'][number]
    const query = new URLSearchParams({ key: 'orders', owner, token: String(lock.token) })
    const headers = { 'holdfast-dashboard': 'release' }
    const forced = await fetch(`api/release?${query}`, { method: 'POST', headers })
    expect(forced).toEqual({ outcome: 'released', fence: lease.token })
    expect(released).toEqual(['released'])
    expect((await inspection.inspect('orders'))?.state).toBe('free')
    await lease.release().catch(() => {})
  })
})
