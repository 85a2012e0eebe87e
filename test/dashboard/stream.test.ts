import { createDashboard, type Times } from '../../tools/dashboard/handler/create.ts'
import { eventually, eventuallyPasses, never } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { FakeInspection } from './fake-inspection.ts'
import { view } from './viewer.ts'

const FAST = { lookMs: 20, scanMs: 30, gapMs: 5, retryMs: 20, lingerMs: 20 }

function start(locks: FakeInspection, times: Partial<Times> = {}) {
  const dashboard = createDashboard(
    locks.open,
    { authorize: () => 'read' },
    { times: { ...FAST, ...times } },
  )
  atEnd(() => dashboard.close(), { beforeCheck: true })
  return dashboard
}

test('the dashboard checks nothing while no viewer looks, and stops when the last viewer leaves', async () => {
  const locks = new FakeInspection()
  const dashboard = start(locks)
  await never(() => locks.asked.opened > 0, 60)
  const viewer = await view(dashboard)
  void viewer.follow()
  await eventually(() => locks.asked.scan > 1)
  await viewer.leave()
  await eventually(() => locks.asked.closed === 1)
  const { scan } = locks.asked
  await never(() => locks.asked.scan > scan, 100)
})

test('one poll serves all viewers', async () => {
  const locks = new FakeInspection()
  locks.set('a', { holders: [{}] })
  const dashboard = start(locks, { scanMs: 60_000 })
  const viewers = await Promise.all(Array.from({ length: 5 }, () => view(dashboard)))
  for (const viewer of viewers) void viewer.follow()
  await eventually(() => viewers.every(({ keys }) => keys.length === 1))
  expect(locks.asked).toMatchObject({ opened: 1, scan: 1 })
})

test('the stream sends only changed rows, and the keys of rows that are gone', async () => {
  const locks = new FakeInspection()
  for (let i = 0; i < 2_500; i++) locks.set(`idle:${i}`)
  locks.set('a', { holders: [{}] })
  locks.set('b', { holders: [{ owner: 'x:1' }] })
  const viewer = await view(start(locks))
  void viewer.follow()
  await eventually(() => viewer.keys.length === 2_502)
  const before = viewer.messages.length
  locks.set('b')
  locks.locks.delete('idle:7')
  await eventually(() => viewer.keys.length === 2_501)
  const later = viewer.messages.slice(before)
  expect(later.flatMap(({ rows }) => rows.map(({ key, state }) => [key, state]))).toEqual([
    ['b', 'free'],
  ])
  expect(later.flatMap(({ gone }) => gone)).toEqual(['idle:7'])
})

test('a lock that does not change is not sent again, although its age grows', async () => {
  const locks = new FakeInspection()
  locks.set('a', { holders: [{}], waiting: 2, oldestWaitMs: 10 })
  const viewer = await view(start(locks))
  void viewer.follow()
  await eventually(() => locks.asked.look > 10)
  expect(viewer.messages.flatMap(({ rows }) => rows)).toHaveLength(1)
})

test('a viewer that comes back receives only the changes that it missed', async () => {
  const locks = new FakeInspection()
  for (let i = 0; i < 50; i++) locks.set(`lock:${i}`, { holders: [{}] })
  const dashboard = start(locks)
  const first = await view(dashboard)
  void first.follow()
  const other = await view(dashboard) // keeps the poll alive
  void other.follow()
  await eventually(() => first.keys.length === 50 && first.messages.at(-1)?.status.state === 'live')
  await first.leave()
  const { id } = first.messages.at(-1) as { id: string }
  locks.set('lock:3')
  locks.locks.delete('lock:4')
  await eventually(() => other.keys.length === 49)
  const again = await view(dashboard, id)
  void again.follow()
  await eventuallyPasses(() => {
    expect(again.messages.flatMap(({ rows }) => rows.map(({ key }) => key))).toEqual(['lock:3'])
    expect(again.messages.flatMap(({ gone }) => gone)).toEqual(['lock:4'])
  })
  expect(again.messages.some(({ isAll }) => isAll)).toBe(false)
})

test('a viewer with the id of another process, or with an invalid id, receives all rows', async () => {
  const locks = new FakeInspection()
  locks.set('a', { holders: [{}] })
  const dashboard = start(locks)
  for (const id of ['0123456789ab.7', 'nonsense', '.', '']) {
    const viewer = await view(dashboard, id)
    void viewer.follow()
    await eventually(() => viewer.keys.length === 1)
    expect(viewer.messages[0]?.isAll).toBe(true)
  }
})

test('a viewer that does not read receives the last state in one message', async () => {
  const locks = new FakeInspection()
  locks.set('a')
  const dashboard = start(locks)
  const slow = await view(dashboard)
  const quick = await view(dashboard)
  void quick.follow()
  await eventually(() => quick.keys.length === 1)
  for (let i = 0; i < 20; i++) {
    const token = 1_000 + i
    locks.set('a', { holders: [{ owner: `x:${i}` }], token })
    await eventually(() => JSON.stringify(quick.messages.at(-1)).includes(`x:${i}"`))
  }
  await slow.next() // the delay after which the viewer comes again
  await slow.next()
  expect(slow.messages.flatMap(({ rows }) => rows)).toMatchObject([{ key: 'a', token: 1_019 }])
})

test('a stream ends after its time', async () => {
  const viewer = await view(start(new FakeInspection(), { streamMs: 80 }))
  await viewer.follow()
  expect(viewer.isOver).toBe(true)
})

test('a quiet stream sends comments', async () => {
  const viewer = await view(start(new FakeInspection(), { commentMs: 20, scanMs: 60_000 }))
  void viewer.follow()
  await eventually(() => viewer.comments > 2)
})

test('the stream reports an outage with its reason, and the end of the outage', async () => {
  const locks = new FakeInspection()
  locks.outage = 'connect ECONNREFUSED 10.0.0.5:6379'
  const viewer = await view(start(locks))
  void viewer.follow()
  await eventually(() => viewer.messages.at(-1)?.status.state === 'unreachable')
  expect(viewer.messages.at(-1)?.status.error).toContain('ECONNREFUSED')
  locks.outage = undefined
  locks.set('a', { holders: [{}] })
  await eventually(() => viewer.messages.at(-1)?.status.state === 'live')
  expect(viewer.keys).toEqual(['a'])
  locks.outage = 'gone again'
  await eventually(() => viewer.messages.at(-1)?.status.error === 'gone again')
  expect(viewer.keys).toEqual(['a'])
})

test('close() ends the stream', async () => {
  const dashboard = start(new FakeInspection())
  const viewer = await view(dashboard)
  const over = viewer.follow()
  await eventually(() => viewer.messages.length > 0)
  await dashboard.close()
  await over
})
