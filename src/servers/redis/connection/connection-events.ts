import type { CallFailure } from '../../call-failure.ts'

/** The values that a new connection reads from its server. */
export interface ServerDetails {
  /** The major version; NaN if unknown. */
  readonly major: number
  /** The id of the server's process; '' if the server does not report an id. */
  readonly runId: string
  /**
   * The largest possible value of the server's clock minus `performance.now()`, in milliseconds;
   * NaN if unknown. The smallest possible value is `clockDoubtMs` lower.
   */
  readonly clockOffsetMs: number
  /** How long the server's answer took, in milliseconds. */
  readonly clockDoubtMs: number
}

export interface ConnectionEvents {
  up(facts: ServerDetails): void
  /** Called in a cluster when some keys may be gone or at another server. */
  moved?(): void
  down(): void
  /**
   * Called when an attempt to connect fails, or when the server is silent, not ready, or the wrong
   * server.
   */
  error(failure: CallFailure): void
  /** Called when the server has answered on the same connection after an error. */
  answered?(): void
  /** Called when the connection to one node of a cluster has failed. */
  nodeFailed?(address: string, failure: CallFailure): void
  nodeUp?(address: string): void
  /** Called when a cluster has listed its nodes. */
  nodesListed?(addresses: ReadonlySet<string>): void
}
