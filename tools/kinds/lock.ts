import type { KindView, StateFacts } from './kind.ts'

/**
 * The kinds of holds of locks and read-write locks. An exclusive hold excludes holds of all these
 * kinds by other owners.
 */
export const ALL_LOCKS = ['lock', 'read', 'write', 'upgradable'] as const

/** Plain locks and fair locks. */
export const lock: KindView<'lock'> = {
  kind: 'lock',
  leaks: true,
  reusesOwners: true,
  hidesWaiters: true,
  holds: {
    lock: { endedBy: ALL_LOCKS, isExclusive: true },
    fair: { endedBy: ALL_LOCKS, isExclusive: true, shownAs: 'lock' },
  },
  stateOf: ({ holders }: StateFacts) =>
    holders.length === 0
      ? { state: 'free', stateText: 'free' }
      : { state: 'held', stateText: 'held' },
}
