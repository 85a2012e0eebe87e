import type { Hold } from '../lease/hold.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { abandonName, ask, callMsFor } from './ask.ts'
import { toRenew } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'
import { release } from './release.ts'

/** The waiter's owner has the lock already: it re-enters that hold. */
export async function reenter(lock: LocalLock, hold: Hold, waiter: Waiter): Promise<void> {
  lock.waiters.unqueue(waiter)
  lock.advance()
  hold.count += 1
  hold.untouched = false
  const entered = await untilEntered(lock, hold, waiter)
  if (!entered) await release(lock, hold, false)
}

/**
 * Asks until the waiter has re-entered the hold or is settled.
 *
 * @returns whether it has; else the hold count that was raised for it is to be lowered again
 */
async function untilEntered(lock: LocalLock, hold: Hold, waiter: Waiter): Promise<boolean> {
  const { leaseMs } = waiter.request
  abandonName(lock, waiter)
  for (hold.loseIfOver(); !waiter.settled && hold.live; ) {
    const callMs = callMsFor(waiter)
    const { grant, sentAt, pauseMs } = await ask(lock, waiter, callMs, () =>
      lock.remoteOf(hold).reenter({
        owner: hold.id.wireOwner,
        token: hold.lastToken,
        holds: hold.count,
        leaseMs,
        callMs,
      }),
    )
    if (grant === null) {
      waiter.wakeEvent.reset()
      if (!waiter.settled) await waiter.wakeEvent.wait(pauseMs)
    } else if (grant.kind === 'granted') {
      hold.proved(leaseMs, sentAt)
      waiter.retryBudget.answered(sentAt.monotonic)
      if (waiter.settled || !hold.live) break
      hold.inDoubtUntil(waiter.doubtUntilMs)
      grant.onHeld?.(() => toRenew(hold))
      lock.holds.watch(hold, waiter.request)
      waiter.resolve(hold)
      return true
    } else if (hold.live) {
      hold.loseGone()
    }
  }
  hold.inDoubtUntil(waiter.doubtUntilMs)
  if (!waiter.settled) waiter.reject(hold.over())
  return false
}
