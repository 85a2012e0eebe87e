export interface MasterSettings {
  /** How long one master may take, in milliseconds. */
  readonly callMs: number
  /** How long the longest lease may be: a master that may have forgotten rests so long. */
  readonly restMs: number
  /** What the facts of the client are told with. */
  readonly label?: string
}
