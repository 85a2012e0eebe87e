import type { Hold } from '../lease/hold.ts'
import type { ReenterAnswer } from '../servers/answers.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { toRenew } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'
import { releaseOne } from './release.ts'
import { abandonId, callMsFor, type RequestOutcome, WaiterRequest } from './request.ts'

/** Makes the waiter re-enter the hold that its owner already has. */
export function reenter(lock: LocalLock, hold: Hold, waiter: Waiter): void {
  lock.waiters.unqueue(waiter)
  // The next waiters may have the same owner and re-enter too. A later start avoids a deep
  // recursion.
  if (lock.waiters.isQueueEmpty) lock.advance()
  else lock.advanceLater()
  lock.tasks.started()
  hold.count += 1
  hold.untouched = false
  abandonId(lock, waiter)
  hold.loseIfOver()
  sendReentry(lock, hold, waiter)
}

/** Sends one request to re-enter, or gives up if the waiter has settled or the hold has ended. */
function sendReentry(lock: LocalLock, hold: Hold, waiter: Waiter): void {
  if (waiter.settled || !hold.live) {
    giveUp(lock, hold, waiter)
    return
  }
  const leaseMs = hold.upToLimit(waiter.request.leaseMs, lock.services.clock.now())
  const callMs = callMsFor(waiter)
  // The request may reach the server even if its answer is lost. So the longer lease counts from
  // now on.
  hold.leaseMs = Math.max(hold.leaseMs, leaseMs)
  lock
    .remoteOf(hold)
    .reenter(
      { owner: hold.id.ownerId, token: hold.lastToken, holds: hold.count, leaseMs, callMs },
      new WaiterRequest(lock, waiter, callMs, (asked) =>
        handleAnswer(lock, hold, waiter, asked, leaseMs),
      ),
    )
}

function handleAnswer(
  lock: LocalLock,
  hold: Hold,
  waiter: Waiter,
  { grant, sentAt, pauseMs }: RequestOutcome<ReenterAnswer>,
  leaseMs: number,
): void {
  if (grant === null && !waiter.settled) {
    waiter.wakeEvent.reset()
    void waiter.wakeEvent.wait(pauseMs).then(() => sendReentry(lock, hold, waiter))
    return
  }
  if (grant?.kind === 'granted') {
    hold.proved(leaseMs, sentAt)
    if (hold.kind.isShared) hold.token = Math.max(hold.token, grant.token)
    waiter.retryBudget.answered(sentAt.monotonic)
    if (!waiter.settled && hold.live) {
      hold.inDoubtUntil(waiter.doubtUntilMs)
      grant.onHeld?.(() => toRenew(hold))
      lock.holds.watch(hold, waiter.request, sentAt.monotonic)
      waiter.resolve(hold, 'reentered')
      lock.tasks.finished()
      return
    }
  } else if (grant?.kind === 'gone' && hold.live) {
    hold.loseGone()
  }
  giveUp(lock, hold, waiter)
}

/**
 * Ends the re-entry without success. Releases the acquisition that `reenter` counted for the
 * waiter.
 */
function giveUp(lock: LocalLock, hold: Hold, waiter: Waiter): void {
  hold.inDoubtUntil(waiter.doubtUntilMs)
  if (!waiter.settled) waiter.reject(hold.whyEnded())
  lock.tasks.run(releaseOne(lock, hold, 0))
  lock.tasks.finished()
}

/**
 * Called when the waiter has acquired the lock. Starts or wakes waiters that may hold the lock
 * together with it: shared waiters, and waiters of the same owner.
 */
export function startOthers(lock: LocalLock, hold: Hold, waiter: Waiter): void {
  const { waiters, holds } = lock
  const { owner, kind } = waiter.request
  if (kind.isShared && !kind.isCounted && !kind.waitsAside) {
    for (const other of waiters.sharedAtFront()) {
      if (other.contending) other.wakeEvent.set()
      else other.contend()
    }
  }
  for (const other of waiters.queuedWith(waiter)) {
    if (other.contending) other.wakeEvent.set()
    else if (holds.of(owner, other.request.kind) === hold) reenter(lock, hold, other)
  }
}
