import type { LeaseToRenew } from '../../answers.ts'
import type { Confirm } from '../../durability.ts'
import type { Renewal } from '../../renewal.ts'
import type { RenewedLease } from '../../renewed-lease.ts'
import { type KindScriptServer, type Renewing, renewInGroups } from './renew.ts'

/** All locks of one kind on one server or cluster. Each kind renews leases with its own script. */
export abstract class KindServer implements Renewal {
  protected readonly server: KindScriptServer
  protected readonly clientId: string
  readonly confirm: Confirm | undefined

  constructor(server: KindScriptServer, clientId: string) {
    this.server = server
    this.clientId = clientId
    this.confirm = server.confirmWith(this.renewing(0))
  }

  protected abstract renewing(leaseMs: number): Renewing

  groups(locks: readonly { readonly rawName: string }[]): number[][] {
    return this.server.groups(locks)
  }

  renew(leases: readonly LeaseToRenew[], leaseMs: number, callMs: number): Promise<RenewedLease[]> {
    return renewInGroups(this.server, leases, this.renewing(leaseMs), callMs)
  }
}
