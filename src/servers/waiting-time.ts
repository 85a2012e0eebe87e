import type { Attempt } from './requests.ts'

/** How long a waiter counts as waiting after each request, in milliseconds. */
export const WAITING_MS = 3_000

/**
 * A waiter with less time left counts for this much longer, in milliseconds. In that time it
 * leaves, or another waiter of its client asks.
 */
const LEAVING_MS = 300

/** How long an attempt counts as waiting, in milliseconds. */
export function countsForMs({ leftMs = Infinity }: Pick<Attempt, 'leftMs'>): number {
  return Math.min(WAITING_MS, Math.ceil(leftMs) + LEAVING_MS)
}
