import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { recordHistory } from '../../tools/history/history.ts'
import { startChild } from '../support/children.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Lane, Past } from '../support/printed.ts'
import { sharedServer } from '../support/redis-server.ts'

const ending = { beforeCheck: true }
const server = sharedServer()

afterEach(() => server.flush())

function start(options: Partial<Parameters<typeof newDashboard>[0]> = {}) {
  const history = { redis: server.url }
  const authorize = () => 'read' as const
  const dashboard = newDashboard({ redis: server.url, authorize, history, ...options })
  atEnd(() => dashboard.close(), ending)
  const ask = async (path: string) => {
    const response = await dashboard.fetch(new Request(`http://d/locks/api/${path}`))
    return JSON.parse(await response.text())
  }
  const laneOf = async (key: string): Promise<Lane['spans']> => {
    // The page also requests the rows, because it shows the current holds as well.
    await ask('rows')
    const { lanes } = (await ask(`past?key=${key}`)) as Past
    return lanes[0]?.spans ?? []
  }
  return { ask, laneOf }
}

function newClient(label: string, options: HoldfastOptions = {}): Holdfast {
  const client = new Holdfast({ redis: server.url, label, ...options })
  client.on('error', () => undefined)
  atEnd(() => client.close(), ending)
  return client
}

function record() {
  const history = recordHistory({ redis: server.url })
  atEnd(() => history.stop(), ending)
  return history
}

/** Returns pairs of holds in which the second hold began before the end of the first. */
function overlapsIn(spans: Lane['spans']): [number, number][] {
  const sorted = [...spans].sort((a, b) => (a.token ?? 0) - (b.token ?? 0))
  return sorted.slice(1).flatMap((span, i): [number, number][] => {
    const { to } = sorted[i] as Lane['spans'][number]
    return to === null || to > span.from ? [[to ?? Number.NaN, span.from]] : []
  })
}

test('hand-offs between clients never overlap in the timeline', async () => {
  const history = record()
  const clients = ['ann', 'bob', 'eve'].map((label) => newClient(label))
  await Promise.all(
    clients.map(async (client) => {
      const lock = client.getLock('order:1')
      for (let i = 0; i < 25; i++) await (await lock.lock()).release()
    }),
  )
  await history.stop()
  const { laneOf } = start()
  const spans = await laneOf('order:1')
  expect(spans).toHaveLength(75)
  expect(overlapsIn(spans)).toEqual([])
  expect(spans.every(({ ending }) => ending === 'released')).toBe(true)
})

test('readers may overlap in the timeline, and a writer holds alone', async () => {
  const history = record()
  const [ann, bob] = [newClient('ann'), newClient('bob')].map((client) =>
    client.getReadWriteLock('stock'),
  ) as [ReturnType<Holdfast['getReadWriteLock']>, ReturnType<Holdfast['getReadWriteLock']>]
  const readers = [await ann.readLock().lock(), await bob.readLock().lock()]
  const writing = ann.writeLock().lock()
  for (const reader of readers) await reader.release()
  await (await writing).release()
  await (await bob.readLock().lock()).release()
  await history.stop()
  const spans = await start().laneOf('stock')
  const [first, second, write, last] = spans
  expect(spans.map(({ kind }) => kind)).toEqual(['read', 'read', 'write', 'read'])
  expect(first?.to).toBeGreaterThanOrEqual(second?.from as number)
  for (const reader of [first, second])
    expect(reader?.to).toBeLessThanOrEqual(write?.from as number)
  expect(write?.to).toBeLessThanOrEqual(last?.from as number)
})

test('after SIGKILL the bar of the killed holder ends where the next holder begins', async () => {
  const child = startChild('test/dashboard/fixtures/holder.mjs', {
    args: [server.url, 'killed', '2000', 'cron', 'idle'],
  })
  await child.next()
  const { laneOf } = start()
  expect(await laneOf('cron')).toMatchObject([{ label: 'killed', to: null, ending: null }])
  child.kill('SIGKILL')
  await child.exited
  const history = record()
  const next = await newClient('next').getLock('cron').lock()
  await eventuallyPasses(async () => {
    const [killed, second] = await laneOf('cron')
    expect(second).toMatchObject({ label: 'next', to: null, ending: null, token: next.token })
    expect(killed).toMatchObject({ label: 'killed', to: second?.from, ending: 'unrecorded' })
    expect(killed?.sureUntil).toBeLessThanOrEqual(killed?.to as number)
  })
  // This lock has no waiter. Its bar ends when the dashboard sees that the lock is free, and stays there.
  const [idle] = await eventually(async () => {
    const spans = await laneOf('idle')
    return spans[0]?.to != null && spans
  })
  expect(idle).toMatchObject({ label: 'killed', ending: 'unrecorded' })
  const later = (await laneOf('idle'))[0]
  expect(later?.to).toBe(idle?.to)
  await next.release()
  await history.stop()
})

test('held permits are shown as held, and permits without a lease have no end', async () => {
  const history = record()
  const client = newClient('ann')
  const [quota, slots] = [client.getPermitExpirableSemaphore('quota'), client.getSemaphore('slots')]
  await quota.trySetPermits(3)
  await slots.trySetPermits(1)
  const permits = [await quota.acquire(), await quota.acquire()]
  await slots.acquire()
  const { laneOf } = start()
  await eventuallyPasses(async () => {
    expect(await laneOf('quota')).toMatchObject([
      { kind: 'permits', label: 'ann', to: null, ending: null },
      { kind: 'permits', label: 'ann', to: null, ending: null },
    ])
    const [plain] = await laneOf('slots')
    expect(plain).toMatchObject({ kind: 'semaphore', ending: 'untold', to: plain?.from })
  })
  for (const permit of permits) await permit.release()
  await slots.release()
  await history.stop()
})

test('a holder that records nothing is shown beside recorded holders', async () => {
  const lease = await newClient('silent').getLock('order:2').lock()
  const history = record()
  await (await newClient('ann').getLock('order:3').lock()).release()
  await history.stop()
  const { ask, laneOf } = start()
  expect(await laneOf('order:2')).toMatchObject([{ label: 'silent', to: null, ending: null }])
  expect(await ask('past')).toMatchObject({ source: 'history', lockCount: 2 })
  await lease.release()
})
