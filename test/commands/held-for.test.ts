import { setTimeout as pause } from 'node:timers/promises'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()

/** The cells of the rows of `list`, by name. */
async function listed(...args: string[]): Promise<Record<string, Record<string, string>>> {
  const { out } = await holdfast(['list', server.url, ...args])
  const [head = [], ...rows] = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  return Object.fromEntries(
    rows.map((row) => [row[0], Object.fromEntries(row.map((cell, n) => [head[n], cell]))]),
  )
}

test('list shows for readers, upgradable locks and permits how long they are held, and by which process', async () => {
  const client = newClient({ label: 'api-7' })
  await client.getReadWriteLock('read').readLock().lock()
  await client.getReadWriteLock('up').upgradableLock().lock()
  await client.getReadWriteLock('written').writeLock().lock()
  await client.getPermitExpirableSemaphore('permits', { permits: 3 }).acquire({ permits: 2 })
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  await pause(1_100)
  const rows = await listed()
  expect(Object.keys(rows).sort()).toEqual(['permits', 'read', 'up', 'written'])
  for (const name of ['read', 'up', 'permits', 'written']) {
    expect([name, rows[name]?.['HELD FOR']]).toEqual([name, expect.stringMatching(/^\d s$/)])
    expect([name, rows[name]?.HOLDER]).toEqual([name, 'api-7'])
  }
  expect(rows.permits?.STATE).toBe('2 of 3 taken')
  const { out } = await holdfast(['inspect', 'read', server.url, '--look-ms=0'])
  expect(out).toMatch(/api-7 .* 1 +\d s +\d\d s /)
})

test('list shows names that are held or waited for, and --all adds free locks and unused semaphores', async () => {
  const client = newClient()
  await client.getSemaphore('plain').trySetPermits(2)
  await client.getPermitExpirableSemaphore('unused').setPermits(3)
  await client.getCountDownLatch('closed').trySetCount(2)
  await (await client.getLock('free').lock()).release()
  // Redisson sets a semaphore or a latch like this, because it does not store the kind.
  await server.admin.set('of-java', 4)
  const taken = client.getSemaphore('taken')
  await taken.trySetPermits(1)
  await taken.acquire()
  expect(Object.keys(await listed()).sort()).toEqual(['closed', 'taken'])
  const all = await listed('--all')
  const states = Object.fromEntries(Object.entries(all).map(([name, row]) => [name, row.STATE]))
  expect(states).toEqual({
    closed: 'closed, 2 to go',
    free: 'free',
    plain: '2 available',
    taken: 'none available',
    unused: '0 of 3 taken',
  })
})
