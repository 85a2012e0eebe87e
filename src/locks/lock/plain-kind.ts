import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { newLease } from '../../local/local-lease.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import { RacingWaiter } from '../../local/racing-waiter.ts'

export const plainKind: LockKind = {
  name: 'lock',
  isShared: false,
  waitsInTurn: false,
  newWaiter: (lock, request) => new LockWaiter(lock, request),
}

class LockWaiter extends RacingWaiter<Lease> {
  resultOf(hold: Hold): Lease {
    return newLease(this, hold)
  }
}
