/** Somebody who listens until `stop()`. */
export interface Subscription {
  /** Whether no message can be missed any longer. */
  readonly confirmed: boolean
  stop(): void
}
