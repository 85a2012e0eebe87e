/**
 * A sign that one lock may have changed: a message of the server, or the notice that this client may
 * have missed messages. A hint proves nothing, so a listener that needs the lock still sends a request.
 */
export type Hint = MissedHint | ReleaseHint | TurnHint

/** This client may have missed hints. */
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
  /** The next waiters: `readers`, a `waitId`, or for permits the id of a client. */
  readonly of: string
}

export const MISSED: MissedHint = { kind: 'missed' }
export const RELEASED: ReleaseHint = { kind: 'released', isForAll: true }
export const READERS = 'readers'
export const TURN_OF_READERS: TurnHint = { kind: 'turn', of: READERS }

/** Returns the hint for a message about a release. Without a message, returns `MISSED`. */
export function releaseHint(message?: string): Hint {
  return message === undefined ? MISSED : RELEASED
}
