import type { LeaseToRenew } from '../../answers.ts'
import { CallFailure, OddAnswer } from '../../call-failure.ts'
import type { Remaining } from '../../remaining.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import * as lock from '../scripts/lock.generated.ts'
import { odd } from '../scripts/reading.ts'
import type { Args, Script } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'
import { lockKeys } from './keys.ts'
import type { ScriptServer } from './script-runner.ts'

/** How leases of one kind are renewed. */
export interface Renewing {
  readonly script: Script
  keysOf(rawName: string): readonly string[]
  args(group: readonly LeaseToRenew[], terms: Terms): Args
  /** Reads the remaining time of each lease; undefined for an invalid value. */
  read(reply: unknown): (Remaining | undefined)[]
}

interface RenewingServer extends ScriptServer {
  /** @returns the indices of the locks, in groups that one request can handle each */
  groups(locks: readonly { readonly key: string }[]): number[][]
}

/** @returns for each lease its remaining time, or the failure of its request */
export async function renew(
  server: RenewingServer,
  leases: readonly LeaseToRenew[],
  { script, keysOf, args, read }: Renewing,
  callMs: number,
): Promise<RenewedLease[]> {
  const remaining: RenewedLease[] = new Array(leases.length)
  const renewGroup = async (indices: number[]) => {
    const group = indices.map((i) => leases[i] as LeaseToRenew)
    const asked = {
      script,
      keys: group.flatMap(({ key }) => keysOf(key)),
      args: (terms: Terms) => args(group, terms),
      read: (reply: unknown) => {
        const answers = read(reply)
        if (answers.length !== group.length) throw odd()
        return answers.map((one, n) => one ?? new OddAnswer(script.name, (reply as unknown[])[n]))
      },
      callMs,
    }
    const answers = await server.runner.request(asked).catch((failure: CallFailure) => failure)
    for (const [n, i] of indices.entries()) {
      remaining[i] = answers instanceof CallFailure ? answers : (answers[n] as RenewedLease)
    }
  }
  await Promise.all(server.groups(leases).map(renewGroup))
  return remaining
}

/** Returns how the leases of plain and fair locks are renewed. */
export function renewingLocks(leaseMs: number): Renewing {
  return {
    script: lock.renew,
    keysOf: (rawName) => lockKeys(rawName).both,
    args: (group, terms) =>
      lock.renewArgs({ leaseMs, owners: group.map(({ wireOwner }) => wireOwner) }, terms),
    read: lock.readRenew,
  }
}
