/**
 * The remaining time of a lease, in milliseconds. Infinity means that the lease never expires, and
 * `gone` that the owner does not hold the lock.
 */
export type Remaining = number | 'gone'

/**
 * Returns the remaining time in milliseconds. Infinity if the lease never expires, or if there is
 * no lease.
 */
export function endsInMs(remaining: Remaining): number {
  return remaining === 'gone' ? Infinity : remaining
}

/**
 * Returns the remaining time in milliseconds, for users. Null if the lease never expires, or if
 * there is no lease.
 */
export function shownTtlMs(remaining: Remaining): number | null {
  const ms = endsInMs(remaining)
  return ms === Infinity ? null : ms
}
