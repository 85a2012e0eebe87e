import type { CallFailure } from './call-failure.ts'
import type { Remaining } from './remaining.ts'

/** The outcome of a renewal: the remaining time of the lease, or the failure of the request. */
export type RenewedLease = Remaining | CallFailure

/**
 * Returns for how long the answer proves the lease, in milliseconds. A lease without an expiry
 * proves nothing, because Holdfast always sets an expiry.
 */
export function provedMs(renewed: RenewedLease | undefined): number {
  return typeof renewed === 'number' && renewed !== Infinity ? renewed : 0
}
