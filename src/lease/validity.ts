/**
 * Returns how long a holder may rely on a lease, in milliseconds from the moment *before* its
 * request was sent. The function subtracts the drift of clocks: 1 % and 2 ms, as usual for
 * Redlock. The function also subtracts a margin, so that the holder can stop its work before the
 * server grants the lock to another owner.
 *
 * @param leaseMs the lease that the server granted, in milliseconds; Infinity for no end
 * @returns milliseconds; 0 or less if the lease is too short, Infinity if it has no end
 */
export function validityMs(leaseMs: number): number {
  if (leaseMs === Infinity) return Infinity
  const driftMs = leaseMs * 0.01 + 2
  const marginMs = Math.min(leaseMs * 0.05, 100)
  return leaseMs - driftMs - marginMs
}
