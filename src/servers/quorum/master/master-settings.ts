export interface MasterSettings {
  /** How long one request to one master may take, in milliseconds. */
  readonly callMs: number
  /**
   * For how long a master does not vote after it may have lost its data: the longest possible
   * lease, in milliseconds.
   */
  readonly restMs: number
  /** The label of the client, for messages on diagnostics channels. */
  readonly label?: string
}
