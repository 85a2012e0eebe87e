import { unavailableError } from '../errors.ts'
import { type AcquisitionObservation, UNOBSERVED } from '../lock-observer.ts'
import { type AcquireRequest, keepMsOf, type Waiter } from '../waiting/waiter.ts'
import { KeptLock } from './kept-lock.ts'
import type { LocalLock } from './local-lock.ts'
import type { LockKind } from './lock-kind.ts'
import { reenter } from './reenter.ts'

const NOT_STARTED = 'the watchdog thread had not been started yet'

/**
 * Returns the lease or the permits, or null if the waiter did not acquire them within `waitMs`. Rejects if the
 * waiter fails or the call is aborted.
 *
 * @param observed the observation of this call if it has started; otherwise undefined
 */
export function acquire<Result, Request extends AcquireRequest>(
  lock: LocalLock,
  kind: LockKind<Result, Request>,
  request: Request,
  observed?: AcquisitionObservation,
): Promise<Result | null> {
  // Without an observer, the call creates no closure and adds no functions to the stack.
  const observation = observed ?? lock.services.observer.acquiring(lock.name, request)
  if (observed === undefined && observation !== UNOBSERVED) {
    return observation.start(() => acquire(lock, kind, request, observation))
  }
  const waiter = kind.newWaiter(lock, request)
  waiter.observation = observation
  lock.waiters.enter(waiter)
  if (observed !== undefined && isOver(lock, waiter)) return waiter.promise
  const ready = request.lease?.watched ? lock.services.watchdog.readyFor(kind) : undefined
  if (ready === undefined) start(lock, waiter)
  else void startWhenReady(ready, lock, waiter)
  return waiter.promise
}

/**
 * Rejects the waiter if the observer has closed the client, or has aborted the call before the
 * waiter listened to the signal. Returns true if the waiter has settled.
 */
function isOver({ closed }: LocalLock, waiter: Waiter): boolean {
  const { signal } = waiter.request
  if (signal?.aborted) waiter.reject(signal.reason)
  else if (closed !== undefined) waiter.reject(closed)
  return waiter.settled
}

/**
 * Begins the acquisition when the watchdog thread is ready. Before that, the thread could not renew
 * the lease.
 */
async function startWhenReady(
  ready: Promise<void>,
  lock: LocalLock,
  waiter: Waiter,
): Promise<void> {
  const { words } = waiter.request.kind
  lock.tasks.started()
  // If the wait times out now, the error names no holder, because no request was sent yet.
  waiter.notYet = (what) =>
    unavailableError(
      lock.name,
      what,
      NOT_STARTED,
      'Its start takes a moment: wait for longer.',
      undefined,
      words,
    )
  try {
    await ready
    waiter.notYet = undefined
    if (!waiter.settled) start(lock, waiter)
  } catch (error) {
    waiter.reject(error)
  }
  lock.tasks.finished()
}

function start(lock: LocalLock, waiter: Waiter): void {
  const { owner, kind } = waiter.request
  const hold = lock.holds.of(owner, kind)
  if (hold !== undefined) reenter(lock, hold, waiter)
  else if (lock.kept === undefined && keepMsOf(waiter.request) === 0) waiter.start()
  else startWithKept(lock, waiter)
}

/** Passes a kept lock to the waiter. If the waiter cannot have the kept hold, frees the lock and starts the waiter. */
function startWithKept(lock: LocalLock, waiter: Waiter): void {
  lock.kept ??= new KeptLock(lock)
  const kept = lock.kept
  if (keepMsOf(waiter.request) > 0) lock.services.revocations.startListening()
  const hold = kept.passTo(waiter)
  if (hold !== undefined) waiter.accept(hold, 'kept')
  else if (kept.owner === undefined) waiter.start()
  else if (lock.services.server.whyDown === undefined) {
    void startWhenFreed(kept.free(), lock, waiter)
  } else {
    // During an outage, the waiter does not wait for the release. The waiter itself waits for the end of the outage.
    void kept.free()
    waiter.start()
  }
}

async function startWhenFreed(
  freed: Promise<unknown>,
  lock: LocalLock,
  waiter: Waiter,
): Promise<void> {
  lock.tasks.started()
  await freed
  try {
    if (!waiter.settled) start(lock, waiter)
  } catch (error) {
    waiter.reject(error)
  }
  lock.tasks.finished()
}
