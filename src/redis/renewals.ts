import type { Seat } from './answers.ts'
import type { CallFailure } from './failure.ts'
import { lockKeys } from './keys.ts'
import type { Master } from './master.ts'
import { poll, type Vote } from './poll.ts'
import { isWorthAsking } from './repairs.ts'
import { isAnswer, type Renewals, type Size } from './votes.ts'

/** What is to be made of leases that not all masters have. */
interface Outcomes {
  /** No majority has it any more. */
  lost(seat: Seat): unknown
  /** A majority has it, and some master did not say so, or could not be given it. */
  missing(seat: Seat): void
}

/**
 * Renews leases on a majority of masters; one that lost a lease which that majority has is given it.
 */
export async function renewOnMost(
  masters: readonly Master[],
  size: Size,
  seats: readonly Seat[],
  leaseMs: number,
  timeoutMs: number,
  outcomes: Outcomes,
): Promise<(number | CallFailure)[]> {
  let left: (number | CallFailure)[] | undefined
  const repair = ({ member, answer }: Vote<Master, Renewals>) => {
    for (const [i, seat] of seats.entries()) {
      const sure = left?.[i]
      if (typeof sure !== 'number' || sure < 0) continue
      const there = isAnswer(answer) ? (answer[i] as number | CallFailure) : answer
      if (there === -2) {
        restore(member, seat, leaseMs || sure, timeoutMs, () => outcomes.missing(seat))
      } else if (!isAnswer(there) && isWorthAsking(member, there)) outcomes.missing(seat)
    }
  }
  const votes = await poll(
    masters,
    (master) => master.renew(seats, leaseMs, timeoutMs),
    (some) => some.length >= size.majority && seats.every((_, i) => isAnswer(size.leftOf(some, i))),
    (vote) => setImmediate(repair, vote),
  )
  left = seats.map((seat, i) => {
    const sure = size.leftOf(votes, i)
    if (sure === -2) outcomes.lost(seat)
    return sure
  })
  // The holder hears of it first.
  setImmediate(() => votes.forEach(repair))
  return left
}

/** @param missing called when it could not be given, and is held still */
function restore(
  master: Master,
  seat: Seat,
  leaseMs: number,
  timeoutMs: number,
  missing: () => void,
): void {
  if (!seat.isHeld?.()) return
  const answered = (isThere: boolean) => {
    if (seat.isHeld?.()) {
      if (!isThere) missing()
      return
    }
    // The release may have come before.
    master.release(lockKeys(seat.key), seat.wireOwner, 0, timeoutMs).catch(() => {})
  }
  const failed = (failure: CallFailure) => {
    if (isWorthAsking(master, failure)) missing()
  }
  master.restore(seat, leaseMs, timeoutMs).then(answered, failed)
}
