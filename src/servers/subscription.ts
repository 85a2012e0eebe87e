/** A listener, which receives messages until `stop()` is called. */
export interface Subscription {
  /**
   * True if the server has confirmed the subscription. From then on the listener misses no message.
   */
  readonly confirmed: boolean
  stop(): void
}
