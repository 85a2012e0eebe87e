import type { Seat } from './answers.ts'
import type { CallFailure } from './failure.ts'
import { lockKeys } from './keys.ts'
import type { Master } from './master.ts'
import { poll, type Vote } from './poll.ts'
import { isAnswer, type Renewals, type Size } from './votes.ts'

/**
 * Renews leases on a majority of masters; one that lost a lease which that majority has is given it.
 *
 * @param onLost called for each lease that no majority has any more
 */
export async function renewOnMost(
  masters: readonly Master[],
  size: Size,
  seats: readonly Seat[],
  leaseMs: number,
  timeoutMs: number,
  onLost: (seat: Seat) => unknown,
): Promise<(number | CallFailure)[]> {
  let left: (number | CallFailure)[] | undefined
  const repair = ({ member, answer }: Vote<Master, Renewals>) => {
    for (const [i, seat] of seats.entries()) {
      const sure = left?.[i]
      if (!isAnswer(answer) || answer[i] !== -2 || typeof sure !== 'number' || sure < 0) continue
      restore(member, seat, leaseMs || sure, timeoutMs)
    }
  }
  const votes = await poll(
    masters,
    (master) => master.ask(() => master.node.renew(seats, leaseMs, timeoutMs)),
    (some) => some.length >= size.majority && seats.every((_, i) => isAnswer(size.leftOf(some, i))),
    (vote) => setImmediate(repair, vote),
  )
  left = seats.map((seat, i) => {
    const sure = size.leftOf(votes, i)
    if (sure === -2) onLost(seat)
    return sure
  })
  // The holder hears of it first.
  setImmediate(() => votes.forEach(repair))
  return left
}

function restore(master: Master, seat: Seat, leaseMs: number, timeoutMs: number): void {
  if (!seat.isHeld?.()) return
  const freeIfOver = () => {
    if (seat.isHeld?.()) return
    // The release may have come before.
    master.release(lockKeys(seat.key), seat.wireOwner, 0, timeoutMs).catch(() => {})
  }
  master.restore(seat, leaseMs, timeoutMs).then(freeIfOver, () => {})
}
