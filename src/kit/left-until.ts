/** What is left until then, in whole milliseconds: at least 1, and no more than so many. */
export function leftUntil(endsAt: number, now: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(1, Math.floor(endsAt - now)))
}
