import type { Hold } from '../lease/hold.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { CutOffHold, Holdings, WaitingEntry } from './holdings.ts'

interface ListedLock {
  readonly name: string
  readonly holds: { readonly all: readonly Hold[]; readonly exclusive: Hold | undefined }
  readonly waiters: { readonly all: readonly Waiter[]; readonly size: number }
  readonly sight: Waiter['sight']
}

export function countsOf(locks: Iterable<ListedLock>): { held: number; waiting: number } {
  const counts = { held: 0, waiting: 0 }
  for (const { holds, waiters } of locks) {
    counts.held += holds.all.length
    counts.waiting += waiters.size
  }
  return counts
}

/**
 * Lists the holds and the waiters of these locks.
 *
 * @param now the time on the monotonic clock, in milliseconds
 */
export function holdingsOf(locks: readonly ListedLock[], now: number): Holdings {
  const held = locks.flatMap(({ holds }) => holds.all.map((hold) => heldEntry(hold, now)))
  return {
    // A hold whose lease has expired is lost, even if the client has not noticed the loss yet.
    held: held.filter(({ remainingMs }) => remainingMs !== 0),
    waiting: locks.flatMap((lock) => lock.waiters.all.map((waiter) => waitingEntry(lock, waiter))),
  }
}

export function heldEntry(hold: Hold, now: number): CutOffHold {
  const { lockName: name, id, token, count: holdCount, beganAt } = hold
  return {
    name,
    ...kindAndMore(hold),
    owner: id.ownerId,
    token,
    holdCount,
    heldMs: Math.max(0, Math.round(now - beganAt)),
    remainingMs: Math.floor(hold.remainingMs()),
  }
}

function waitingEntry(lock: ListedLock, waiter: Waiter): WaitingEntry {
  const { request, ownerId = null, waitedMs, isSingleAttempt } = waiter
  const own = lock.holds.exclusive?.id.ownerId
  return {
    name: lock.name,
    ...kindAndMore(request),
    owner: ownerId,
    waitedMs: Math.round(waitedMs),
    waitMs: isSingleAttempt ? 0 : finite(request.waitMs),
    holder: own ?? ((waiter.sight ?? lock.sight)?.holder || null),
  }
}

/** Converts Infinity to null, because JSON has no Infinity. */
export function finite(ms: number): number | null {
  return ms === Infinity ? null : ms
}

/** Merges the lists of several servers. The longest times come first. */
export function together(all: readonly Holdings[]): Holdings {
  return {
    held: all.flatMap(({ held }) => held).sort((a, b) => b.heldMs - a.heldMs),
    waiting: all.flatMap(({ waiting }) => waiting).sort((a, b) => b.waitedMs - a.waitedMs),
  }
}

/** Returns the kind, and for some kinds the number of permits or the label of the candidate. */
function kindAndMore({ kind, owner }: Pick<Hold, 'kind' | 'owner'>) {
  const { name, permits } = kind
  if (owner.label !== undefined) return { kind: 'election', label: owner.label } as const
  return permits === undefined ? { kind: name } : { kind: name, permits }
}
