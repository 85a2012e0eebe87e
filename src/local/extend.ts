import type { Hold } from '../lease/hold.ts'
import { CallFailure } from '../servers/call-failure.ts'
import { renewalOf, toRenew } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * Extends the lease to at least `leaseMs` milliseconds from now, but not beyond the limit of the
 * hold. Rejects if the server did not confirm the extension, or if the hold has ended.
 */
export async function extend(lock: LocalLock, hold: Hold, leaseMs: number): Promise<void> {
  if (!(await lengthen(lock, hold, leaseMs))) throw hold.whyEnded()
}

/**
 * Like {@link extend}, but does not reject if the hold has ended.
 *
 * @param longestCallMs the longest time limit of one request, in milliseconds; Infinity means no
 *   extra limit
 * @returns true if the lease was extended; false if the hold has ended
 */
export async function lengthen(
  lock: LocalLock,
  hold: Hold,
  leaseMs: number,
  longestCallMs = Infinity,
): Promise<boolean> {
  const { clock, server } = lock.services
  const retryBudget = lock.newBudget(hold.kind)
  for (hold.loseIfOver(); hold.live; ) {
    const sentAt = clock.now()
    const callMs = Math.min(retryBudget.callMs, longestCallMs)
    // The request may reach the server even if its answer is lost. So from now on, a hand-over of
    // this hold needs a request.
    hold.untouched = false
    // A retry is nearer to the limit of the hold, so it may request a shorter lease.
    const wantedMs = hold.upToLimit(leaseMs, sentAt)
    hold.leaseMs = Math.max(hold.leaseMs, wantedMs)
    const [remaining] = await renewalOf(hold, server).renew([toRenew(hold)], wantedMs, callMs)
    if (remaining instanceof CallFailure) {
      await retryBudget.pauseAfter(remaining, sentAt.monotonic, 'its lease was not extended')
    } else if (remaining === 'gone') {
      if (hold.live) hold.loseGone()
    } else {
      hold.proved(wantedMs, sentAt)
      if (hold.live) return true
    }
  }
  return false
}
