import type { Hold } from '../../lease/hold.ts'
import { lengthen } from '../../local/extend.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { RemoteFairLock } from '../../servers/fair-server.ts'

/**
 * Confirms a grant, so that the hold lasts for `leaseMs` milliseconds instead of the claim window.
 * If the request fails, the client sends renewals while the hold lasts, until one is confirmed or the
 * retry budget is used up. Without an answer, the hold is lost at the end of the claim window.
 *
 * @param longestCallMs the longest time limit of one request, in milliseconds
 */
export function confirmGrant(
  lock: LocalLock,
  inTurn: RemoteFairLock,
  hold: Hold,
  leaseMs: number,
  longestCallMs: number,
): void {
  const callMs = Math.min(lock.newBudget(hold.kind).callMs, longestCallMs)
  const sentAt = lock.services.clock.now()
  // The server may extend the lease even if its answer is lost. So a hand-over of this hold needs a
  // request, and the hold counts with the longer lease.
  hold.untouched = false
  hold.leaseMs = Math.max(hold.leaseMs, leaseMs)
  inTurn.confirm(hold.id.wireOwner, leaseMs, callMs, {
    answered: (remaining) => {
      if (remaining !== 'gone') hold.proved(leaseMs, sentAt)
      else if (hold.live) hold.loseGone()
    },
    failed: () => {
      // The error is ignored, because the end of the hold reports the failure.
      lengthen(lock, hold, leaseMs, longestCallMs).catch(() => {})
    },
  })
}
