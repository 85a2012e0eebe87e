/**
 * A smaller value is not a time in µs. Instead of a time, Redisson and old clients write 1.
 * Independent masters count their tokens.
 */
const LEAST_TIME_US = 1e12

/**
 * Matches owners of Redisson, which begin with a UUID. Exclusive holds of Redisson have no token,
 * so their age is unknown.
 */
const OF_REDISSON = /^[0-9a-f]{8}-[0-9a-f-]{27}:/

/**
 * Returns how long the owner has held a lock, in milliseconds; null if unknown.
 *
 * @param sinceUs when the hold began, in µs of the server's time. For an exclusive hold, the last
 * token, because a token is the time of its grant
 */
export function holdAgeMs(owner: string, sinceUs: number, nowUs: number): number | null {
  if (sinceUs < LEAST_TIME_US || OF_REDISSON.test(owner)) return null
  return Math.max(0, Math.round((nowUs - sinceUs) / 1_000))
}
