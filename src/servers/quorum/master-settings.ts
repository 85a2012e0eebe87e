export interface MasterSettings {
  /** How long one request to one master may take, in milliseconds. */
  readonly callMs: number
  /**
   * The longest possible lease, in milliseconds: a master that may have lost its data rests for
   * this time.
   */
  readonly restMs: number
  /** The label of the client, for messages on diagnostics channels. */
  readonly label?: string
}
