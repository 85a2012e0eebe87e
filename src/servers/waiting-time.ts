import type { Attempt } from './requests.ts'

/** Who waits counts as waiting for so long after it has asked, in milliseconds. */
export const WAITING_MS = 3_000

/** Who waits for less counts for so much longer than that: it leaves, or another of its client asks. */
const LEAVING_MS = 300

/** For how long an attempt counts as waiting, in milliseconds. */
export function countsForMs({ leftMs = Infinity }: Pick<Attempt, 'leftMs'>): number {
  return Math.min(WAITING_MS, Math.ceil(leftMs) + LEAVING_MS)
}
