import type { LeaseToRenew } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import { lockKeys } from '../redis/calls/keys.ts'
import type { RenewedLease } from '../renewed-lease.ts'
import type { Vote } from './ballot.ts'
import { isAnswer, type Majority, type Renewals } from './majority.ts'
import type { Master } from './master/master.ts'
import { isWorthChecking } from './repairs.ts'
import { requestAll } from './request-all.ts'

/** Called for leases that some masters do not have. */
interface Outcomes {
  /** Called if no majority has the lease any longer. */
  lost(lease: LeaseToRenew): unknown
  /** Called if a majority has the lease, but one of the other masters may not have it. */
  missing(lease: LeaseToRenew): void
}

/**
 * Renews leases on a majority of masters. With a `leaseMs` of 0, only reads the remaining times. If
 * a majority has a lease, restores the lease on masters that lack it.
 *
 * @returns for each lease the remaining time that a majority grants: see {@link Majority.leftOf}
 */
export async function renewOnMost(
  masters: readonly Master[],
  size: Majority,
  leases: readonly LeaseToRenew[],
  leaseMs: number,
  timeoutMs: number,
  outcomes: Outcomes,
): Promise<RenewedLease[]> {
  let remaining: RenewedLease[] | undefined
  const repair = ({ member, answer }: Vote<Master, Renewals>) => {
    for (const [i, lease] of leases.entries()) {
      const sure = remaining?.[i]
      if (typeof sure !== 'number' || sure === Infinity) continue
      const there = isAnswer(answer) ? (answer[i] as RenewedLease) : answer
      if (there === 'gone') {
        restore(member, lease, leaseMs || sure, timeoutMs, () => outcomes.missing(lease))
      } else if (!isAnswer(there) && isWorthChecking(member, there)) outcomes.missing(lease)
    }
  }
  const votes = await requestAll(
    masters,
    (master) => master.renew(leases, leaseMs, timeoutMs),
    (some) =>
      some.length >= size.majority && leases.every((_, i) => isAnswer(size.leftOf(some, i))),
    (vote) => setImmediate(repair, vote),
  )
  remaining = leases.map((lease, i) => {
    const sure = size.leftOf(votes, i)
    if (sure === 'gone') outcomes.lost(lease)
    return sure
  })
  // Repairs only after the caller has received the result.
  setImmediate(() => votes.forEach(repair))
  return remaining
}

/** @param missing called if the master may not have the lease, and should be asked again */
function restore(
  master: Master,
  lease: LeaseToRenew,
  leaseMs: number,
  timeoutMs: number,
  missing: () => void,
): void {
  if (!lease.isHeld?.()) return
  const answered = (isThere: boolean) => {
    if (lease.isHeld?.()) {
      if (!isThere) missing()
      return
    }
    // The hold has ended meanwhile. If its release came before the restore, the master has the hold
    // again. So the client releases it again.
    master.abandon(lockKeys(lease.rawName), lease.ownerId)
  }
  const failed = (failure: CallFailure) => {
    if (isWorthChecking(master, failure)) missing()
  }
  master.restore(lease, leaseMs, timeoutMs).then(answered, failed)
}
