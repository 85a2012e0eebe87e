/** A listener, until `stop()`. */
export interface Subscription {
  /** True if no message can be missed any more. */
  readonly confirmed: boolean
  stop(): void
}
