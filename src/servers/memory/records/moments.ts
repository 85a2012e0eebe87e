/** A moment in milliseconds as one in µs. */
export function timeUs(now: number): number {
  return Math.floor(now * 1_000)
}

/** What is left until then in milliseconds; -1 where that never comes. */
export function leftMs(endsAt: number, now: number): number {
  return endsAt === Infinity ? -1 : Math.max(0, Math.ceil(endsAt - now))
}

/** How long ago a token was issued, in milliseconds: it is the time in µs. */
export function ageMs(token: number, now: number): number {
  return Math.max(0, Math.floor(now - token / 1_000))
}
