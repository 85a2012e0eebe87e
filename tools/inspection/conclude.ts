import { type RowKind, viewOf } from '../kinds/all.ts'
import type { BareHolder, BareWaiter, Concluded } from '../kinds/concluded.ts'
import type { LockDetail, ProcessFacts, WaiterRow } from './inspection.ts'
import { clientOf, mayBeKept } from './owner-ids.ts'

/**
 * A waiter without a place counts as dead if its client has not reported itself for this time, in
 * milliseconds.
 */
const REPORTS_MS = 60_000

/** The state of a lock that a client keeps without use. */
const KEPT = 'kept, not in use'

/** One lock, without the processes of its holders and waiters. */
export type BareDetail = Omit<LockDetail, 'holders' | 'queue'> & {
  readonly holders: readonly BareHolder[]
  readonly queue: readonly BareWaiter[]
}

/** @param token the last token of the lock; null if the server has no token */
export function newDetail(
  key: string,
  kind: RowKind,
  token: number | null,
  concluded: Concluded,
): BareDetail {
  const { holders = [], queue = [], unread = 0, listeners = 0 } = concluded
  const { mode, count = null, isSet = true, job } = concluded
  const alive = queue.filter(({ isDead }) => !isDead)
  return {
    key,
    kind,
    ...viewOf(kind).stateOf({ holders, mode, count, isSet, job }),
    holders,
    token,
    waiting: Math.max(alive.length + unread, listeners),
    oldestWaitMs: longestOf(alive),
    count,
    ...(job && { job }),
    queue,
    votes: null,
  }
}

/**
 * Adds the processes of the holders and waiters. Also adds waiters without a place, such as the
 * waiters of a plain lock.
 *
 * @param processOf returns the process of a client; null if the process is unknown
 * @param reported the clients that report a wait for this lock, and how long they have waited
 * @param keptMsOf returns for how long a client has kept this lock without use, in milliseconds;
 * undefined if the client does not keep the lock
 */
export function withProcesses(
  detail: BareDetail,
  processOf: (client: string) => ProcessFacts | null,
  reported: readonly { readonly client: string; readonly waitedMs: number }[],
  keptMsOf: (client: string) => number | undefined,
): LockDetail {
  const named = <T extends { readonly owner: string }>(one: T) => {
    return { ...one, process: processOf(clientOf(one.owner)) }
  }
  const queue = detail.queue.map(named)
  const listed = new Set(queue.map(({ owner }) => clientOf(owner)))
  const others = reported
    .filter(({ client }) => !listed.has(client))
    .map(({ client, waitedMs }): WaiterRow => {
      const process = processOf(client)
      const isDead = (process?.seenMs ?? 0) > REPORTS_MS
      return { owner: client, process, waitedMs, isDead, wants: null }
    })
    .sort((a, b) => (b.waitedMs ?? 0) - (a.waitedMs ?? 0))
  const holders = detail.holders.map((one) => {
    const keptMs = mayBeKept(one.owner) ? keptMsOf(clientOf(one.owner)) : undefined
    return { ...named(one), ...(keptMs !== undefined && { keptMs }) }
  })
  const { waiting, oldestWaitMs: waitedMs } = detail
  const alive = others.filter(({ isDead }) => !isDead)
  return {
    ...detail,
    ...(holders.some(({ keptMs }) => keptMs !== undefined) && { stateText: KEPT }),
    holders,
    queue: [...queue, ...others],
    oldestWaitMs: waiting === 0 ? null : longestOf([{ waitedMs }, ...alive]),
  }
}

function longestOf(waiters: readonly Pick<WaiterRow, 'waitedMs'>[]): number | null {
  const waits = waiters.flatMap(({ waitedMs }) => waitedMs ?? [])
  return waits.length === 0 ? null : Math.max(...waits)
}
