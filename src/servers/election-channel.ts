import type { Subscription } from './subscription.ts'

/** Announces new leaders to clients. Clients that do not wait for the election's lock need it. */
export interface ElectionChannel {
  /** Tells all listeners that a candidate leads under this token. */
  announce(token: number, callMs: number): Promise<unknown>
  /**
   * Calls `onWake` with each announcement, and without a message when announcements may have been
   * missed.
   */
  listen(onWake: (message?: string) => void): Subscription
}
