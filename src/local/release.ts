import type { ClosedError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import type { NextHolder, Released } from '../servers/answers.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { RetryBudget } from '../waiting/retry-budget.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { abandonName, ask, nameOf } from './ask.ts'
import { RESERVE } from './hand-over-budget.ts'
import type { KindVerbs } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/** Who heard of the end of a hold. */
type Freed = Omit<Extract<Released, { kind: 'freed' }>, 'kind'>

/** A release without an answer. */
interface Failed {
  readonly kind: 'failed'
  /** Whether it may have been done all the same. */
  readonly unknown: boolean
}

/**
 * Undoes one acquisition of the hold.
 *
 * @param watched whether the watchdog kept it
 * @returns whether the lock was still held; rejects when that was not confirmed
 */
export function release(lock: LocalLock, hold: Hold, watched: boolean): Promise<boolean> {
  hold.loseIfExpired()
  hold.count -= 1
  if (!hold.live) {
    if (hold.count === 0) lock.abandonHold(hold)
    return Promise.resolve(false)
  }
  if (watched) lock.holds.unwatch(hold)
  const work = hold.count > 0 ? lower(lock, hold) : end(lock, hold)
  lock.tasks.count(work)
  return work
}

/** Lets nobody wait any more and frees what is held. Resolves when all of it is done. */
export async function close(lock: LocalLock, reason: ClosedError): Promise<void> {
  const held = lock.holds.all
  lock.waiters.rejectAll(reason)
  for (const hold of held) {
    hold.count = 0
    lock.tasks.run(end(lock, hold, reason))
  }
  await lock.tasks.quiet()
}

/**
 * Ends the hold: the lock is passed on inside the client without a word to the server, handed over
 * inside the client in one step, or freed.
 *
 * @param reason why nobody here is to have the lock next, if so
 * @returns whether the lock was still held; rejects when that was not confirmed
 */
function end(lock: LocalLock, hold: Hold, reason?: ClosedError): Promise<boolean> {
  const { holds, handOverBudget } = lock
  holds.end(hold, reason)
  const next = reason === undefined ? nextAfter(lock, hold) : undefined
  // One that is not waiting just now is about to ask by itself. And nobody is given it twice at once.
  if (!next?.wakeEvent.isAwaited || lock.isHandingOver) return free(lock, hold)
  if (handOverBudget.isUnbroken) return free(lock, hold, undefined, true)
  const following = handOverBudget.isUsedUp ? null : holds.passedOn(hold, next)
  if (following === null) return handOver(lock, hold, next)
  handOverBudget.released(0)
  holds.left(hold, true)
  next.granted(following)
  return Promise.resolve(true)
}

/** Who waits here and may be given the lock directly: for the same kind, where that can be handed over. */
function nextAfter(lock: LocalLock, hold: Hold): Waiter | undefined {
  const { first } = lock.waiters
  if (first === undefined || first.request.kind !== hold.kind || !lock.holds.isEmpty)
    return undefined
  return lock.remoteOf(hold).handOver === undefined ? undefined : first
}

async function handOver(lock: LocalLock, hold: Hold, next: Waiter): Promise<boolean> {
  const { holds, handOverBudget, releases, queued } = lock
  // Those here who wait in turn listen with the same subscription, but are others.
  const others = queued?.isEmpty === false ? 1 : 0
  const listening = handOverBudget.isUsedUp ? releases.listeners - others : null
  const { callMs } = lock.newBudget()
  const from = { owner: hold.id.wireOwner, token: hold.lastToken }
  const to = { owner: nameOf(next), leaseMs: next.request.leaseMs }
  const remote = lock.remoteOf(next.request) as Required<KindVerbs>
  lock.isHandingOver = true
  const { grant, sentAt, unknown } = await ask(lock, next, callMs, () =>
    remote.handOver({ from, to, listening, reserve: RESERVE, callMs }),
  ).finally(() => {
    lock.isHandingOver = false
  })
  // Nothing is lost by going on one by one: the release and the acquisition are both safe to
  // repeat, and find out how far the hand-over came.
  if (grant === null) {
    if (next.settled) abandonName(lock, next)
    next.wakeEvent.set()
    return free(lock, hold, unknown ? sentAt.monotonic : undefined)
  }
  handOverBudget.released(grant.kind === 'yielded' ? grant.others : 0)
  if (grant.kind === 'yielded') handOverBudget.letGo()
  const wasHeld = holds.left(hold, grant.kind !== 'gone')
  if (wasHeld) ended(lock, hold, sentAt.monotonic)
  if (grant.kind === 'granted') {
    const following = holds.granted(next, grant, sentAt)
    if (following !== null) next.granted(following)
  }
  if (next.settled) abandonName(lock, next)
  lock.lookAgain()
  return wasHeld
}

/**
 * @param mayBeDoneAt when an earlier request was sent that may have freed it
 * @param stayAway whether those who wait here are to leave it to others for a while
 */
async function free(
  lock: LocalLock,
  hold: Hold,
  mayBeDoneAt?: number,
  stayAway = false,
): Promise<boolean> {
  const { holds, handOverBudget, releases } = lock
  let following: NextHolder | undefined
  try {
    const freed = await untilFreed(lock, hold, mayBeDoneAt)
    handOverBudget.released((freed?.listeners ?? 0) - releases.listeners)
    if (stayAway) handOverBudget.stayAway()
    else handOverBudget.letGo()
    following = freed?.following
    return holds.left(hold, freed !== null)
  } finally {
    lock.lookAgain(following)
  }
}

/**
 * Frees the lock.
 *
 * @param mayBeDoneAt when an earlier request was sent that may have freed it, so that "gone" is no
 * loss; one that was never sent, or was refused, has freed nothing
 * @returns who was told, or who follows; null when the lock was not held any more. Rejects when
 * that was not confirmed.
 */
async function untilFreed(
  lock: LocalLock,
  hold: Hold,
  mayBeDoneAt?: number,
): Promise<Freed | null> {
  const retryBudget = lock.newBudget()
  const sentAt = mayBeDoneAt ?? performance.now()
  for (let maybe = mayBeDoneAt !== undefined; ; ) {
    const answer = await tell(lock, hold, retryBudget, 'its release was not confirmed')
    if (answer.kind === 'failed') {
      maybe ||= answer.unknown
      continue
    }
    ended(lock, hold, sentAt)
    if (answer.kind === 'freed') return answer
    return maybe ? { listeners: 0 } : null
  }
}

/**
 * Tells the server the hold count, which was lowered. It is told as it is when sent, so that repeats
 * and others who lower it at the same time agree.
 *
 * @returns whether the lock was still held; rejects when that was not confirmed
 */
async function lower(lock: LocalLock, hold: Hold): Promise<boolean> {
  const retryBudget = lock.newBudget()
  while (hold.live && hold.count > 0) {
    const failed = 'one of its acquisitions was not released'
    const answer = await tell(lock, hold, retryBudget, failed)
    if (answer.kind === 'kept') return true
    // Where the last release came first it tells what there was to end.
    if (answer.kind === 'gone' && hold.live) hold.loseGone()
  }
  return hold.loss === undefined
}

/**
 * The server has nothing of it any more; unless a request on its way takes it again, which may have
 * come after the one that ended it.
 *
 * @param sentAtMs when the first request was sent that may have ended it, on `performance.now()`
 */
function ended(lock: LocalLock, hold: Hold, sentAtMs: number): void {
  if (hold.doubtUntilMs > sentAtMs) lock.abandonHold(hold)
}

/** @returns the answer to a release, or that it is to be told again */
function tell(
  lock: LocalLock,
  hold: Hold,
  retryBudget: RetryBudget,
  what: string,
): Promise<Released | Failed> {
  const sentAt = performance.now()
  const told: Promise<Released | Failed> = lock.remoteOf(hold).release({
    owner: hold.id.wireOwner,
    holds: hold.count,
    token: hold.lastToken,
    callMs: retryBudget.callMs,
  })
  return told.catch(async (failure: CallFailure) => {
    await retryBudget.pauseAfter(failure, sentAt, what, () => {
      if (hold.count === 0) lock.abandonHold(hold)
    })
    return { kind: 'failed', unknown: failure.kind === 'unknown' }
  })
}
