/** Converts milliseconds to µs. */
export function timeUs(now: number): number {
  return Math.floor(now * 1_000)
}

/** The time until `endsAt` in milliseconds; -1 if `endsAt` is Infinity. */
export function leftMs(endsAt: number, now: number): number {
  return endsAt === Infinity ? -1 : Math.max(0, Math.ceil(endsAt - now))
}

/** The age of a token in milliseconds: a token is the time of its issue in µs. */
export function ageMs(token: number, now: number): number {
  return Math.max(0, Math.floor(now - token / 1_000))
}
