import { holderOf } from './concluded.ts'
import type { KindView, StateFacts } from './kind.ts'

/**
 * The kinds of holds of locks and read-write locks. An exclusive hold excludes holds of all these
 * kinds by other owners.
 */
export const ALL_LOCKS = ['lock', 'read', 'write', 'upgradable'] as const

/** Plain locks and fair locks. Its `read` also reads elections. */
export const lock: KindView<'lock'> = {
  kind: 'lock',
  inErrors: 'a lock',
  async read(client, name) {
    const found = await client.getLock(name).inspect()
    const { holder, holdCount, ttlMs, token, ageMs, waiters, queueLength } = found
    if (holder === null && token === null && queueLength === 0) return null
    const queue = found.queue.map(({ owner, process, waitedMs }) => {
      return { owner, waitedMs, isDead: process === null, wants: null }
    })
    return {
      holders: holder === null ? [] : [holderOf(holder, holdCount, ttlMs, ageMs)],
      queue,
      unread: queueLength - queue.length,
      listeners: waiters,
    }
  },
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
