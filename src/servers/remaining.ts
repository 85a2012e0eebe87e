/**
 * The remaining time of a lease, in milliseconds. Infinity means that the lease never expires, and
 * `gone` that the owner does not hold the lock.
 */
export type Remaining = number | 'gone'

/** Returns after which time a lease ends, in milliseconds; Infinity if no lease ends. */
export function endsInMs(remaining: Remaining): number {
  return remaining === 'gone' ? Infinity : remaining
}

/** Returns the remaining time as users see it: null if no lease ends. */
export function shownTtlMs(remaining: Remaining): number | null {
  const ms = endsInMs(remaining)
  return ms === Infinity ? null : ms
}
