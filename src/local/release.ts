import { isTraced, type ReleaseFact, releaseTrace } from '../diagnostics.ts'
import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { HandOverAnswer } from '../servers/answers.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { type Asked, Asking, abandonName, nameOf } from './ask.ts'
import { RESERVE } from './hand-over-budget.ts'
import type { CutOffHold } from './holdings.ts'
import type { KindVerbs } from './kind-verbs.ts'
import { heldEntry } from './list-holdings.ts'
import type { LocalLock } from './local-lock.ts'
import { tellRelease } from './lock-facts.ts'
import { passedOn } from './passed-on.ts'
import { ended, FreeRequest, LowerRequest } from './release-request.ts'
import { traceRelease } from './tracing.ts'

/**
 * Undoes one acquisition of the hold.
 *
 * @param renewMs the lease for which the watchdog kept it; 0 where it did not
 * @returns whether the lock was still held; rejects when that was not confirmed
 */
export function release(lock: LocalLock, hold: Hold, renewMs: number): Promise<boolean> {
  hold.loseIfExpired()
  hold.count -= 1
  if (!hold.live) {
    if (hold.count === 0) lock.abandonHold(hold)
    return Promise.resolve(false)
  }
  // It is untracked at its end, whoever keeps it.
  if (hold.count <= 0) return end(lock, hold)
  if (renewMs > 0) lock.holds.unwatch(hold, renewMs)
  return new LowerRequest(lock, hold).result
}

/**
 * Lets nobody wait any more for these locks and frees what is held, which goes on in the background.
 *
 * @param now on the monotonic clock
 * @param releasing has each hold until the server has confirmed its release
 * @returns what was held; and when all of it is released
 */
export function closeAll(
  locks: readonly LocalLock[],
  reasonOf: (lockName: string) => ClosedError,
  now: number,
  releasing: Set<CutOffHold>,
): { cutOff: CutOffHold[]; released: Promise<unknown> } {
  const closing = locks.map((lock) => ({ lock, held: close(lock, reasonOf(lock.name), now) }))
  const released = closing.map(async ({ lock, held }) => {
    const open = held.map((entry) => ({ ...entry, remainingMs: 0 }))
    for (const entry of open) releasing.add(entry)
    await lock.tasks.quiet()
    for (const entry of open) releasing.delete(entry)
  })
  return { cutOff: closing.flatMap(({ held }) => held), released: Promise.all(released) }
}

function close(lock: LocalLock, reason: ClosedError, now: number): CutOffHold[] {
  const held = lock.holds.all.map((hold) => ({ hold, entry: heldEntry(hold, now) }))
  lock.closed = reason
  lock.waiters.rejectAll(reason)
  return held.flatMap(({ hold, entry }) => {
    hold.loseIfExpired()
    // Whoever hears of the end of one may have released the next.
    if (!hold.live) return []
    hold.count = 0
    lock.tasks.run(end(lock, hold, reason))
    return [entry]
  })
}

/**
 * Ends the hold: the lock is passed on inside the client without a word to the server, handed over
 * inside the client in one step, or freed.
 *
 * @param reason why nobody here is to have the lock next, if so
 * @returns whether the lock was still held; rejects when that was not confirmed
 */
function end(lock: LocalLock, hold: Hold, reason?: ClosedError): Promise<boolean> {
  lock.holds.end(hold, reason)
  if (!isTraced(releaseTrace)) return letGo(lock, hold, reason)
  return traceRelease(lock, hold, (fact) => letGo(lock, hold, reason, fact))
}

/** @param fact to be told what becomes of it */
function letGo(
  lock: LocalLock,
  hold: Hold,
  reason: ClosedError | undefined,
  fact?: ReleaseFact,
): Promise<boolean> {
  const { holds, handOverBudget } = lock
  const next = reason === undefined ? nextAfter(lock, hold) : undefined
  // One that is not waiting just now is about to ask by itself. And nobody is given it twice at once.
  if (!next?.wakeEvent.isAwaited || lock.isHandingOver)
    return new FreeRequest(lock, hold, fact).result
  if (handOverBudget.isUnbroken) {
    return new FreeRequest(lock, hold, fact, { staysAway: true }).result
  }
  const following = handOverBudget.isUsedUp ? null : passedOn(lock, hold, next)
  if (following === null) {
    const work = handOver(lock, hold, next, fact)
    lock.tasks.count(work)
    return work
  }
  handOverBudget.released(0)
  holds.left(hold, true)
  tellRelease(fact, 'local')
  next.granted(following, 'local')
  return Promise.resolve(true)
}

/** Who waits here and may be given the lock directly: for the same kind, where that can be handed over. */
function nextAfter(lock: LocalLock, hold: Hold): Waiter | undefined {
  const { first } = lock.waiters
  if (first === undefined || first.request.kind !== hold.kind || !lock.holds.isEmpty) {
    return undefined
  }
  // Whoever is to have it next asks for it, and is confirmed as the first one was.
  if (lock.services.server.confirm !== undefined) return undefined
  return lock.remoteOf(hold).handOver === undefined ? undefined : first
}

/** What is done with the answer is done at once: whoever aborts or closes meanwhile comes before or after. */
function handOver(lock: LocalLock, hold: Hold, next: Waiter, fact?: ReleaseFact): Promise<boolean> {
  const { handOverBudget, queued } = lock
  const remote = lock.remoteOf(next.request) as Required<KindVerbs>
  // Those here who wait in turn listen with the same subscription, but are others.
  const others = queued?.isEmpty === false ? 1 : 0
  const listening = handOverBudget.isUsedUp ? lock.listeners - others : null
  const { callMs } = lock.newBudget(hold.kind)
  const from = { owner: hold.id.wireOwner, token: hold.lastToken }
  const to = { owner: nameOf(next), leaseMs: next.request.leaseMs }
  lock.isHandingOver = true
  return new Promise((resolve) => {
    const heard = (asked: Asked<HandOverAnswer>) => {
      lock.isHandingOver = false
      resolve(handedOver(lock, hold, next, asked, fact))
    }
    const asking = new Asking(lock, next, callMs, heard)
    remote.handOver({ from, to, listening, reserve: RESERVE, callMs }, asking)
  })
}

/** @returns whether the lock was still held; rejects when that was not confirmed */
function handedOver(
  lock: LocalLock,
  hold: Hold,
  next: Waiter,
  { grant, sentAt, unknown }: Asked<HandOverAnswer>,
  fact?: ReleaseFact,
): boolean | Promise<boolean> {
  const { holds, handOverBudget } = lock
  // Nothing is lost by going on one by one: the release and the acquisition are both safe to
  // repeat, and find out how far the hand-over came.
  if (grant === null) {
    if (next.settled) abandonName(lock, next)
    next.wakeEvent.set()
    const mayBeDoneAt = unknown ? sentAt.monotonic : undefined
    return new FreeRequest(lock, hold, fact, { mayBeDoneAt }).result
  }
  handOverBudget.released(grant.kind === 'yielded' ? grant.others : 0)
  if (grant.kind === 'yielded') handOverBudget.letGo()
  const wasHeld = holds.left(hold, grant.kind !== 'gone')
  const outcomes = { gone: 'gone', yielded: 'freed', granted: 'local' } as const
  tellRelease(fact, outcomes[grant.kind])
  if (wasHeld) ended(lock, hold, sentAt.monotonic)
  if (grant.kind === 'granted') {
    const following = holds.granted(next, grant, sentAt)
    if (following !== null) next.granted(following, 'local')
  }
  if (next.settled) abandonName(lock, next)
  lock.lookAgain()
  return wasHeld
}
