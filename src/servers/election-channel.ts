import type { Subscription } from './subscription.ts'

/** Announces leaders to the clients that do not wait for the lock of the election. */
export interface ElectionChannel {
  /** Tells all listeners that a candidate leads under this token. */
  announce(token: number, callMs: number): Promise<unknown>
  /** Calls `onWake` with each announcement, and without a message after a possible gap. */
  listen(onWake: (message?: string) => void): Subscription
}
