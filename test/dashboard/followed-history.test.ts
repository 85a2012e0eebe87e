import { FollowedHistory } from '../../tools/dashboard/followed-history.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

afterEach(() => server.flush())

function follow(limits?: { mostEntries: number; mostBytes: number }): FollowedHistory {
  const followed = new FollowedHistory({ redis: server.url }, limits)
  atEnd(() => followed.stopFollowing(), { beforeCheck: true })
  return followed
}

async function write(count: number, nameOf: (i: number) => string): Promise<void> {
  const batch = server.admin.pipeline()
  for (let i = 0; i < count; i++) {
    const fields = { event: 'acquired', name: nameOf(i), owner: `c:${i}`, token: i, label: 'api' }
    batch.xadd('holdfast_history', '*', ...Object.entries(fields).flat())
  }
  await batch.exec()
}

async function add(fields: { name: string; agoMs?: string; seq?: string }): Promise<void> {
  const all = { event: 'acquired', owner: `c:${fields.name}`, label: 'api', ...fields }
  await server.admin.xadd('holdfast_history', '*', ...Object.entries(all).flat())
}

test('the history keeps the newest entries up to its limits, even when more entries arrive', async () => {
  await write(200, (i) => `n${i}`)
  const followed = follow({ mostEntries: 100, mostBytes: 1e9 })
  const index = await followed.index()
  expect([index?.size, index?.hasHold('n99', 'c:99')]).toEqual([100, false])
  expect(index?.hasHold('n100', 'c:100')).toBe(true)
  await write(50, (i) => `later${i}`)
  await eventually(async () => (await followed.index())?.hasHold('later49', 'c:49'))
  expect((await followed.index())?.size).toBe(100)
})

test('the history reads entries with long names only up to its limit of bytes', async () => {
  const name = 'x'.repeat(10_000)
  await write(2_000, (i) => `${i}${name}`)
  const mostBytes = 2 * 1024 * 1024
  const index = await follow({ mostEntries: 50_000, mostBytes }).index()
  expect(index?.bytes).toBeLessThanOrEqual(mostBytes)
  expect(index?.size).toBeGreaterThan(50)
  expect(index?.hasHold('', 'c:1999')).toBe(true)
})

test('an entry with an earlier time that is written after the newest entry is kept', async () => {
  await add({ name: 'newest' })
  const followed = follow()
  expect((await followed.index())?.size).toBe(1)
  await add({ name: 'late', agoMs: '60000' })
  await add({ name: 'last' })
  await eventually(async () => (await followed.index())?.hasHold('last', 'c:last'))
  const index = await followed.index()
  expect([index?.size, index?.hasHold('late', 'c:late')]).toEqual([3, true])
})

test('an entry that is written again after it was read counts once', async () => {
  await add({ name: 'twice', seq: 'w-1' })
  const followed = follow()
  expect((await followed.index())?.size).toBe(1)
  await add({ name: 'twice', seq: 'w-1' })
  await add({ name: 'last' })
  await eventually(async () => (await followed.index())?.hasHold('last', 'c:last'))
  expect((await followed.index())?.size).toBe(2)
})

test('a first read that lasts longer than the time without requests is answered', async () => {
  await write(2_000, (i) => `n${i}`)
  const followed = new FollowedHistory({ redis: server.url }, undefined, 1)
  atEnd(() => followed.stopFollowing(), { beforeCheck: true })
  expect((await followed.index())?.size).toBe(2_000)
})

test('the index is null until the first entry is written', async () => {
  const followed = follow()
  expect(await followed.index()).toBeNull()
  await write(1, () => 'a')
  await eventually(async () => (await followed.index())?.size === 1)
})
