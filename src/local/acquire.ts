import { acquireTrace, isTraced } from '../diagnostics.ts'
import type { Lease } from '../lease/lease.ts'
import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'
import type { LockKind } from './lock-kind.ts'
import { reenter } from './reenter.ts'
import { isOver, traceAcquire } from './tracing.ts'
import { whenReady } from './when-ready.ts'

/**
 * Returns the lease, or null if the waiter did not acquire the lock within `waitMs`. Rejects if the
 * waiter fails or the call is aborted.
 */
export function acquire(
  lock: LocalLock,
  kind: LockKind,
  request: AcquireRequest,
): Promise<Lease | null> {
  if (!isTraced(acquireTrace)) return enter(lock, kind, request).promise
  return traceAcquire(lock, request, () => enter(lock, kind, request))
}

function enter(lock: LocalLock, kind: LockKind, request: AcquireRequest): Waiter {
  const waiter = kind.newWaiter(lock, request)
  lock.waiters.enter(waiter)
  if (request.fact !== undefined && isOver(lock, waiter)) return waiter
  const ready = request.watched ? lock.services.watchdog.readyFor(kind) : undefined
  if (ready === undefined) start(lock, waiter)
  else void whenReady(ready, lock, waiter, () => start(lock, waiter))
  return waiter
}

function start(lock: LocalLock, waiter: Waiter): void {
  const { owner, kind } = waiter.request
  const hold = lock.holds.of(owner, kind)
  if (hold !== undefined) reenter(lock, hold, waiter)
  else waiter.start()
}
