import { FOREVER } from '../record-store.ts'

/** Converts milliseconds to µs. */
export function timeUs(now: number): number {
  return Math.floor(now * 1_000)
}

/**
 * Returns the time until `endsAt`, in milliseconds; 0 if `endsAt` has passed, and
 * Infinity if `endsAt` is `FOREVER`.
 */
export function leftMs(endsAt: number, now: number): number {
  return endsAt === FOREVER ? Infinity : Math.max(0, Math.ceil(endsAt - now))
}

/**
 * Returns the age of a token, in milliseconds. A token is the time of its grant, in µs.
 */
export function ageMs(token: number, now: number): number {
  return Math.max(0, Math.floor(now - token / 1_000))
}

/** Returns the time since `sinceUs`, in whole milliseconds. */
export function sinceMs(sinceUs: number, now: number): number {
  return Math.max(0, Math.round((timeUs(now) - sinceUs) / 1_000))
}
