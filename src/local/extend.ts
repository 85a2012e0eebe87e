import type { Hold } from '../lease/hold.ts'
import { CallFailure } from '../servers/call-failure.ts'
import { renewalOf, toRenew } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

/** Makes the lease last at least this long from now; rejects when that was not confirmed. */
export async function extend(lock: LocalLock, hold: Hold, leaseMs: number): Promise<void> {
  if (!(await lengthen(lock, hold, leaseMs))) throw hold.over()
}

/**
 * The same for a hold that may end meanwhile.
 *
 * @param longestCallMs asks again after this, in milliseconds
 * @returns whether it is held, and was lengthened
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
    // It may reach the server without an answer.
    hold.untouched = false
    // A repeat is no reason to be held beyond the limit.
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
