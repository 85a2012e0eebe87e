import type { Hold } from '../../lease/hold.ts'
import { lengthen } from '../../local/extend.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { FairQueue } from './fair-queue.ts'

/**
 * Confirms a grant, so that the hold lasts for `leaseMs` milliseconds instead of the claim window.
 * If the request fails, the client sends renewals while the hold lasts, until the server confirms a
 * renewal or the retry budget is used up. Without an answer, the hold is lost at the end of the
 * claim window. If the client passes the lock on before the answer, the answer and the renewals
 * apply to the next hold.
 *
 * @param longestCallMs the longest time limit of one request, in milliseconds
 */
export function confirmGrant(
  lock: LocalLock,
  { inTurn, run }: Pick<FairQueue, 'inTurn' | 'run'>,
  hold: Hold,
  leaseMs: number,
  longestCallMs: number,
): void {
  const callMs = Math.min(lock.newBudget(hold.kind).callMs, longestCallMs)
  const sentAt = lock.services.clock.now()
  // The server may extend the lease even if its answer is lost. So the hold records the longer
  // lease.
  hold.leaseMs = Math.max(hold.leaseMs, leaseMs)
  run.confirmationSent(sentAt)
  inTurn.confirm(hold.id.ownerId, leaseMs, callMs, {
    answered: (remaining) => {
      const { current } = hold
      run.confirmationEnded(sentAt)
      if (remaining !== 'gone') current.proved(leaseMs, sentAt)
      else if (current.live) current.loseGone()
    },
    failed: () => {
      run.confirmationEnded(sentAt)
      // The error is ignored, because the end of the hold reports the failure.
      lengthen(lock, hold.current, leaseMs, longestCallMs).catch(() => {})
    },
  })
}
