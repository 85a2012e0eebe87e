import type { KindView } from './kind.ts'
import { CLAIM_MS, COUNTER_MS, derived, HASHES, leasesOf, queueOf, SETS } from './names.ts'

export const readWrite: KindView<'read-write'> = {
  kind: 'read-write',
  named: ['holdfast_readers', 'holdfast_writers'],
  expiring: ['holdfast_readers', 'holdfast_writers', 'holdfast_alive', 'holdfast_phase'],
  leaks: true,
  questions: ({ key, type }) =>
    type === 'hash' || type === 'none'
      ? {
          writers: queueOf('holdfast_writers', key),
          reading: queueOf('holdfast_readers', key),
          alive: ['HGETALL', derived('holdfast_alive', key)],
        }
      : {},
  stateOf({ holders, mode }) {
    if (holders.length === 0) return { state: 'free', stateText: 'free' }
    if (mode === 'write') return { state: 'write', stateText: 'write' }
    return { state: 'read', stateText: holders.length === 1 ? 'read' : `read by ${holders.length}` }
  },
  force({ key, owner, token, floor, publish }) {
    const named = (...prefixes: string[]) => prefixes.map((prefix) => derived(prefix, key))
    const queues = named('holdfast_readers', 'holdfast_writers', 'holdfast_alive', 'holdfast_phase')
    return {
      script: 'takeReadWrite',
      keys: [key, ...named('redisson_lock_token'), ...queues],
      args: [
        ...[owner, token ?? '', floor, COUNTER_MS, CLAIM_MS],
        ...[leasesOf(key), ...named('redisson_rwlock'), publish],
      ],
    }
  },
  rights: ({ lock, keyPrefix, own, channel }) => ({
    kind: 'read-write lock',
    commands: [['EXISTS', lock], ...HASHES(lock), ...SETS(lock)],
    patterns: [
      `~{${keyPrefix}*`,
      ...own('holdfast_readers', 'holdfast_writers', 'holdfast_alive', 'holdfast_phase'),
      channel('redisson_rwlock'),
    ],
  }),
}
