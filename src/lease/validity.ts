/**
 * The lease of what has none, in milliseconds: a grant counts, however late it is heard of. Far from where times are
 * not whole any more.
 */
export const NO_LEASE_MS = Number.MAX_SAFE_INTEGER / 1_000

/**
 * How long a holder may rely on a lease, counted from *before* its request was sent: the lease
 * less the drift of clocks (1 % and 2 ms, as on the Redlock page) and less a margin in which the
 * holder can stop before the server gives the lock away.
 *
 * @param leaseMs the lease as the server has it, in milliseconds
 * @returns milliseconds; zero or less for a lease too short to be of use
 */
export function validityMs(leaseMs: number): number {
  const driftMs = leaseMs * 0.01 + 2
  const marginMs = Math.min(leaseMs * 0.05, 100)
  return leaseMs - driftMs - marginMs
}
