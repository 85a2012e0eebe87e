import type { WaitingClient } from '../../src/index.ts'
import { type BareWaiter, holderOf } from './concluded.ts'
import type { KindView } from './kind.ts'
import { ALL_LOCKS } from './lock.ts'
import { sideOf } from './sides.ts'

export const readWrite: KindView<'read-write'> = {
  kind: 'read-write',
  inErrors: 'a read-write lock',
  async read(client, name) {
    const found = await client.getReadWriteLock(name).inspect()
    const { mode, holders, waitingToRead, waitingToWrite } = found
    const queue = [
      ...waitingToWrite.map((one) => waiterTo(one, 'write')),
      ...waitingToRead.map((one) => waiterTo(one, 'read')),
    ]
    if (holders.length + queue.length === 0) return null
    return {
      holders: holders.map((one) => holderOf(one.owner, one.holdCount, one.ttlMs, one.ageMs)),
      queue,
      mode: mode ?? undefined,
    }
  },
  leaks: true,
  holds: {
    read: { endedBy: ['lock', 'write'], sharesToken: true },
    write: { endedBy: ALL_LOCKS, isExclusive: true },
    upgradable: { endedBy: ['lock', 'write', 'upgradable'] },
  },
  holdOf: sideOf,
  stateOf({ holders, mode }) {
    if (holders.length === 0) return { state: 'free', stateText: 'free' }
    if (mode === 'write') return { state: 'write', stateText: 'write' }
    return { state: 'read', stateText: holders.length === 1 ? 'read' : `read by ${holders.length}` }
  },
}

function waiterTo({ client, waitedMs }: WaitingClient, wants: 'read' | 'write'): BareWaiter {
  return { owner: client, waitedMs, isDead: false, wants }
}
