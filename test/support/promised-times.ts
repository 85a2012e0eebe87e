/**
 * The times, in milliseconds, that the pages state for users. A test states a time of the pages by its name here.
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
 * Returns how long a holder relies on a lease, from before its request: the lease without the drift and the margin.
 * docs/explanation/leases.md states both.
 */
export function validityMs(leaseMs: number): number {
  const driftMs = 2 + 0.01 * leaseMs
  const marginMs = Math.min(100, 0.05 * leaseMs)
  return leaseMs - driftMs - marginMs
}
