import type { Subscription } from './subscription.ts'

/**
 * Carries messages between the clients of one server. Each client receives messages on its own
 * channel.
 */
export interface RequestChannel {
  /** The name of a client's channel in errors, with `<id>` for the id of the client. */
  readonly name: string
  /**
   * Sends a message to one client.
   *
   * @returns how many listeners receive the message; null if the server cannot count them
   */
  send(clientId: string, message: string, callMs: number): Promise<number | null>
  /**
   * Calls `onMessage` with each message to one client. Calls `onMessage` without a message when
   * this client may have missed messages.
   */
  listen(clientId: string, onMessage: (message?: string) => void): Subscription
}
