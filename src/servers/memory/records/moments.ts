/** Converts milliseconds to µs. */
export function timeUs(now: number): number {
  return Math.floor(now * 1_000)
}

/** Returns the time until `endsAt`, in milliseconds; 0 if `endsAt` has passed. */
export function leftMs(endsAt: number, now: number): number {
  return Math.max(0, Math.ceil(endsAt - now))
}

/**
 * Returns the age of a token, in milliseconds. A token is the time in µs at which it was issued.
 */
export function ageMs(token: number, now: number): number {
  return Math.max(0, Math.floor(now - token / 1_000))
}
