import type { LeaseToRenew } from '../../answers.ts'
import type { CallFailure } from '../../call-failure.ts'
import type { Confirm } from '../../durability.ts'
import type { PendingReleases } from '../../pending-releases.ts'
import type { Remaining } from '../../remaining.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import type { Subscription } from '../../subscription.ts'
import * as lock from '../scripts/lock.generated.ts'
import { odd } from '../scripts/reading.ts'
import type { Binding } from '../scripts/script.ts'
import { type LockKeys, lockAndCounter } from './keys.ts'
import { oddAnswer } from './odd-answer.ts'
import type { ScriptServer } from './script-runner.ts'

/** The keys of all holds that one request renews. */
interface HoldKeys {
  readonly keys: readonly string[]
}

/** How leases of one kind are renewed. */
export interface Renewing {
  /** The script that renews leases and answers their remaining times. An invalid time is undefined. */
  readonly binding: Binding<HoldKeys, readonly LeaseToRenew[], (Remaining | undefined)[]>
  keysOf(rawName: string): readonly string[]
}

interface RenewingServer extends ScriptServer {
  /** @returns groups of indices; one request can handle all locks of a group */
  groups(locks: readonly { readonly rawName: string }[]): number[][]
}

/** The parts of the server that a kind of lock uses. */
export interface KindScriptServer extends RenewingServer {
  confirmWith(renewing: Renewing): Confirm | undefined
  pendingReleases(rawName: string): PendingReleases
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription
}

/**
 * Renews leases of one kind, with one request for each group of `server.groups`.
 *
 * @returns for each lease its remaining time, or the failure of its request
 */
export async function renewInGroups(
  server: RenewingServer,
  leases: readonly LeaseToRenew[],
  renewing: Renewing,
  callMs: number,
): Promise<RenewedLease[]> {
  const groups = server.groups(leases)
  if (groups.length === 1) return renewTogether(server, leases, renewing, callMs)
  const remaining: RenewedLease[] = new Array(leases.length)
  const renewGroup = async (indices: number[]) => {
    const group = indices.map((i) => leases[i] as LeaseToRenew)
    const renewed = await renewTogether(server, group, renewing, callMs)
    for (const [n, i] of indices.entries()) remaining[i] = renewed[n] as RenewedLease
  }
  await Promise.all(groups.map(renewGroup))
  return remaining
}

/** Renews the leases of one group, with one request. */
async function renewTogether(
  server: RenewingServer,
  leases: readonly LeaseToRenew[],
  { binding, keysOf }: Renewing,
  callMs: number,
): Promise<RenewedLease[]> {
  const renewing = {
    ...binding,
    read: (reply: unknown) => {
      const answers = binding.read(reply)
      if (answers.length !== leases.length) throw odd()
      const { name } = binding.script
      return answers.map((one, n) => one ?? oddAnswer(name, (reply as unknown[])[n]))
    },
  }
  const keys: string[] = []
  for (const { rawName } of leases) keys.push(...keysOf(rawName))
  return server.runner
    .request(renewing, { keys }, leases, callMs)
    .catch((failure: CallFailure) => leases.map(() => failure))
}

/** Returns the `Renewing` for a script that needs only the owners of the leases. */
export function renewingOwners(
  binding: Binding<HoldKeys, lock.RenewArgs, (Remaining | undefined)[]>,
  leaseMs: number,
  keysOf: (rawName: string) => readonly string[],
): Renewing {
  const argsOf: Renewing['binding']['argsOf'] = (leases, terms, names) =>
    binding.argsOf({ leaseMs, owners: leases.map(({ ownerId }) => ownerId) }, terms, names)
  return { binding: { ...binding, argsOf }, keysOf }
}

/** Returns the `Renewing` of plain and fair locks. */
export function renewingLocks(leaseMs: number): Renewing {
  return renewingOwners(lock.renew, leaseMs, lockAndCounter)
}
