import type { Hold } from '../lease/hold.ts'
import type { Waiter } from '../waiting/waiter.ts'

/** What a way of waiting needs of the lock that it is part of. */
export interface Host {
  /** The lock is in this client's hands, or passes between them. */
  isOccupied(): boolean
  /** Somebody else in this client waits for the lock. */
  isWantedByOthers(): boolean
  /** It is known that the waiter has to wait for somebody else. */
  announce(waiter: Waiter): void
  /** The waiter has the lock. */
  begin(waiter: Waiter, hold: Hold): void
  /** The waiter's owner has the lock already. */
  reenter(hold: Hold, waiter: Waiter): Promise<void>
}
