import type { Subscription } from './subscription.ts'

/** Messages between the clients of one server: each client has a channel of its own. */
export interface RequestChannel {
  /**
   * Sends a message to one client.
   *
   * @returns the number of listeners; null if the server cannot count them
   */
  send(clientId: string, message: string, callMs: number): Promise<number | null>
  /**
   * Calls `onMessage` with each message to that client, and without a message when messages may
   * have been missed.
   */
  listen(clientId: string, onMessage: (message?: string) => void): Subscription
}
