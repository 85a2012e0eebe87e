import type { LeaseToRenew } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { lockKeys } from './keys.ts'
import { leftOf } from './replies.ts'
import type { ScriptRunner } from './script-runner.ts'
import * as scripts from './scripts.generated.ts'

/**
 * @param groups the indices of the leases that one request can carry together
 * @returns for each lease what is left of its lease, or the failure of the request it was part of
 */
export async function renewSeats(
  calls: ScriptRunner,
  leases: readonly LeaseToRenew[],
  groups: readonly number[][],
  leaseMs: number,
  counterMs: number,
  timeoutMs: number,
): Promise<(number | CallFailure)[]> {
  const left: (number | CallFailure)[] = new Array(leases.length)
  const renewGroup = async (indices: number[]) => {
    const group = indices.map((i) => leases[i] as LeaseToRenew)
    const keys = group.flatMap((lease) => lockKeys(lease.key).both)
    const args = [leaseMs, counterMs, ...group.map((lease) => lease.wireOwner)]
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
