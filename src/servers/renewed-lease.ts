import type { CallFailure } from './call-failure.ts'
import type { Remaining } from './remaining.ts'

/** The outcome of a renewal: the remaining time of the lease, or the failure of the request. */
export type RenewedLease = Remaining | CallFailure
