import type { KindView, StateFacts } from './kind.ts'

/** Plain locks and fair locks. */
export const lock: KindView<'lock'> = {
  kind: 'lock',
  leaks: true,
  reusesOwners: true,
  hidesWaiters: true,
  stateOf: ({ holders }: StateFacts) =>
    holders.length === 0
      ? { state: 'free', stateText: 'free' }
      : { state: 'held', stateText: 'held' },
}
