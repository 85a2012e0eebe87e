import type { Hold } from '../lease/hold.ts'
import type { Lease } from '../lease/lease.ts'
import { newLease } from './local-lease.ts'
import { RacingWaiter } from './racing-waiter.ts'

/** A racing waiter for a lock, which has a lease. */
export class LockWaiter extends RacingWaiter<Lease> {
  resultOf(hold: Hold): Lease {
    return newLease(this.lock, hold, this.request, this.calledFrom)
  }
}
