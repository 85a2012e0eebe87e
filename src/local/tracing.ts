import { type AcquireFact, acquireTrace, type ReleaseFact, releaseTrace } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import { NO_LEASE_MS } from '../lease/validity.ts'
import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'
import { type FactLock, factOf } from './lock-facts.ts'

/**
 * Publishes the start of an acquisition. The waiter publishes the end when it settles.
 *
 * @param start starts the acquisition
 */
export function traceAcquire(
  lock: FactLock,
  request: AcquireRequest,
  start: () => Waiter,
): Promise<Lease | null> {
  const { leaseMs, waitMs, asksOnce } = request
  const fact = factOf<AcquireFact>(lock, request)
  fact.waitMs = asksOnce ? 0 : waitMs
  fact.leaseMs = leaseMs === NO_LEASE_MS ? Infinity : leaseMs
  request.fact = fact
  return acquireTrace.start.runStores(fact, () => {
    const { promise } = start()
    acquireTrace.end.publish(fact)
    return promise
  })
}

/**
 * True if the call ended before its first request. A listener of the start may have aborted the
 * call before the waiter listened to the signal, or closed the client.
 */
export function isOver({ closed }: Pick<LocalLock, 'closed'>, waiter: Waiter): boolean {
  const { signal } = waiter.request
  if (signal?.aborted) waiter.reject(signal.reason)
  else if (closed !== undefined) waiter.reject(closed)
  return waiter.settled
}

/**
 * Publishes the start of a release.
 *
 * @param send releases the hold, and reports the outcome with `reportRelease`
 */
export function traceRelease(
  lock: FactLock,
  hold: Hold,
  send: (fact: ReleaseFact) => Promise<boolean>,
): Promise<boolean> {
  const fact = factOf<ReleaseFact>(lock, hold)
  fact.owner = hold.id.wireOwner
  fact.token = hold.token
  releaseTrace.start.publish(fact)
  const released = send(fact)
  releaseTrace.end.publish(fact)
  return released
}
