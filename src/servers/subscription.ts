/** A listener, which receives messages until `stop()` is called. */
export interface Subscription {
  /**
   * True while the server has confirmed the subscription. The listener then receives each message.
   */
  readonly confirmed: boolean
  stop(): void
}
