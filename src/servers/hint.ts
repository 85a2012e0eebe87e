/**
 * A report of the server to the listeners of one lock. A hint is no proof: a listener that needs the
 * lock sends a request.
 */
export type Hint = MissedHint | ReleaseHint | TurnHint

/** Hints may have been missed. */
interface MissedHint {
  readonly kind: 'missed'
}

/** An owner has released the lock. */
export interface ReleaseHint {
  readonly kind: 'released'
  /** How the owner held a read-write lock; undefined for other locks. */
  readonly by?: 'reader' | 'writer'
  /** True if each waiter must check the lock. False if the next waiters receive another hint. */
  readonly isForAll: boolean
}

/** Some waiters are next: they can acquire the lock now. */
interface TurnHint {
  readonly kind: 'turn'
  /** `readers`, or the `waitId` of a waiter; for permits, the id of a client. */
  readonly of: string
}

export const MISSED: MissedHint = { kind: 'missed' }
export const RELEASED: ReleaseHint = { kind: 'released', isForAll: true }
export const READERS = 'readers'
export const TURN_OF_READERS: TurnHint = { kind: 'turn', of: READERS }

/** Returns the hint of a message that reports a release; without a message, hints were missed. */
export function releaseHint(message?: string): Hint {
  return message === undefined ? MISSED : RELEASED
}
