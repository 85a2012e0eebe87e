/** A listener, until `stop()`. */
export interface Subscription {
  /** True if the server has confirmed the subscription, so that no later message is missed. */
  readonly confirmed: boolean
  stop(): void
}
