import type { LeaseToRenew } from '../../answers.ts'
import type { Confirm } from '../../durability.ts'
import type { PendingReleases } from '../../pending-releases.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import type { Subscription } from '../../subscription.ts'
import type { LockKeys } from './keys.ts'
import { type Renewing, renew } from './renew.ts'
import type { ScriptServer } from './script-runner.ts'

/** The parts of the server that a kind of lock uses. */
export interface KindScriptServer extends ScriptServer {
  confirmWith(renewing: Renewing): Confirm | undefined
  pendingReleases(rawName: string): PendingReleases
  groups(locks: readonly { readonly key: string }[]): number[][]
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription
}

/** The locks of one kind on one server or cluster. The kind has its own script for renewals. */
export abstract class KindServer {
  protected readonly server: KindScriptServer
  protected readonly clientId: string
  readonly confirm: Confirm | undefined

  constructor(server: KindScriptServer, clientId: string) {
    this.server = server
    this.clientId = clientId
    this.confirm = server.confirmWith(this.renewing(0))
  }

  protected abstract renewing(leaseMs: number): Renewing

  groups(locks: readonly { readonly key: string }[]): number[][] {
    return this.server.groups(locks)
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]> {
    return renew(this.server, leases, this.renewing(leaseMs), callMs)
  }
}
