import type { Hold } from '../../lease/hold.ts'
import { RacingWaiter } from '../../local/racing-waiter.ts'
import type { PermitServer } from '../../servers/permit-server.ts'
import { HeldPermit } from './permit.ts'
import { PermitKinds } from './permit-kinds.ts'

/** The permits with leases at one place. */
export class ExpirablePermits {
  readonly server: PermitServer
  readonly kinds: PermitKinds

  constructor(server: PermitServer) {
    this.server = server
    this.kinds = new PermitKinds({
      name: 'permits',
      pool: (rawName) => server.pool(rawName),
      renewal: server,
      newWaiter: (lock, request) => new PermitWaiter(lock, request),
    })
  }
}

/** Waits for permits. No `unlock()` looks for them, and so they are kept nowhere. */
class PermitWaiter extends RacingWaiter {
  override newLease(hold: Hold): HeldPermit {
    const permit = new HeldPermit(this.lock, hold, this.request)
    this.lock.services.heldWatch?.held(permit, hold, this.calledFrom)
    return permit
  }
}
