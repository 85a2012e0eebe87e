import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { ReleaseObservation } from '../lock-observer.ts'
import type { HandOverAnswer } from '../servers/answers.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { RESERVE } from './hand-over-budget.ts'
import type { KindVerbs } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'
import { passedOn } from './passed-on.ts'
import { abandonIfInDoubt, FreeRequest, LowerRequest } from './release-request.ts'
import { abandonId, ownerIdOf, type RequestOutcome, WaiterRequest } from './request.ts'

/**
 * Releases one acquisition of the hold.
 *
 * @param renewMs the lease that the watchdog renews for this acquisition, in milliseconds; 0 if the
 *   lease is fixed
 * @returns true if the owner still held the lock; rejects if the server did not confirm the release
 */
export function releaseOne(lock: LocalLock, hold: Hold, renewMs: number): Promise<boolean> {
  hold.loseIfExpired()
  hold.count -= 1
  if (!hold.live) {
    if (hold.count === 0) lock.abandonHold(hold)
    return Promise.resolve(false)
  }
  // The last release needs no `unwatch`, because `endHold` removes the hold from the watchdog.
  if (hold.count <= 0) return releaseLast(lock, hold)
  if (renewMs > 0) lock.holds.unwatch(hold, renewMs)
  return new LowerRequest(lock, hold).start()
}

/**
 * Ends the hold in this client. Then hands the lock over to a waiter of this client, or frees the
 * lock.
 *
 * @returns true if the owner still held the lock; rejects if the server did not confirm the release
 */
function releaseLast(lock: LocalLock, hold: Hold): Promise<boolean> {
  lock.holds.endHold(hold, undefined)
  return sendRelease(lock, hold)
}

/**
 * Hands over or frees the lock of a hold that has ended in this client.
 *
 * @param reason set if the client closes, so that no waiter may get the lock
 */
export function sendRelease(lock: LocalLock, hold: Hold, reason?: ClosedError): Promise<boolean> {
  const observation = lock.services.observer.releasing(hold)
  const released = letGo(lock, hold, reason, observation)
  observation.started()
  return released
}

function letGo(
  lock: LocalLock,
  hold: Hold,
  reason: ClosedError | undefined,
  observation: ReleaseObservation,
): Promise<boolean> {
  const { handOverBudget } = lock
  if (reason === undefined && lock.kept?.keepAfter(hold)) {
    return endedHere(lock, hold, 'kept', observation)
  }
  const inRun = reason === undefined ? lock.queuedWaiters?.passOn(hold) : undefined
  if (inRun) return passed(lock, hold, inRun.following, inRun.waiter, observation)
  const next = reason === undefined ? nextAfter(lock, hold) : undefined
  const staysAway = lock.kept?.staysAway ?? 'never'
  // If the waiter is not asleep, it is about to send its own request. At most one hand-over request
  // may be in flight.
  if (!next?.wakeEvent.isAwaited || lock.isHandingOver)
    return new FreeRequest(lock, hold, observation, { staysAway }).start()
  if (handOverBudget.isUnbroken) {
    return new FreeRequest(lock, hold, observation, { staysAway: 'always' }).start()
  }
  const following = handOverBudget.isUsedUp ? null : passedOn(lock, hold, next)
  if (following === null) {
    const work = handOver(lock, hold, next, observation)
    lock.tasks.count(work)
    return work
  }
  return passed(lock, hold, following, next, observation)
}

/** Completes a hand-over without a request. */
function passed(
  lock: LocalLock,
  hold: Hold,
  following: Hold,
  next: Waiter,
  observation: ReleaseObservation,
): Promise<boolean> {
  const result = endedHere(lock, hold, 'local', observation)
  next.accept(following, 'local')
  return result
}

/** Completes a release without a request. */
function endedHere(
  { holds, handOverBudget }: LocalLock,
  hold: Hold,
  outcome: 'local' | 'kept',
  observation: ReleaseObservation,
): Promise<boolean> {
  handOverBudget.released(0)
  holds.handleRelease(hold, true)
  observation.ended(outcome)
  return Promise.resolve(true)
}

/** Returns the first waiter if a hand-over may give it the lock; otherwise undefined. */
function nextAfter(lock: LocalLock, hold: Hold): Waiter | undefined {
  const { first } = lock.waiters
  if (first === undefined || first.request.kind !== hold.kind || !lock.holds.isEmpty) {
    return undefined
  }
  // If replicas must confirm grants, the next waiter must send its own request.
  if (lock.services.server.confirm !== undefined) return undefined
  return lock.remoteOf(hold).handOver === undefined ? undefined : first
}

/**
 * Sends one request that hands the lock over to the waiter. If the turn of this client has ended,
 * the server may free the lock instead. The waiter may settle before the answer arrives.
 */
function handOver(
  lock: LocalLock,
  hold: Hold,
  next: Waiter,
  observation: ReleaseObservation,
): Promise<boolean> {
  const { handOverBudget, queuedWaiters } = lock
  const remote = lock.remoteOf(next.request) as Required<KindVerbs>
  // If waiters of this client are in the server's queue, the server chooses the next holder.
  const ifUsedUp = queuedWaiters?.isEmpty === false ? 'always' : 'forOthers'
  const mayFree = handOverBudget.isUsedUp ? ifUsedUp : 'never'
  const { listens } = lock
  const { callMs } = lock.newBudget(hold.kind)
  const from = { owner: hold.id.ownerId, token: hold.lastToken }
  const to = { owner: ownerIdOf(next), leaseMs: next.request.leaseMs }
  lock.isHandingOver = true
  return new Promise((resolve) => {
    const handle = (asked: RequestOutcome<HandOverAnswer>) => {
      lock.isHandingOver = false
      resolve(handedOver(lock, hold, next, asked, observation))
    }
    const asking = new WaiterRequest(lock, next, callMs, handle)
    remote.handOver({ from, to, mayFree, listens, reserve: RESERVE, callMs }, asking)
  })
}

/**
 * @returns true if the owner still held the lock; rejects if the server did not confirm the release
 */
function handedOver(
  lock: LocalLock,
  hold: Hold,
  next: Waiter,
  { grant, sentAt, unknown }: RequestOutcome<HandOverAnswer>,
  observation: ReleaseObservation,
): boolean | Promise<boolean> {
  const { holds, handOverBudget } = lock
  // The hand-over failed, or its outcome is unknown. So the client sends a separate release, and
  // the waiter a separate request. Both are safe even if the hand-over has happened.
  if (grant === null) {
    if (next.settled) abandonId(lock, next)
    next.wakeEvent.set()
    const mayBeDoneAt = unknown ? sentAt.monotonic : undefined
    return new FreeRequest(lock, hold, observation, { mayBeDoneAt }).start()
  }
  handOverBudget.released(grant.kind === 'yielded' ? grant.others : 0)
  if (grant.kind === 'yielded') handOverBudget.letGo()
  const wasHeld = holds.handleRelease(hold, grant.kind !== 'gone')
  const outcomes = { gone: 'gone', yielded: 'freed', granted: 'local' } as const
  observation.ended(outcomes[grant.kind])
  if (wasHeld) abandonIfInDoubt(lock, hold, sentAt.monotonic)
  if (grant.kind === 'granted') {
    const following = holds.newHold(next, grant, sentAt)
    if (following !== null) next.accept(following, 'local')
  }
  if (next.settled) abandonId(lock, next)
  lock.checkAgain()
  return wasHeld
}
