/** The time until `endsAt` in whole milliseconds, from 1 to `mostMs`. */
export function leftUntil(endsAt: number, now: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(1, Math.floor(endsAt - now)))
}
