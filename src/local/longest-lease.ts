import { InvalidArgumentError } from '../errors.ts'
import type { Services } from './services.ts'

/**
 * Throws if the lease is longer than `longestLeaseMs`. A master that may have lost its leases votes
 * again after this time. A longer lease could still be valid then.
 */
export function assertNotLonger(
  { longestLeaseMs }: Pick<Services, 'longestLeaseMs'>,
  lockName: string,
  leaseMs: number,
): void {
  if (leaseMs <= longestLeaseMs) return
  throw new InvalidArgumentError(
    `Lock "${lockName}": a lease of ${leaseMs} ms is longer than \`longestLeaseMs\`, which is ${longestLeaseMs}. ` +
      'Raise that option for all clients of these masters, or let the watchdog renew a shorter lease.',
    lockName,
  )
}
