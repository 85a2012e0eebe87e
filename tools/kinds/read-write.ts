import type { KindView } from './kind.ts'
import { ALL_LOCKS } from './lock.ts'
import { sideOf } from './sides.ts'

export const readWrite: KindView<'read-write'> = {
  kind: 'read-write',
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
