import type { Attempt } from './requests.ts'

/** After each request, the server keeps the place of a waiter for this time, in milliseconds. */
export const WAITING_MS = 3_000

/**
 * If the wait timeout comes earlier, the server keeps the place for this long after the timeout, in
 * milliseconds. In that time the waiter leaves, or another waiter of its client asks.
 */
const LEAVING_MS = 300

/** For how long the server keeps the place of an attempt, in milliseconds. */
export function countsForMs({ leftMs = Infinity }: Pick<Attempt, 'leftMs'>): number {
  return Math.min(WAITING_MS, Math.ceil(leftMs) + LEAVING_MS)
}
