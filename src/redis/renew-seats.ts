import type { Seat } from './answers.ts'
import { leftOf } from './decode.ts'
import { CallFailure } from './failure.ts'
import { lockKeys } from './keys.ts'
import type { LockCalls } from './lock-calls.ts'
import * as scripts from './scripts.generated.ts'

/**
 * @param groups the indices of the seats that one request can carry together
 * @returns for each seat what is left of its lease, or the failure of the request it was part of
 */
export async function renewSeats(
  calls: LockCalls,
  seats: readonly Seat[],
  groups: readonly number[][],
  leaseMs: number,
  counterMs: number,
  timeoutMs: number,
): Promise<(number | CallFailure)[]> {
  const left: (number | CallFailure)[] = new Array(seats.length)
  const renewGroup = async (indices: number[]) => {
    const group = indices.map((i) => seats[i] as Seat)
    const keys = group.flatMap((seat) => lockKeys(seat.key).both)
    const args = [leaseMs, counterMs, ...group.map((seat) => seat.wireOwner)]
    const answers = await calls
      .run(
        scripts.renew,
        keys,
        () => args,
        timeoutMs,
        (reply) => leftOf(reply, group.length),
      )
      .catch((failure: CallFailure) => failure)
    for (const [n, i] of indices.entries()) {
      left[i] = answers instanceof CallFailure ? answers : (answers[n] as number | CallFailure)
    }
  }
  await Promise.all(groups.map(renewGroup))
  return left
}
