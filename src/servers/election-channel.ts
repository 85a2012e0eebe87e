import type { Subscription } from './subscription.ts'

/** Where those hear who leads who do not wait for the lock of the election themselves. */
export interface ElectionChannel {
  /** Tells all who listen that somebody has begun to lead, under that token. */
  announce(token: number, callMs: number): Promise<unknown>
  /** Calls `onWake` with each announcement, and without one when any may have been missed. */
  listen(onWake: (message?: string) => void): Subscription
}
