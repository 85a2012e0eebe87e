import type { CallFailure } from './call-failure.ts'
import type { Remaining } from './remaining.ts'

/** The outcome of a renewal: the remaining time of the lease, or the failure of the request. */
export type RenewedLease = Remaining | CallFailure

/**
 * Returns how long the lease still lasts according to the answer, in milliseconds; 0 if the answer
 * proves no lease. An endless lease proves nothing, because Holdfast always sets an expiry.
 */
export function provedMs(renewed: RenewedLease | undefined): number {
  return typeof renewed === 'number' && renewed !== Infinity ? renewed : 0
}
