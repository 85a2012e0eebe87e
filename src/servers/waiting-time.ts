import type { Attempt } from './requests.ts'

/** The longest time for which the server keeps a waiter's place after a request, in milliseconds. */
export const WAITING_MS = 3_000

/**
 * How long the server keeps a waiter's place after the wait timeout, in milliseconds. In that time
 * the client removes the place, or another waiter of the client sends a request.
 */
const LEAVING_MS = 300

/** Returns how long the server keeps the waiter's place after this attempt, in milliseconds. */
export function countsForMs({ leftMs = Infinity }: Pick<Attempt, 'leftMs'>): number {
  return Math.min(WAITING_MS, Math.ceil(leftMs) + LEAVING_MS)
}
