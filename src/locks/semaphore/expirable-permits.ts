import type { Hold } from '../../lease/hold.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { RacingWaiter } from '../../local/racing-waiter.ts'
import type { PermitServer } from '../../servers/permit-server.ts'
import type { LeaseRequest } from '../../waiting/waiter.ts'
import { HeldPermit, type Permit } from './permit.ts'
import { PermitKinds } from './permit-kinds.ts'

const SET_BY =
  'setPermits(n) or trySetPermits(n) sets their number. getPermitExpirableSemaphore(name, { permits: n }) sets the ' +
  'number whenever it is missing.'

/** All semaphores of one client whose permits have leases. */
export class ExpirablePermits {
  readonly locks: LocalLocks
  readonly server: PermitServer
  readonly kinds: PermitKinds<Permit, LeaseRequest>

  constructor(locks: LocalLocks, server: PermitServer) {
    this.locks = locks
    this.server = server
    this.kinds = new PermitKinds(locks, {
      name: 'permits',
      setBy: SET_BY,
      pool: (rawName) => server.pool(rawName),
      ownerId: (id, permits) => server.ownerId(id, permits),
      renewal: server,
      newWaiter: (lock, request) => new PermitWaiter(lock, request),
    })
  }
}

/** A waiter for permits. Permits have no `unlock()`, so the client does not store their leases. */
class PermitWaiter extends RacingWaiter<Permit> {
  resultOf(hold: Hold): Permit {
    const permit = new HeldPermit(this.lock, hold, this.request)
    this.lock.services.heldWatch?.held(permit, hold, this.calledFrom)
    return permit.handle as Permit
  }
}
