import type { KindView } from './kind.ts'
import { fairRights, takeLock } from './lock.ts'

/** Elections. The leader holds a fair lock, so the keys are the keys of a fair lock. */
export const election: KindView<'election'> = {
  kind: 'election',
  named: [],
  expiring: [],
  leaks: true,
  questions: () => ({}),
  stateOf: ({ holders }) =>
    holders.length === 0
      ? { state: 'free', stateText: 'no leader' }
      : { state: 'held', stateText: 'leader' },
  force: takeLock,
  rights(names) {
    const { commands, patterns } = fairRights(names)
    const channels = [names.channel('holdfast_election')]
    return { kind: 'leader election', commands, patterns: [...patterns, ...channels] }
  },
}
