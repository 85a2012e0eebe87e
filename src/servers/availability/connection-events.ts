import type { CallFailure } from '../call-failure.ts'

/** @typeParam D the values that a new connection reads from its server */
export interface ConnectionEvents<D = unknown> {
  up(facts: D): void
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
