import type { Subscription } from './subscription.ts'

/** Where the clients of one place send each other messages: each client has a channel of its own. */
export interface RequestChannel {
  /**
   * Sends a message to one client.
   *
   * @returns how many listen for it; null if the place cannot know that
   */
  send(clientId: string, message: string, callMs: number): Promise<number | null>
  /** Calls `onMessage` with each message to that client, and without one when any may have been missed. */
  listen(clientId: string, onMessage: (message?: string) => void): Subscription
}
