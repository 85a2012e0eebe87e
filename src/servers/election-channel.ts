import type { Subscription } from './subscription.ts'

/**
 * Announces the new leaders of one election. Clients that are not candidates learn from the
 * announcements who leads.
 */
export interface ElectionChannel {
  /** Tells all listeners that a candidate now leads, with this fencing token. */
  announce(token: number, callMs: number): Promise<unknown>
  /**
   * Calls `onChange` at each announcement, and when announcements may have been missed.
   */
  listen(onChange: () => void): Subscription
}
