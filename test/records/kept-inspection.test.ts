import { Holdfast } from '../../src/index.ts'
import { newMemoryClient } from '../../src/memory-client.ts'
import { MemoryRecordStore } from '../../src/servers/memory/memory-record-store.ts'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import type { Inspection } from '../../tools/inspection/inspection.ts'
import { RecordInspection } from '../../tools/inspection/records/record-inspection.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const redis = sharedServer()

const closed = <T extends { close(): Promise<unknown> }>(one: T): T => {
  atEnd(() => one.close(), { beforeCheck: true })
  return one
}

const worlds: [string, () => { newClient(): Holdfast; newInspection(): Inspection }][] = [
  [
    'memory',
    () => {
      const server = new MemoryLockServer()
      return {
        newClient: () => closed(newMemoryClient(server, { keepMs: 60_000 })),
        newInspection: () =>
          closed(new RecordInspection(() => new MemoryRecordStore(server), 'memory')),
      }
    },
  ],
  [
    'Redis',
    () => ({
      newClient: () => closed(new Holdfast({ redis: redis.url, keepMs: 60_000 })),
      newInspection: () => closed(openInspection(readWhere({}, [redis.url], {}))),
    }),
  ],
]

test.each(worlds)(
  'the inspection shows a lock in %s that its client keeps, and no longer when a call holds it',
  async (_, start) => {
    const { newClient, newInspection } = start()
    const client = newClient()
    const lock = client.getLock('it')
    const inUse = await lock.lock()
    const before = await newInspection().inspect('it')
    expect(before?.stateText).toBe('held')
    expect(before?.holders[0]?.keptMs).toBeUndefined()
    await inUse.release()
    await eventually(async () => {
      await (await lock.lock()).release()
      return lock.isLocked()
    })
    const detail = await eventually(async () => {
      // An inspection caches the reports of clients for some seconds, so each check uses a new inspection.
      const seen = await newInspection().inspect('it')
      return seen?.stateText === 'kept, not in use' && seen
    })
    expect(detail.state).toBe('held')
    expect(detail.holders).toHaveLength(1)
    expect(detail.holders[0]?.keptMs).toBeGreaterThan(900)
    const rows = []
    for await (const some of newInspection().list()) rows.push(...some)
    expect(rows.map(({ key, stateText }) => [key, stateText])).toEqual([['it', 'kept, not in use']])
    const lease = await lock.lock()
    await eventually(async () => (await newInspection().inspect('it'))?.stateText === 'held')
    await lease.release()
  },
)
