/**
 * Stands for the lease of a grant that has none, in milliseconds. Such a grant counts, however late
 * its answer arrives. The value is small enough that moments remain exact whole numbers.
 */
export const NO_LEASE_MS = Number.MAX_SAFE_INTEGER / 1_000

/**
 * How long a holder may rely on a lease, from *before* its request was sent. The drift of clocks is
 * subtracted: 1 % and 2 ms, as on the Redlock page. So is a margin, in which the holder can stop
 * before the server grants the lock to another owner.
 *
 * @param leaseMs the lease that the server granted, in milliseconds
 * @returns milliseconds; zero or less if the lease is too short
 */
export function validityMs(leaseMs: number): number {
  const driftMs = leaseMs * 0.01 + 2
  const marginMs = Math.min(leaseMs * 0.05, 100)
  return leaseMs - driftMs - marginMs
}
