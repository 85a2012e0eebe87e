/**
 * Returns the time from `now` until `endsAt` in whole milliseconds: at least 1, and at most
 * `mostMs`.
 */
export function remainingUntil(endsAt: number, now: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(1, Math.floor(endsAt - now)))
}
