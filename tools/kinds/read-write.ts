import type { KindView } from './kind.ts'

export const readWrite: KindView<'read-write'> = {
  kind: 'read-write',
  leaks: true,
  stateOf({ holders, mode }) {
    if (holders.length === 0) return { state: 'free', stateText: 'free' }
    if (mode === 'write') return { state: 'write', stateText: 'write' }
    return { state: 'read', stateText: holders.length === 1 ? 'read' : `read by ${holders.length}` }
  },
}
