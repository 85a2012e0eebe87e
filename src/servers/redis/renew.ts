import type { LeaseToRenew } from '../answers.ts'
import { CallFailure } from '../call-failure.ts'
import { lockKeys } from './keys.ts'
import { leftOf } from './replies.ts'
import type { ScriptServer } from './script-runner.ts'
import * as lock from './scripts/lock.generated.ts'
import type { Terms } from './scripts/terms.ts'

/**
 * @param groups the indices of the leases that one request can carry together
 * @returns for each what is left of it, or the failure of the request that it was part of
 */
export async function renew(
  { runner }: ScriptServer,
  leases: readonly LeaseToRenew[],
  groups: readonly number[][],
  leaseMs: number,
  callMs: number,
): Promise<(number | CallFailure)[]> {
  const left: (number | CallFailure)[] = new Array(leases.length)
  const renewGroup = async (indices: number[]) => {
    const group = indices.map((i) => leases[i] as LeaseToRenew)
    const keys = group.flatMap((lease) => lockKeys(lease.key).both)
    const owners = group.map((lease) => lease.wireOwner)
    const asked = {
      script: lock.renew,
      keys,
      args: (terms: Terms) => lock.renewArgs({ leaseMs, owners }, terms),
      read: (reply: unknown) => leftOf(reply, group.length),
      callMs,
    }
    const answers = await runner.ask(asked).catch((failure: CallFailure) => failure)
    for (const [n, i] of indices.entries()) {
      left[i] = answers instanceof CallFailure ? answers : (answers[n] as number | CallFailure)
    }
  }
  await Promise.all(groups.map(renewGroup))
  return left
}
