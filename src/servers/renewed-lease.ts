import type { CallFailure } from './call-failure.ts'
import type { Remaining } from './remaining.ts'

/** The outcome of the renewal of one lease. */
export type RenewedLease = Remaining | CallFailure
