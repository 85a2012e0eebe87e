import type { BareDetail } from './conclude.ts'
import { clientOf } from './key-names.ts'
import type { KnownClients } from './known-clients.ts'
import type { LockDetail, LockRow, WaiterRow } from './rows.ts'

/**
 * If a waiting client has not reported itself for this time, in milliseconds, its waiter counts as
 * dead.
 */
const REPORTS_MS = 60_000

/**
 * Adds the processes of the holders and waiters. Also adds the waiters of a plain lock, which only
 * clients report.
 */
export function withProcesses(bare: BareDetail, clients: KnownClients): LockDetail {
  const queue = bare.queue.map((one) => ({ ...one, process: clients.of(clientOf(one.owner)) }))
  const listed = new Set(queue.map(({ owner }) => clientOf(owner)))
  const others = clients.waitersFor(bare.key).flatMap(({ client, waitedMs }): WaiterRow[] => {
    if (listed.has(client)) return []
    const process = clients.of(client)
    const isDead = (process?.seenMs ?? 0) > REPORTS_MS
    return [{ owner: client, process, waitedMs, isDead, wants: null }]
  })
  const waits = others.flatMap(({ isDead, waitedMs }) => (isDead ? [] : (waitedMs ?? [])))
  const oldest = [bare.oldestWaitMs ?? [], waits].flat()
  return {
    ...bare,
    holders: bare.holders.map((one) => ({ ...one, process: clients.of(clientOf(one.owner)) })),
    queue: [...queue, ...others],
    oldestWaitMs: bare.waiting === 0 || oldest.length === 0 ? null : Math.max(...oldest),
    votes: null,
  }
}

/** Returns the row of a detail, without its waiters and votes. */
export function rowIn({ queue: _queue, votes: _votes, ...row }: LockDetail): LockRow {
  return row
}
