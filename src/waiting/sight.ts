import type { Moment } from '../kit/clock.ts'
import type { LastHolder } from '../servers/answers.ts'

/** The last known state of a lock that is held. Times are on the monotonic clock. */
export interface Sight {
  /** The holder, as the server stores it: `<clientId>:<owner>`. */
  readonly holder: string
  /** When the client received this state, on both clocks. */
  readonly at: Moment
  /** When the hold began; null if unknown. */
  readonly heldSince: number | null
  /** When the holder's lease ends if it is not renewed; null if it never ends, and if unknown. */
  readonly endsAt: number | null
  /** The number of waiters in the queue of a fair lock; null if unknown, and for other locks. */
  readonly queueLength: number | null
}

/**
 * Returns the state of a held lock after an answer.
 *
 * @param at when the answer arrived
 * @param last the state before this answer
 */
export function sightOf(
  holder: string,
  { ageMs = null, ttlMs = Infinity, length }: LastHolder,
  at: Moment,
  last: Sight | undefined,
): Sight {
  // An answer may lack the age, the expiry or the queue length. Then the earlier value for the same holder stays.
  const before = last?.holder === holder ? last : undefined
  return {
    holder,
    at,
    heldSince: ageMs === null ? (before?.heldSince ?? null) : at.monotonic - ageMs,
    endsAt: ttlMs === Infinity ? (before?.endsAt ?? null) : at.monotonic + ttlMs,
    queueLength: length ?? before?.queueLength ?? null,
  }
}
