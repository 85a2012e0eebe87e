import type { KindView } from './kind.ts'

export const election: KindView<'election'> = {
  kind: 'election',
  leaks: true,
  hasLabels: true,
  // The leader holds a fair lock, which tools show as a lock.
  holdOf: () => 'lock',
  // Candidates wait for as long as another candidate leads.
  countsWaiters: false,
  stateOf: ({ holders }) =>
    holders.length === 0
      ? { state: 'free', stateText: 'no leader' }
      : { state: 'held', stateText: 'leader' },
  page: {
    holder: ['Leader', 'Leaders'],
    heldFor: 'leads for ',
    waiting: 'Candidates',
    what: 'leadership',
    stateClass: 'election',
  },
}
