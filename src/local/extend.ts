import type { Hold } from '../lease/hold.ts'
import { CallFailure } from '../servers/call-failure.ts'
import { renewalOf, toRenew } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/** Extends the lease to at least `leaseMs` from now. Rejects if the server did not confirm that. */
export async function extend(lock: LocalLock, hold: Hold, leaseMs: number): Promise<void> {
  if (!(await lengthen(lock, hold, leaseMs))) throw hold.over()
}

/**
 * Like {@link extend}, but does not reject if the hold ends meanwhile.
 *
 * @param longestCallMs the longest time of one request before a retry, in milliseconds
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
    // The request may reach the server even if its answer is lost. So the hold can no longer be
    // handed over without a request.
    hold.untouched = false
    // A retry must not extend the lease beyond the limit of the hold.
    const wantedMs = hold.upToLimit(leaseMs, sentAt)
    hold.leaseMs = Math.max(hold.leaseMs, wantedMs)
    const [left] = await renewalOf(hold, server).renew([toRenew(hold)], wantedMs, callMs)
    if (left instanceof CallFailure) {
      await retryBudget.pauseAfter(left, sentAt.monotonic, 'its lease was not extended')
    } else if (left === -2) {
      if (hold.live) hold.loseGone()
    } else {
      hold.proved(wantedMs, sentAt)
      if (hold.live) return true
    }
  }
  return false
}
