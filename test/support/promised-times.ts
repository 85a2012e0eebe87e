/**
 * The times, in milliseconds, that the documentation pages state for users. Tests use these names instead of numbers.
 * test/repo/promised compares the times with the source.
 */

/** The claim window: how long a grant of a fair lock waits for its owner. docs/explanation/fair-lock.md states it. */
export const CLAIM_MS = 1_500

/** How long a fair lock keeps the places of a silent client. docs/explanation/fair-lock.md states it. */
export const ALIVE_MS = 3_000

/**
 * How long a read-write lock and a semaphore keep the place of a silent waiter. docs/explanation/read-write-lock.md and
 * docs/explanation/semaphores.md state it.
 */
export const WAITING_MS = 3_000

/**
 * Returns for how many milliseconds a holder may rely on a lease, counted from before its request. This is the lease
 * without the drift and the margin, which docs/explanation/leases.md states.
 */
export function validityMs(leaseMs: number): number {
  const driftMs = 2 + 0.01 * leaseMs
  const marginMs = Math.min(100, 0.05 * leaseMs)
  return leaseMs - driftMs - marginMs
}
